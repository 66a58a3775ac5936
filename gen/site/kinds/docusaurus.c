// Docusaurus: docs/, blog/ and their translations in i18n/. Its configuration is a program:
// literals of named keys are read.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

enum { MAX_LOCALES = 64 };

struct locales {
    str standard, items[MAX_LOCALES];
    size_t count;
};

// What its own folders call the version that is read: "current", or "version-1.x".
static str version_of(struct tree *t, const struct locales *l, const struct yaml_node *settings,
                      str id)
{
    str file =
            id.len ? arena_join(t->a, id, STR("_versions.json"), STR_NONE) : STR("versions.json"),
        last = kind_text(settings, "lastVersion"), current = STR("current");
    const struct yaml_node *list =
        kind_has(t, kind_path(t, file)) ? kind_values(t, kind_path(t, file)) : NULL;
    if (last.len)
        return str_eq(last, current) ? last : arena_join(t->a, STR("version-"), last, STR_NONE);
    if (!list || list->kind != YAML_LIST || !list->count)
        return current;
    // The newest version is what such a site shows first. Here it is the one to come, which people
    // edit, unless only the newest has been translated.
    str newest = arena_join(t->a, STR("version-"), list->items[0]->text, STR_NONE);
    bool translated = false;
    for (size_t i = 0; i < l->count; i++) {
        str folder = arena_printf(t->a, "i18n/%.*s/docusaurus-plugin-content-docs%s%.*s/",
                                  STR_ARG(l->items[i]), id.len ? "-" : "", STR_ARG(id));
        if (str_eq(l->items[i], l->standard))
            continue;
        if (kind_has_folder(t, kind_path(t, arena_join(t->a, folder, current, STR_NONE))))
            return current;
        translated = translated ||
                     kind_has_folder(t, kind_path(t, arena_join(t->a, folder, newest, STR_NONE)));
    }
    return translated ? newest : current;
}

// The folder of a version's documents: versioned_docs/version-1.x.
static str version_folder(struct tree *t, str version, str id, str of_current)
{
    str folder = kind_path(t, arena_printf(t->a, "%.*s%sversioned_docs/%.*s", STR_ARG(id),
                                           id.len ? "_" : "", STR_ARG(version)));
    return str_eq(version, STR("current")) || !kind_has_folder(t, folder) ? of_current : folder;
}

static void read_locales(struct locales *l, const struct yaml_node *i18n)
{
    const struct yaml_node *list = kind_get(i18n, "locales");
    l->standard = kind_text(i18n, "defaultLocale");
    if (!l->standard.len)
        l->standard = STR("en");
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count && l->count < MAX_LOCALES;
         i++)
        if (list->items[i]->kind == YAML_SCALAR && list->items[i]->text.len)
            l->items[l->count++] = list->items[i]->text;
}

// Where a program says which they are: those that have a folder of translated documents.
static void guess_locales(struct tree *t, struct locales *l)
{
    str *names;
    size_t n = kind_folders(t, kind_path(t, STR("i18n")), &names);
    l->items[l->count++] = l->standard;
    for (size_t i = 0; i < n && l->count < MAX_LOCALES; i++) {
        str docs = arena_printf(t->a, "i18n/%.*s/docusaurus-plugin-content-docs/current",
                                STR_ARG(names[i]));
        if (!str_eq(names[i], l->standard) && kind_has_folder(t, kind_path(t, docs)))
            l->items[l->count++] = names[i];
    }
    if (l->count > 1)
        kind_explain(t, "which languages there are is a program's result: those in i18n are read");
}

