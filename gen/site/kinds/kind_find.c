// Recognises a tree by the marks in kinds.def and hands it to the reader of its kind.
#include "gen/site/kinds/kind.h"

#include <fnmatch.h>
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

static const struct tree_kind kinds[] = {
#define X(id, name, marks, read, flags, syntax, slugs, math, admonitions) \
    {name, marks, flags, syntax, slugs, math, admonitions, read},
#include "gen/site/kinds/kinds.def"
#undef X
};
enum {
#define X(id, ...) ROW_##id,
#include "gen/site/kinds/kinds.def"
#undef X
    KIND_COUNT
};

#define PLAIN (&kinds[ROW_PLAIN])

// Where a tree's configuration may stand: in its folder, or in one of these.
static const char *const folders[] = {"",     "docs",  "website", "site", "doc", "documentation",
                                      "book", "guide", "en"};
enum { FOLDER_COUNT = sizeof folders / sizeof *folders };

const struct tree_kind *kind_named(str name)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (str_eq(name, str_c(kinds[i].name)))
            return &kinds[i];
    return NULL;
}

const char *kind_names(void)
{
    return "docusaurus, vitepress, starlight, mdbook, mkdocs, hugo, gitbook, jekyll, obsidian or "
           "plain";
}

void plain_read(struct tree *t)
{
    kind_root(t, STR_NONE, STR_NONE, STR_NONE, STR_NONE);
    t->math = true;
}

// Names that are many a program's: a tree's mark is one beside another of its files.
static const struct {
    const char *mark;  // the name, or what it begins with
    const char *beside[4];
} shared[] = {
    {"config.", {"content", "archetypes", "layouts", "themes"}},
    {"book.json", {"SUMMARY.md", "LANGS.md", "docs/SUMMARY.md"}},
    {"LANGS.md", {"en/README.md", "en/SUMMARY.md", "zh/README.md", "zh/SUMMARY.md"}},
    {"SUMMARY.md", {"README.md", "INTRODUCTION.md", "Introduction.md", "introduction.md"}},
};

static bool has_mark(struct tree *t, str folder, str mark)
{
    if (str_eq(mark, STR(".obsidian")) && folder.len)
        return false;  // a part of a tree may be edited with it
    if (!kind_has(t, kind_join(t, folder, mark)))
        return false;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        if (!str_starts(mark, str_c(shared[i].mark)))
            continue;
        for (size_t k = 0; k < 4 && shared[i].beside[k]; k++)
            if (kind_has(t, kind_join(t, folder, str_c(shared[i].beside[k]))))
                return true;
        return false;
    }
    return true;
}

// The first mark of a kind in folder; "" for none.
static str mark_in(struct tree *t, const struct tree_kind *k, str folder)
{
    str marks = str_c(k->marks), mark;
    while (str_cut(&marks, ' ', &mark))
        if (mark.len && has_mark(t, folder, mark))
            return mark;
    return STR_NONE;
}

static bool found(struct tree *t, const struct tree_kind *k, str folder)
{
    str mark = mark_in(t, k, folder);
    if (!mark.len)
        return false;
    t->kind = k;
    t->folder = folder;
    t->config_name = kind_join(t, folder, mark);
    return true;
}

// Books in folders side by side are several, but for those of one book's languages.
static bool is_of_several(struct tree *t)
{
    str *books;
    bool alone = t->kind != kind_named(STR("mdbook")) || !t->folder.len || kind_is_tag(t->folder);
    return !alone && mdbook_books(t, &books) > 1;
}

// Each language a project of MkDocs in a folder of its own, docs/en/mkdocs.yml, and none above
// them: the source's is the one whose address does not end with its language.
static bool is_of_languages(struct tree *t, const struct tree_kind *forced, str above)
{
    const struct tree_kind *mkdocs = kind_named(STR("mkdocs"));
    str *names, source = STR_NONE, address;
    size_t projects = 0, n = forced && forced != mkdocs ? 0 : kind_folders(t, above, &names);
    for (size_t i = 0; i < n; i++) {
        if (!kind_is_tag(names[i]) || !found(t, mkdocs, kind_join(t, above, names[i])))
            continue;
        const struct yaml_node *c = kind_values(t, t->config_name);
        str tail = arena_join(t->a, STR("/"), names[i], STR_NONE);
        address = kind_trim_slashes(kind_text(c, "site_url"));
        bool own = !str_ends(address, tail) &&
                   !str_ends(kind_trim_slashes(kind_text(c, "site_dir")), tail);
        if (!projects++ || (own && address.len))
            source = names[i];
    }
    if (projects > 1)
        return found(t, mkdocs, kind_join(t, above, source));
    t->folder = t->config_name = STR_NONE;
    return false;
}

