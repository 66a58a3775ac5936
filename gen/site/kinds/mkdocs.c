// MkDocs and Zensical, which reads its configuration: mkdocs.yml with its nav, and the layouts of
// the i18n plugin.
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/kinds/kind_lib.h"

enum { MAX_NAV_DEPTH = 8 };

static bool is_markdown(str path)
{
    return str_ends(path, STR(".md")) || str_ends(path, STR(".markdown"));
}

struct nav {
    struct tree *t;
    str docs;
    str list;  // the file of literate-nav that a folder's contents are in; ""
};

// "Title: folder/": its own list, or all that is in it.
static void read_folder(const struct nav *nav, str title, str path, uint32_t depth)
{
    struct tree *t = nav->t;
    str folder = kind_join(t, nav->docs, path);
    size_t before = t->nav_count;
    str index = str_eq(nav->list, STR("README.md")) ? kind_join(t, folder, nav->list) : STR_NONE;
    if (title.len)
        kind_nav(t, depth, title, index, STR_NONE);
    size_t first = t->nav_count;
    if (nav->list.len && kind_summary(t, folder, nav->list, SUMMARY_LITERATE)) {
        for (size_t i = first; i < t->nav_count; i++)
            t->nav[i].depth += depth + (title.len > 0);
        return;
    }
    t->nav_count = before;
    kind_nav(t, depth, title, arena_join(t->a, folder, STR("/"), STR_NONE), STR_NONE);
}

// An item of nav: a file, "Title: file", or "Title: [items]".
static void read_nav(const struct nav *nav, const struct yaml_node *n, str title, uint32_t depth)
{
    struct tree *t = nav->t;
    if (depth > MAX_NAV_DEPTH)
        return;
    if (n->kind == YAML_LIST) {
        for (size_t i = 0; i < n->count; i++)
            read_nav(nav, n->items[i], STR_NONE, depth);
    } else if (n->kind == YAML_MAP) {
        for (size_t i = 0; i < n->count; i++) {
            const struct yaml_node *value = n->pairs[i].value;
            str name = n->pairs[i].key->text;
            if (value->kind == YAML_LIST)
                kind_nav(t, depth, name, STR_NONE, STR_NONE);
            read_nav(nav, value, name, depth + (value->kind == YAML_LIST));
        }
    } else if (is_markdown(n->text)) {
        kind_nav(t, depth, title, kind_join(t, nav->docs, n->text), STR_NONE);
    } else if (str_ends(n->text, STR("/")) &&
               kind_has_folder(t, kind_join(t, nav->docs, n->text))) {
        read_folder(nav, title, n->text, depth);
    } else if (str_has(n->text, STR("://"))) {
        kind_nav(t, depth, title.len ? title : n->text, STR_NONE, n->text);
    }
}

// The settings of a plugin or an extension, which is in a list by its name or as "name: settings".
// NULL without it; an empty scalar without settings.
static const struct yaml_node *entry_of(const struct yaml_node *list, str name)
{
    if (list && list->kind == YAML_MAP) {  // of TOML, a name with a dot is a table in another
        const struct yaml_node *value = kind_value(list, name);
        return value ? value : kind_get(list, name.ptr);
    }
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *x = list->items[i];
        if (x->kind == YAML_SCALAR && str_eq(x->text, name))
            return x;
        if (x->kind == YAML_MAP && x->count && str_eq(x->pairs[0].key->text, name))
            return x->pairs[0].value;
    }
    return NULL;
}

// nav, or the list in the file of the plugin literate-nav, which goes before it.
static void read_contents(struct tree *t, str docs, const struct yaml_node *nav,
                          const struct yaml_node *literate)
{
    str file = kind_text(literate, "nav_file");
    struct nav all = {t, docs, !literate ? STR_NONE : file.len ? file : STR("SUMMARY.md")};
    if (!literate || !kind_summary(t, docs, all.list, SUMMARY_LITERATE))
        if (nav)
            read_nav(&all, nav, STR_NONE, 0);
}

// A language of the plugin. The standard one has the rest of the folder where it has none of its
// own.
static void read_language(struct tree *t, str docs, str tag, bool by_folder, bool standard)
{
    if (standard)
        t->source_language = tag;
    if (!by_folder)
        kind_language(t, tag);
    str folder = kind_join(t, docs, tag);
    if (by_folder && (standard || kind_has_folder(t, folder)))
        kind_root(t, kind_has_folder(t, folder) ? folder : docs, tag, STR_NONE,
                  standard ? STR_NONE : tag);
}