// A plugin's instance: its folder and those of its translations. plugin: "content-docs".
static void add_instance(struct tree *t, const struct locales *l, const char *plugin,
                         const struct yaml_node *settings, str folder, str route)
{
    str id = kind_text(settings, "id"), own = kind_text(settings, "path"),
        base = kind_text(settings, "routeBasePath");
    bool docs = !strcmp(plugin, "content-docs"), blog = !strcmp(plugin, "content-blog");
    if (str_eq(id, STR("default")))
        id = STR_NONE;
    str version = docs ? version_of(t, l, settings, id) : STR_NONE;
    str from = kind_path(t, own.len ? own : folder),
        prefix = kind_trim_slashes(base.len ? base : route);
    if (kind_get(settings, "routeBasePath") && str_eq(base, STR("/")))
        prefix = STR_NONE;
    if (docs)
        from = version_folder(t, version, id, from);
    if (!kind_has_folder(t, from))
        return;
    size_t first = t->root_count;
    kind_root(t, from, l->count > 1 ? l->standard : STR_NONE, prefix, STR_NONE);
    for (size_t i = 0; i < l->count; i++) {
        if (str_eq(l->items[i], l->standard))
            continue;
        str path =
            arena_printf(t->a, "i18n/%.*s/docusaurus-plugin-%s%s%.*s/%.*s", STR_ARG(l->items[i]),
                         plugin, id.len ? "-" : "", STR_ARG(id), STR_ARG(version));
        if (kind_has_folder(t, kind_path(t, path)))
            kind_root(t, kind_path(t, path), l->items[i], prefix, l->items[i]);
    }
    for (size_t i = first; i < t->root_count; i++) {
        t->roots[i].numbers = docs, t->roots[i].blog = blog;
        if (blog)
            t->roots[i].permalink =
                arena_printf(t->a, "/%.*s/:year/:month/:day/:title", STR_ARG(prefix));
    }
    const struct yaml_node *exclude = kind_get(settings, "exclude");
    for (size_t i = 0; exclude && exclude->kind == YAML_LIST && i < exclude->count; i++)
        kind_ignore_below(t, from, exclude->items[i]->text);
}

static bool is_off(const struct yaml_node *n)
{
    bool b;
    return n && yaml_bool(n, &b) && !b;
}

// [{from: "/old", to: "/new"}], where from may be a list.
static void read_redirects(struct tree *t, const struct yaml_node *list)
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *from = kind_get(list->items[i], "from");
        str to = kind_text(list->items[i], "to");
        for (size_t k = 0; from && from->kind == YAML_LIST && k < from->count; k++)
            kind_redirect(t, from->items[k]->text, to);
        kind_redirect(t, kind_text(list->items[i], "from"), to);
    }
}

// ["@docusaurus/plugin-content-docs", {id: ..., path: ...}]
static void read_plugins(struct tree *t, const struct locales *l, const struct yaml_node *list)
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *p = list->items[i];
        if (p->kind != YAML_LIST || p->count < 2 || p->items[0]->kind != YAML_SCALAR)
            continue;
        str name = p->items[0]->text;
        if (str_ends(name, STR("content-docs")))
            add_instance(t, l, "content-docs", p->items[1], STR("docs"), STR("docs"));
        if (str_ends(name, STR("content-blog")))
            add_instance(t, l, "content-blog", p->items[1], STR("blog"), STR("blog"));
        if (str_ends(name, STR("client-redirects")))
            read_redirects(t, kind_get(p->items[1], "redirects"));
    }
}

// The options of the preset that most sites have.
static const struct yaml_node *preset_options(const struct yaml_node *presets)
{
    for (size_t i = 0; presets && presets->kind == YAML_LIST && i < presets->count; i++) {
        const struct yaml_node *p = presets->items[i];
        if (p->kind == YAML_LIST && p->count > 1 && p->items[1]->kind == YAML_MAP)
            return p->items[1];
    }
    return NULL;
}

// A document's file by its id, with or without the numbers that order it.
static str file_of(struct tree *t, str folder, str id)
{
    static const char *const tails[] = {".md", ".mdx", "/index.md", "/index.mdx", "/README.md"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        str path = kind_join(t, folder, arena_printf(t->a, "%.*s%s", STR_ARG(id), tails[i]));
        if (kind_has(t, path))
            return path;
    }
    return STR_NONE;
}

static void read_item(struct tree *t, str folder, const struct yaml_node *n, uint32_t depth);

static void read_items(struct tree *t, str folder, const struct yaml_node *n, uint32_t depth)
{
    if (depth > 8)
        return;
    for (size_t i = 0; n->kind == YAML_LIST && i < n->count; i++)
        read_item(t, folder, n->items[i], depth);
    for (size_t i = 0; n->kind == YAML_MAP && i < n->count; i++) {  // "Title": [items]
        kind_nav(t, depth, n->pairs[i].key->text, STR_NONE, STR_NONE);
        read_items(t, folder, n->pairs[i].value, depth + 1);
    }
}

static void read_item(struct tree *t, str folder, const struct yaml_node *n, uint32_t depth)
{
    str type = kind_text(n, "type"), label = kind_text(n, "label"),
        id = n->kind == YAML_SCALAR ? n->text : kind_text(n, "id");
    const struct yaml_node *items = kind_get(n, "items");
    str file = id.len ? file_of(t, folder, id) : STR_NONE, href = kind_text(n, "href");
    if (items) {
        str link = kind_text(n, "link.id");
        kind_nav(t, depth, label, link.len ? file_of(t, folder, link) : STR_NONE, STR_NONE);
        read_items(t, folder, items, depth + 1);
    } else if (file.len) {
        kind_nav(t, depth, label, file, STR_NONE);
    } else if (id.len && t->root_count) {
        kind_nav_address(t, depth, label,
                         kind_join(t, t->roots[0].prefix, id));  // "id:" of the front matter
    } else if (href.len && str_has(href, STR("://"))) {
        kind_nav(t, depth, label, STR_NONE, href);
    } else if (n->kind == YAML_MAP && !type.len && !id.len) {
        read_items(t, folder, n, depth);
    }
}