static bool found_any(struct tree *t, const struct tree_kind *forced, str folder)
{
    for (size_t k = 0; k < KIND_COUNT; k++)
        if ((!forced || forced == &kinds[k]) && found(t, &kinds[k], folder))
            return true;
    return false;
}

// A tree two folders deep, site/docs, packages/website, where there is no other.
static bool found_deeper(struct tree *t, const struct tree_kind *forced)
{
    static const char *const above[] = {"site", "website",  "web",  "www",     "docs",
                                        "doc",  "packages", "apps", "projects"};
    str only = STR_NONE;
    size_t count = 0;
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        for (size_t k = 1; kind_has_folder(t, str_c(above[i])) && k < FOLDER_COUNT; k++) {
            str folder = kind_join(t, str_c(above[i]), str_c(folders[k]));
            if (!kind_is_tag(str_c(folders[k])) && found_any(t, forced, folder))
                only = folder, count++;
        }
    if (count == 1)
        return found_any(t, forced, only);
    t->folder = t->config_name = STR_NONE;
    return false;
}

static void recognise(struct tree *t, const struct tree_kind *forced)
{
    const struct tree_kind *mdbook = kind_named(STR("mdbook"));
    str *books;
    for (size_t f = 0; f < FOLDER_COUNT; f++)
        if (found_any(t, forced, str_c(folders[f]))) {
            if (is_of_several(t))
                t->folder = t->config_name = STR_NONE;
            return;
        }
    if (is_of_languages(t, forced, STR_NONE) || is_of_languages(t, forced, STR("docs")) ||
        is_of_languages(t, forced, STR("config")))
        return;
    bool several = mdbook_books(t, &books) > 1;
    if (!several && found_deeper(t, forced))
        return;
    t->kind = forced                  ? forced
              : several               ? mdbook
              : obsidian_is_linked(t) ? kind_named(STR("obsidian"))
                                      : PLAIN;
}

static void explain_kind(struct tree *t, const struct tree_kind *forced, bool own)
{
    if (forced)
        kind_explain(t, "kind: %s, as you said", t->kind->name);
    else if (t->config_name.len)
        kind_explain(t, "kind: %s, because of %.*s", t->kind->name, STR_ARG(t->config_name));
    else if (t->kind->flags & KIND_VAULT)
        kind_explain(t, "kind: %s, because of [[links]] in its notes", t->kind->name);
    else if (t->kind != PLAIN)
        kind_explain(t, "kind: %s, because of book.toml in several folders", t->kind->name);
    else
        kind_explain(t, own ? "kind: plain, because it has settings of vramdoc"
                            : "kind: plain, because nothing says another");
    if (forced && !t->config_name.len && *t->kind->marks)
        kind_explain(t, "no configuration of that kind: everything is guessed");
}

static void explain_result(struct tree *t)
{
    for (size_t i = 0; i < t->root_count; i++) {
        const struct tree_root *r = &t->roots[i];
        str folder = r->folder.len ? r->folder : STR(".");
        kind_explain(t, "pages: %.*s%s%.*s%s%.*s", STR_ARG(folder), r->language.len ? ", in " : "",
                     STR_ARG(r->language), r->prefix.len ? ", below " : "", STR_ARG(r->prefix));
    }
    for (size_t i = 0; i < t->static_count; i++)
        kind_explain(t, "files that keep their names: %.*s", STR_ARG(t->statics[i]));
    if (t->base_path.len)
        kind_explain(t, "addresses begin with %.*s", STR_ARG(t->base_path));
    if (t->nav_count)
        kind_explain(t, "order: %zu lines of the tree's own contents", t->nav_count);
}

