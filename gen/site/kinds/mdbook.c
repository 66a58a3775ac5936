// mdBook: book.toml, and SUMMARY.md as the list and the order of its chapters. Books in folders
// side by side are one site, each below the name of its folder.
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/kinds/kind_lib.h"

static const char config_file[] = "book.toml";

// A book that keeps its languages in folders of their own, [language.fr] and fr/. The folder of the
// source, the first of them; "" where there are none.
static str read_languages(struct tree *t, const struct yaml_node *c, str folder, str prefix)
{
    const struct yaml_node *list = kind_get(c, "language");
    str source = STR_NONE;
    for (size_t i = 0; list && list->kind == YAML_MAP && i < list->count; i++) {
        str tag = list->pairs[i].key->text, own = kind_join(t, folder, tag);
        if (!kind_has_folder(t, own))
            continue;
        kind_root(t, own, tag, prefix, source.len ? tag : STR_NONE);
        source = source.len ? source : own;
    }
    return source;
}

// The folder of a book's chapters, whose root is made; the book is in folder.
static str read_chapters(struct tree *t, const struct yaml_node *c, str folder, str prefix)
{
    str src = kind_text(c, "book.src"), chapters = kind_join(t, folder, src.len ? src : STR("src"));
    str source = kind_has_folder(t, chapters) ? STR_NONE : read_languages(t, c, folder, prefix);
    if (source.len)
        return source;
    if (prefix.len || !kind_siblings(t, chapters))
        kind_root(t, chapters, STR_NONE, prefix, STR_NONE);
    return chapters;
}

// SUMMARY.md lies among the chapters, or beside their folder where a program of the tree's own
// reads it.
static void read_summary(struct tree *t, str folder)
{
    if (!kind_summary(t, folder, STR("SUMMARY.md"), SUMMARY_MDBOOK))
        kind_summary(t, folder, STR("../SUMMARY.md"), SUMMARY_MDBOOK);
}

// The addresses that a book leads on, from the root or from its own folder.
static void read_redirects(struct tree *t, const struct yaml_node *c, str prefix)
{
    const struct yaml_node *map = kind_get(c, "output.html.redirect");
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++) {
        str from = kind_join(t, prefix, map->pairs[i].key->text), to = map->pairs[i].value->text;
        str folder = path_folder(from);
        kind_redirect(t, from, kind_join(t, str_starts(to, STR("/")) ? prefix : folder, to));
    }
}

// The pages of all rules, r[name] on a line of its own, to which words are linked by the name.
static void read_rules(struct tree *t, str folder)
{
    t->rules = true;
    for (size_t i = 0; i < t->nav_count; i++) {
        str text = t->nav[i].file.len ? kind_file(t, t->nav[i].file) : STR_NONE, line;
        str *page = arena_new(t->a, str, 1);
        *page = str_slice(t->nav[i].file, folder.len + 1, t->nav[i].file.len);
        while (str_line(&text, &line))
            if (str_starts(line, STR("r[")) && str_find(line, ']') == line.len - 1)
                *map_put(&t->rule_files, t->a, str_slice(line, 2, line.len - 1), NULL) = page;
    }
}

static void read_one(struct tree *t)
{
    const struct yaml_node *c = t->config.len ? kind_values(t, t->config_name) : NULL;
    t->source_language = kind_text(c, "book.language");
    str chapters = read_chapters(t, c, t->folder, STR_NONE);
    read_summary(t, chapters);
    if (kind_get(c, "preprocessor.spec"))
        read_rules(t, chapters);
    t->title = kind_text(c, "book.title");
    t->description = kind_text(c, "book.description");
    t->repository = kind_text(c, "output.html.git-repository-url");
    t->math = kind_true(c, "output.html.mathjax-support", false);
    kind_site(t, STR_NONE, kind_text(c, "output.html.site-url"));
    read_redirects(t, c, STR_NONE);
    if (kind_has_folder(t, kind_path(t, STR("po"))))
        kind_explain(t, "not read: translations in po/, which a preprocessor puts in");
}

// A book of several: its title, or the name of its folder, is above its chapters.
static void read_book(struct tree *t, str folder)
{
    const struct yaml_node *c = kind_values(t, kind_join(t, folder, str_c(config_file)));
    str title = kind_text(c, "book.title"), language = kind_text(c, "book.language");
    size_t roots = t->root_count, first = t->nav_count + 1;
    title = title.len ? title : folder;
    kind_nav(t, 0, title, STR_NONE, STR_NONE);
    if (!t->source_language.len)
        t->source_language = language;
    read_summary(t, read_chapters(t, c, folder, folder));
    for (size_t i = first; i < t->nav_count; i++) {
        t->nav[i].depth++;
        if (!t->nav[first - 1].file.len)
            t->nav[first - 1].file = t->nav[i].file;
    }
    for (size_t i = roots; i < t->root_count; i++)
        t->roots[i].title = title;
    t->math = t->math || kind_true(c, "output.html.mathjax-support", false);
    read_redirects(t, c, folder);
}

size_t mdbook_books(struct tree *t, str **folders)
{
    size_t count = 0;
    for (size_t i = 0, n = kind_folders(t, STR_NONE, folders); i < n; i++)
        if (kind_has(t, kind_join(t, (*folders)[i], str_c(config_file))))
            (*folders)[count++] = (*folders)[i];
    return count;
}

void mdbook_read(struct tree *t)
{
    str *folders;
    size_t count = t->config_name.len ? 0 : mdbook_books(t, &folders);
    t->includes = INCLUDE_MDBOOK;
    for (size_t i = 0; i < count; i++)
        read_book(t, folders[i]);
    if (!count)
        read_one(t);
    for (size_t i = 0; i < t->root_count; i++)
        kind_ignore(t, kind_join(t, t->roots[i].folder, STR("SUMMARY.md")));
    t->only_nav = t->nav_count > 0;
    for (size_t i = 0; !count && i < t->nav_count && !t->home.len; i++)
        t->home = t->nav[i].file;
}