// What the contents call their parts in another language, whose list goes side by side with that of
// the standard one.
static void read_words(struct tree *t, str tag, const struct yaml_node *standard,
                       const struct yaml_node *own, uint32_t depth)
{
    if (!standard || !own || standard->kind != own->kind || standard->count != own->count ||
        depth > MAX_NAV_DEPTH)
        return;
    for (size_t i = 0; standard->kind == YAML_LIST && i < standard->count; i++)
        read_words(t, tag, standard->items[i], own->items[i], depth + 1);
    for (size_t i = 0; standard->kind == YAML_MAP && i < standard->count; i++) {
        kind_word(t, tag, standard->pairs[i].key->text, own->pairs[i].key->text);
        read_words(t, tag, standard->pairs[i].value, own->pairs[i].value, depth + 1);
    }
}

// The languages of the plugin: a list of maps, or a map from language to name.
// *contents: nav, which that of the standard language stands in for.
static void read_i18n(struct tree *t, str docs, const struct yaml_node *plugin,
                      const struct yaml_node **contents)
{
    const struct yaml_node *list = kind_get(plugin, "languages");
    bool by_folder = str_eq(kind_text(plugin, "docs_structure"), STR("folder"));
    str standard = kind_text(plugin, "default_language");
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *l = list->items[i];
        str tag = kind_text(l, "locale");
        const struct yaml_node *nav = kind_get(l, "nav_translations");
        for (size_t k = 0; nav && nav->kind == YAML_MAP && k < nav->count; k++)
            kind_word(t, tag, nav->pairs[k].key->text, nav->pairs[k].value->text);
        bool is_standard = kind_true(l, "default", false);
        if (is_standard && !*contents)
            *contents = kind_get(l, "nav");
        if (tag.len && kind_true(l, "build", true))
            read_language(t, docs, tag, by_folder, is_standard);
        if (!is_standard)
            read_words(t, tag, *contents, kind_get(l, "nav"), 0);
    }
    for (size_t i = 0; list && list->kind == YAML_MAP && i < list->count; i++) {
        str tag = list->pairs[i].key->text;
        if (!str_eq(tag, STR("default")))
            read_language(t, docs, tag, by_folder, str_eq(tag, standard));
    }
    t->fallback = kind_true(plugin, "fallback_to_default", true);
}

// Patterns as in .gitignore, a line each.
static void read_excluded(struct tree *t, str docs, str lines)
{
    str line;
    while (str_line(&lines, &line)) {
        line = str_trim(line);
        if (!line.len || str_eq(line, STR("/")) || line.ptr[0] == '#' || line.ptr[0] == '!')
            continue;
        bool rooted = line.ptr[0] == '/';
        if (rooted)
            line = str_slice(line, 1, line.len);
        kind_ignore_below(t, docs, line);
        if (!rooted)
            kind_ignore(t, arena_printf(t->a, "%.*s/*/%.*s", STR_ARG(docs), STR_ARG(line)));
    }
}

// A folder of base_path, which may begin with a word for the configuration's or the pages' folder.
// A hidden one in the folder of the pages is meant.
static void read_include_folder(struct tree *t, str docs, str path)
{
    static const str config = STR("$config_dir"), pages = STR("$docs_dir");
    if (str_starts(path, pages))
        path = kind_join(t, docs, str_slice(path, pages.len, path.len));
    else if (str_starts(path, config))
        path = kind_path(t, str_slice(path, config.len, path.len));
    else
        path = kind_path(t, path);
    if (docs.len && str_starts(path, arena_join(t->a, docs, STR("/."), STR_NONE)) &&
        !str_has(path, STR("/.git")))
        t->open_folder = path;
    kind_include(t, path);
}

static void read_snippets(struct tree *t, str docs, const struct yaml_node *snippets)
{
    const struct yaml_node *base = kind_get(snippets, "base_path");
    if (!snippets)
        return;
    t->includes = INCLUDE_SNIPPETS;
    for (size_t i = 0; base && base->kind == YAML_LIST && i < base->count; i++)
        read_include_folder(t, docs, base->items[i]->text);
    if (!t->include_count)
        read_include_folder(t, docs, base ? base->text : STR("."));
    const struct yaml_node *append = kind_get(snippets, "auto_append");
    for (size_t i = 0; append && append->kind == YAML_LIST && i < append->count; i++)
        kind_append(t, append->items[i]->text);
}