// What is a warning at most, and where: in trees of other generators, or in each folder without
// settings of vramdoc. Another generator decides what is published: a link to what is not is broken
// as others are. One page that cannot be read, or whose front matter cannot, leaves the others, and
// so does a link that leads back up.
static const struct {
    enum diag_id id;
    bool unset;  // in a folder without settings, too
} lowered[] = {
    {D_LINK_PRIVATE, true},    {D_FILE_PRIVATE, false}, {D_YAML_SYNTAX, true},
    {D_TOML_SYNTAX, true},     {D_UTF8_INVALID, true},  {D_UTF8_NUL, true},
    {D_IO_SYMLINK_LOOP, true},
};

static void lower_levels(struct tree *t, bool own)
{
    bool foreign = t->kind->flags & KIND_FOREIGN;
    for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++)
        if (foreign || (lowered[i].unset && !own))
            diag_set_level(t->diag, lowered[i].id, DIAG_WARNING);
}

// _redirects is published from the folders whose files keep their names, and from the top.
static void read_host(struct tree *t)
{
    if (!(t->kind->flags & KIND_FOREIGN))
        return;
    kind_host_redirects(t, t->folder);
    for (size_t i = 0; i < t->static_count; i++)
        kind_host_redirects(t, t->statics[i]);
    if (t->redirect_count)
        kind_explain(t, "older addresses that lead on: %zu", t->redirect_count);
}

// Whether notes are written with Obsidian, whatever makes a site of them.
static bool is_vault(struct tree *t)
{
    str mark = STR(".obsidian");
    bool found = t->kind->flags & KIND_VAULT || kind_has_folder(t, kind_path(t, mark));
    for (size_t i = 0; i < FOLDER_COUNT && !found; i++)
        found = kind_has_folder(t, kind_join(t, str_c(folders[i]), mark));
    for (size_t i = 0; i < t->root_count && !found; i++)
        found = kind_has_folder(t, kind_join(t, t->roots[i].folder, mark));
    return found;
}

struct tree *tree_read(str content, const struct tree_kind *forced, bool own, arena *a,
                       struct diag *d)
{
    struct tree *t = arena_new(a, struct tree, 1);
    *t = (struct tree){.content = content, .a = a, .diag = d, .kind = PLAIN, .explained = BUF_INIT};
    if (forced || !own)
        recognise(t, forced);
    explain_kind(t, forced, own);
    lower_levels(t, own);
    if (t->config_name.len && !kind_has_folder(t, t->config_name))
        t->config = kind_file(t, t->config_name);
    t->slugs = t->kind->slugs;
    t->kind->read(t);
    read_host(t);
    t->wiki = is_vault(t);
    if (!t->root_count)
        kind_root(t, t->folder, STR_NONE, STR_NONE, STR_NONE);
    explain_result(t);
    t->explanation = arena_str(a, buf_view(&t->explained));
    buf_free(&t->explained);
    return t;
}

static bool is_below(str path, str folder)
{
    if (!folder.len)
        return true;
    return str_starts(path, folder) && (path.len == folder.len || path.ptr[folder.len] == '/');
}

str tree_below(const struct tree_root *r, str path)
{
    if (!r || !r->folder.len)
        return path;
    return str_slice(path, r->folder.len + 1, path.len);
}

const struct tree_root *tree_root_of(const struct tree *t, str path)
{
    const struct tree_root *best = NULL;
    for (size_t i = 0; i < t->root_count; i++)
        if (is_below(path, t->roots[i].folder) &&
            (!best || t->roots[i].folder.len > best->folder.len))
            best = &t->roots[i];
    for (size_t i = 0; best && i < t->ignored_count; i++)
        if (fnmatch(t->ignored[i].ptr, path.ptr, FNM_LEADING_DIR) == 0)
            return NULL;
    return best;
}

static bool is_listed(const struct tree *t, str path)
{
    for (size_t i = 0; i < t->nav_count; i++)
        if (str_eq(t->nav[i].file, path))
            return true;
    return false;
}

bool tree_is_page(const struct tree *t, str path)
{
    bool by_name = str_ends(path, STR(".md")) || str_ends(path, STR(".markdown")) ||
                   (t->kind->flags & KIND_MDX && str_ends(path, STR(".mdx")));
    const struct tree_root *r = by_name ? tree_root_of(t, path) : NULL;
    if (r && r->listed)
        return map_has(&t->listed, path);
    return r && (!t->only_nav || r->address.len || str_eq(path, t->home) ||
                 is_listed(t, path));  // translations follow the list of the source
}