static void read_sidebars(struct tree *t, str folder, str name)
{
    static const char *const names[] = {"sidebars.js", "sidebars.ts", "sidebars.cjs",
                                        "sidebars.mjs", "sidebars.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !name.len; i++)
        if (kind_has(t, kind_path(t, str_c(names[i]))))
            name = str_c(names[i]);
    bool json = str_ends(name, STR(".json"));
    str text = name.len && !json ? kind_file(t, kind_path(t, name)) : STR_NONE;
    struct js_text js = kind_program(t, text);
    struct yaml_node *all = json ? kind_values(t, kind_path(t, name)) : NULL;
    if (text.len)
        all = js_declared(&js, STR("sidebars"));
    if (text.len && !all)
        all = js_exported(&js);
    for (size_t i = 0; all && all->kind == YAML_MAP && i < all->count; i++) {
        bool several = all->count > 1;
        if (several)
            kind_nav(t, 0, STR_NONE, STR_NONE, STR_NONE);  // a bar without a title
        read_items(t, folder, all->pairs[i].value, 0);
    }
}

// versioned_sidebars/version-1.x-sidebars.json; "" for that of the version to come.
static str sidebar_of(struct tree *t, str version)
{
    str file = arena_printf(t->a, "versioned_sidebars/%.*s-sidebars.json", STR_ARG(version));
    return kind_has(t, kind_path(t, file)) ? file : STR_NONE;
}

// i18n/LANG/.../current.json: "sidebar.NAME.category.Title": {"message": "..."}.
static void read_words(struct tree *t, str language, str version)
{
    static const str mark = STR(".category.");
    str file = kind_path(t, arena_printf(t->a, "i18n/%.*s/docusaurus-plugin-content-docs/%.*s.json",
                                         STR_ARG(language), STR_ARG(version)));
    const struct yaml_node *map = kind_has(t, file) ? kind_values(t, file) : NULL;
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++) {
        str key = map->pairs[i].key->text;
        size_t at = str_search(key, mark);
        if (str_starts(key, STR("sidebar.")) && at < key.len)
            kind_word(t, language, str_slice(key, at + mark.len, key.len),
                      kind_text(map->pairs[i].value, "message"));
    }
}

void docusaurus_read(struct tree *t)
{
    struct js_text js = kind_script(t);
    const struct yaml_node *options = preset_options(js_value(&js, STR("presets")));
    const struct yaml_node *docs = kind_get(options, "docs"), *blog = kind_get(options, "blog");
    struct locales l = {0};
    const struct yaml_node *i18n = js_value(&js, STR("i18n"));
    read_locales(&l, i18n);
    if (i18n && !l.count)
        guess_locales(t, &l);
    t->source_language = l.standard;
    t->assumed = !i18n;
    str version = version_of(t, &l, docs, kind_text(docs, "id"));
    for (size_t i = 0; i < l.count; i++)
        read_words(t, l.items[i], version);
    t->needs_source = true;
    if (!is_off(docs))
        add_instance(t, &l, "content-docs", docs, STR("docs"), STR("docs"));
    if (t->root_count)
        read_sidebars(t, t->roots[0].folder, sidebar_of(t, version));
    if (!is_off(blog))
        add_instance(t, &l, "content-blog", blog, STR("blog"), STR("blog"));
    read_plugins(t, &l, js_value(&js, STR("plugins")));
    add_instance(t, &l, "content-pages", NULL, STR("src/pages"), STR_NONE);
    kind_static(t, kind_path(t, STR("static")));
    t->includes = INCLUDE_MDX;
    t->include_root = kind_path(t, STR("src"));
    t->title = kind_script_text(&js, "title");
    t->description = kind_script_text(&js, "tagline");
    kind_site(t, kind_script_top(&js, "url"), kind_script_top(&js, "baseUrl"));
    t->math = str_has(t->config, STR("remark-math"));
    t->emoji = !str_eq(kind_script_text(&js, "emoji"), STR("false"));
    kind_explain(t, "the configuration is a program and was not run: title, url, baseUrl, i18n, "
                    "presets and plugins were read as literals");
}