// Whether an extension is on, by its name or with all that are "extra".
static bool has_extra(const struct yaml_node *extensions, str name, arena *a)
{
    str names[] = {name, STR("extra")};
    bool on = false;
    for (size_t i = 0; i < 2 && !on; i++)
        on = entry_of(extensions, names[i]) ||
             entry_of(extensions, arena_join(a, STR("markdown.extensions."), names[i], STR_NONE));
    return on;
}

// toc's slugify: a function by its name, or one with the case that it gets. Sources:
// python-markdown.github.io/extensions/toc, facelessuser.github.io/pymdown-extensions/extras/slugs.
static enum md_slug slugs_of(const struct yaml_node *toc)
{
    static const struct {
        str function, letters;  // "" for any
        enum md_slug slugs;
    } rows[] = {
        {STR("toc.slugify_unicode"), STR(""), MD_SLUG_UNICODE},
        {STR("slugs.uslugify"), STR(""), MD_SLUG_PYMDOWN},
        {STR("slugs.uslugify_encoded"), STR(""), MD_SLUG_PYMDOWN},
        {STR("slugs.uslugify_cased"), STR(""), MD_SLUG_PYMDOWN_CASED},
        {STR("slugs.uslugify_cased_encoded"), STR(""), MD_SLUG_PYMDOWN_CASED},
        {STR("slugs.gfm"), STR(""), MD_SLUG_PYMDOWN_ASCII},
        {STR("slugs.gfm_encoded"), STR(""), MD_SLUG_PYMDOWN_ASCII},
        {STR("slugs.slugify"), STR("lower"), MD_SLUG_PYMDOWN},
        {STR("slugs.slugify"), STR("fold"), MD_SLUG_PYMDOWN},
        {STR("slugs.slugify"), STR("lower-ascii"), MD_SLUG_PYMDOWN_ASCII},
        {STR("slugs.slugify"), STR(""), MD_SLUG_PYMDOWN_CASED},
    };
    const struct yaml_node *n = kind_get(toc, "slugify");
    str name = n ? n->tag : STR_NONE, letters = kind_text(n, "kwds.case");
    if (!name.len)
        name = kind_text(n, "object");  // of zensical.toml
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_ends(name, rows[i].function) &&
            (!rows[i].letters.len || str_eq(letters, rows[i].letters)))
            return rows[i].slugs;
    return MD_SLUG_PYTHON;
}

// The folder of the pages: docs where the named one is not there, since a program of the tree's own
// makes it out of that.
static str pages_folder(struct tree *t, str project, str named)
{
    str standard = kind_join(t, project, STR("docs")),
        folder = named.len ? kind_join(t, project, named) : standard;
    if (kind_has_folder(t, folder) || !kind_has_folder(t, standard))
        return folder;
    kind_explain(t, "docs_dir %.*s is not in the tree: %.*s is read instead", STR_ARG(named),
                 STR_ARG(standard));
    return standard;
}

// Languages that are projects of their own in folders of above: beside the pages, ja/mkdocs.yml and
// ja/docs, or apart from them, config/ja/mkdocs.yml with ../../docs/ja.
static void read_projects(struct tree *t, str docs, str above, str source)
{
    str *names, config = path_name(t->config_name);
    size_t n = kind_folders(t, above, &names);
    for (size_t i = 0; config.len && i < n; i++) {
        str project = kind_join(t, above, names[i]), file = kind_join(t, project, config);
        if (!kind_is_tag(names[i]) || str_eq(project, docs) || !kind_has(t, file))
            continue;
        str folder = pages_folder(t, project, kind_text(kind_values(t, file), "docs_dir"));
        if (kind_has_folder(t, folder) && !str_eq(folder, docs))
            kind_root(t, folder, names[i], STR_NONE, names[i]);
    }
    if (!t->root_count)
        return;
    kind_root(t, docs, source, STR_NONE, STR_NONE);
    t->source_language = source;
}

