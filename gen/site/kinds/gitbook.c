// GitBook: SUMMARY.md as the list and the order of the pages, .gitbook.yaml or book.json where it
// says otherwise, LANGS.md with a book for each language. Sources: gitbook.com/docs, "Content
// configuration"; of the older program docs/structure.md, docs/languages.md.
#include "gen/base/path.h"
#include "gen/site/kinds/kind_lib.h"

// What either of the two configurations says.
struct book {
    str root;             // where the pages are, below the content folder
    str readme, summary;  // below root
    const struct yaml_node *redirects;
};

static str or_else(str s, const char *otherwise)
{
    return s.len ? s : str_c(otherwise);
}

// Of two configurations the newer one has the last word.
static struct book read_config(struct tree *t)
{
    const struct yaml_node *old = kind_values(t, kind_path(t, STR("book.json"))),
                           *new = kind_values(t, kind_path(t, STR(".gitbook.yaml")));
    const char *const keys[] = {"root", "structure.readme", "structure.summary"};
    str values[3];
    for (size_t i = 0; i < 3; i++) {
        values[i] = kind_text(new, keys[i]);
        values[i] = values[i].len ? values[i] : kind_text(old, keys[i]);
    }
    t->title = kind_text(old, "title");
    t->description = kind_text(old, "description");
    t->source_language = kind_text(old, "language");
    kind_put_values(t, &t->values, STR("book."), kind_get(old, "variables"));
    t->values_are = t->values.count ? VALUES_BOOK : VALUES_NOTHING;
    return (struct book){.root = kind_path(t, or_else(values[0], ".")),
                         .readme = or_else(values[1], "README.md"),
                         .summary = or_else(values[2], "SUMMARY.md"),
                         .redirects = kind_get(new, "redirects")};
}

// Whether LANGS.md has a line "* [English](en/)", or the folder a book's contents and the name of a
// language.
static bool is_language(struct tree *t, str root, str langs, str name)
{
    static const char *const tails[] = {")", "/)", "/README.md)"};
    bool listed =
        kind_is_tag(name) && kind_has(t, kind_join(t, kind_join(t, root, name), STR("SUMMARY.md")));
    for (size_t i = 0; i < sizeof tails / sizeof *tails && !listed; i++)
        listed = str_has(langs, arena_join(t->a, STR("]("), name, str_c(tails[i])));
    return listed;
}

// The books of LANGS.md. The source is the English one, which most are made from, or the first.
static str read_languages(struct tree *t, str root)
{
    str path = kind_join(t, root, STR("LANGS.md")), source = STR_NONE, *names;
    str langs = kind_has(t, path) ? kind_file(t, path) : STR_NONE;
    size_t n = langs.len ? kind_folders(t, root, &names) : 0;
    for (size_t i = 0; i < n; i++)
        if (is_language(t, root, langs, names[i]) && (!source.len || str_eq(names[i], STR("en"))))
            source = names[i];
    for (size_t i = 0; i < n; i++)
        if (is_language(t, root, langs, names[i]))
            kind_root(t, kind_join(t, root, names[i]), names[i], STR_NONE,
                      str_eq(names[i], source) ? STR_NONE : names[i]);
    if (source.len)
        t->source_language = source;
    return source;
}

// The books of folders side by side that are called after languages and have contents of their own.
static bool read_books(struct tree *t)
{
    str *names, own = t->folder;
    size_t n = kind_is_tag(own) ? kind_folders(t, STR_NONE, &names) : 0, before = t->root_count;
    for (size_t i = 0; i < n; i++) {
        bool book = kind_is_tag(names[i]) && kind_has(t, kind_join(t, names[i], STR("SUMMARY.md")));
        if (book)
            kind_root(t, names[i], names[i], STR_NONE, str_eq(names[i], own) ? STR_NONE : names[i]);
    }
    if (t->root_count - before < 2) {
        t->root_count = before;
        return false;
    }
    t->source_language = own;
    return true;
}

// Of a translation is a page what its own contents list, and its start page: the rest are parts.
static void read_listed(struct tree *t, struct tree_root *root, const struct book *b)
{
    size_t before = t->nav_count;
    if (kind_summary(t, root->folder, b->summary, SUMMARY_GITBOOK))
        map_put(&t->listed, t->a, kind_join(t, root->folder, b->readme), NULL);
    for (size_t i = before; i < t->nav_count; i++)
        if (t->nav[i].file.len) {
            map_put(&t->listed, t->a, t->nav[i].file, NULL);
            root->listed = true;
        }
    t->nav_count = before;
}

// "help/old: new/page.md" leads from an address to a page. Source: "Content configuration".
static void read_redirects(struct tree *t, const struct yaml_node *map)
{
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++)
        if (map->pairs[i].value->kind == YAML_SCALAR)
            kind_redirect(t, arena_join(t->a, STR("/"), map->pairs[i].key->text, STR_NONE),
                          arena_join(t->a, STR("/"), map->pairs[i].value->text, STR_NONE));
}

void gitbook_read(struct tree *t)
{
    struct book b = read_config(t);
    str source = read_languages(t, b.root),
        pages = source.len ? kind_join(t, b.root, source) : b.root;
    if (!source.len && !read_books(t))
        kind_root(t, b.root, STR_NONE, STR_NONE, STR_NONE);
    kind_summary(t, pages, b.summary, SUMMARY_GITBOOK);
    t->home = kind_join(t, pages, b.readme);
    if (!kind_has(t, t->home))
        t->home = t->nav_count ? t->nav[0].file : STR_NONE;
    t->only_nav = t->nav_count > 0;
    for (size_t i = 0; i < t->root_count; i++)
        if (t->roots[i].address.len)
            read_listed(t, &t->roots[i], &b);
    for (size_t i = 0; i < t->root_count; i++)
        kind_ignore(t, kind_join(t, t->roots[i].folder, b.summary));
    t->math = t->emoji = true;
    t->includes = INCLUDE_GITBOOK;
    t->open_folder = kind_path(t, STR(".gitbook"));
    t->open_assets = true;
    kind_ignore(t, t->open_folder);
    read_redirects(t, b.redirects);
}