// The plugin of macros names what "extra" says as it is, and files of include_yaml by their keys.
// Source: mkdocs-macros-plugin.readthedocs.io/en/latest/pages, "Manipulating variables".
static void read_macros(struct tree *t, const struct yaml_node *config,
                        const struct yaml_node *macros)
{
    const struct yaml_node *files = kind_get(macros, "include_yaml");
    if (!macros || kind_get(macros, "j2_variable_start_string"))
        return;
    t->values_are = VALUES_MACROS;
    kind_put_values(t, &t->values, STR("config."), config);
    kind_put_values(t, &t->values, STR_NONE, kind_get(config, "extra"));
    for (size_t i = 0; files && i < files->count; i++) {
        bool list = files->kind == YAML_LIST;
        const struct yaml_node *file = list ? files->items[i] : files->pairs[i].value;
        str name = STR_NONE;
        if (!list)
            name = files->pairs[i].key->text;
        else if (file->kind == YAML_MAP && file->count)
            name = file->pairs[0].key->text, file = file->pairs[0].value;
        if (name.len)
            name = arena_join(t->a, name, STR("."), STR_NONE);
        if (file->kind == YAML_SCALAR)
            kind_put_values(t, &t->values, name, kind_values(t, kind_path(t, file->text)));
    }
}

void mkdocs_read(struct tree *t)
{
    const struct yaml_node *c = t->config.len ? kind_values(t, t->config_name) : NULL, *base = NULL;
    if (kind_get(c, "project"))
        c = kind_get(c, "project");  // of zensical.toml
    str inherit = kind_text(c, "INHERIT"), dir = kind_text(c, "docs_dir");
    if (inherit.len)
        base = kind_values(t, kind_path(t, inherit));
    if (!dir.len)
        dir = kind_text(base, "docs_dir");
    str docs = pages_folder(t, t->folder, dir);
    const struct yaml_node *i18n = entry_of(kind_get(c, "plugins"), STR("i18n")),
                           *nav = kind_get(c, "nav");
    const struct yaml_node *extensions = kind_get(c, "markdown_extensions");
    t->source_language = kind_text(c, "theme.language");
    if (i18n)
        read_i18n(t, docs, i18n, &nav);
    bool siblings = !t->root_count && kind_siblings(t, docs);
    str above = path_folder(t->folder), own = path_name(t->folder);
    bool apart = kind_is_tag(own) && !str_starts(docs, t->folder);
    if (!t->root_count)
        read_projects(t, docs, apart ? above : t->folder, apart ? own : t->source_language);
    if (!t->root_count)
        kind_root(t, docs, STR_NONE, STR_NONE, STR_NONE);
    str of_nav = siblings || !t->root_count ? docs : t->roots[0].folder;
    for (size_t i = 0; i < t->root_count; i++)
        if (str_eq(t->roots[i].language, t->source_language))
            of_nav = t->roots[i].folder;
    read_contents(t, of_nav, nav, entry_of(kind_get(c, "plugins"), STR("literate-nav")));
    read_excluded(t, docs, kind_text(c, "exclude_docs"));
    t->title = kind_text(c, "site_name");
    t->description = kind_text(c, "site_description");
    t->repository = kind_text(c, "repo_url");
    t->math = entry_of(extensions, STR("pymdownx.arithmatex")) != NULL;
    const struct yaml_node *toc = entry_of(extensions, STR("toc"));
    t->slugs = slugs_of(toc ? toc : entry_of(extensions, STR("markdown.extensions.toc")));
    const struct yaml_node *tabs = entry_of(extensions, STR("pymdownx.tabbed"));
    if (kind_get(tabs, "slugify")) {
        t->tab_slugs = slugs_of(tabs);
        t->tabs = kind_true(tabs, "combine_header_slug", false) ? MD_TABS_BELOW : MD_TABS_TITLED;
    }
    t->definitions = has_extra(extensions, STR("def_list"), t->a);
    t->abbreviations = has_extra(extensions, STR("abbr"), t->a);
    t->emoji = entry_of(extensions, STR("pymdownx.emoji")) != NULL;
    read_snippets(t, docs, entry_of(extensions, STR("pymdownx.snippets")));
    kind_redirects(t,
                   kind_get(entry_of(kind_get(c, "plugins"), STR("redirects")), "redirect_maps"));
    t->hooks = kind_get(c, "hooks") != NULL;
    read_macros(t, c, entry_of(kind_get(c, "plugins"), STR("macros")));
    str theme = kind_text(c, "theme.custom_dir");
    if (theme.len)
        t->overlay = kind_path(t, theme);
    kind_site(t, kind_text(c, "site_url"), STR_NONE);
}
