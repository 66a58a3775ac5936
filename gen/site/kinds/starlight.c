// Starlight: pages in src/content/docs, a folder a language beside the source's pages, astro.config
// as configuration.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

static const char *const config_names[] = {"astro.config.mjs", "astro.config.ts", "astro.config.js",
                                           "astro.config.mts"};

static str file_of(struct tree *t, str folder, str slug)
{
    static const char *const tails[] = {".md", ".mdx", "/index.md", "/index.mdx"};
    slug = kind_trim_slashes(slug);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        str path = kind_join(t, folder, arena_printf(t->a, "%.*s%s", STR_ARG(slug), tails[i]));
        if (kind_has(t, path))
            return path;
    }
    return STR_NONE;
}

static void read_translations(struct tree *t, str label, const struct yaml_node *map)
{
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++)
        kind_word(t, map->pairs[i].key->text, label, map->pairs[i].value->text);
}

static void read_items(struct tree *t, str folder, const struct yaml_node *list, uint32_t depth)
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count && depth < 8; i++) {
        const struct yaml_node *n = list->items[i], *items = kind_get(n, "items");
        str label = kind_text(n, "label"),
            slug = n->kind == YAML_SCALAR ? n->text : kind_text(n, "slug"),
            link = kind_text(n, "link");
        str directory = kind_text(n, "autogenerate.directory");
        read_translations(t, label, kind_get(n, "translations"));
        bool outside = str_has(link, STR("://"));
        str file = slug.len               ? file_of(t, folder, slug)
                   : link.len && !outside ? file_of(t, folder, link)
                                          : STR_NONE;
        if (directory.len)
            kind_nav(t, depth, label,
                     arena_printf(t->a, "%.*s/%.*s/", STR_ARG(folder), STR_ARG(directory)),
                     STR_NONE);
        else if (items || file.len || outside)
            kind_nav(t, depth, label, file, outside && !items ? link : STR_NONE);
        else if (slug.len || link.len)
            kind_nav_address(t, depth, label, kind_trim_slashes(slug.len ? slug : link));
        if (items)
            read_items(t, folder, items, depth + 1);
    }
}

// The folder of a locale, whose name Astro takes without regard to capital letters; "" for none.
static str locale_folder(struct tree *t, str docs, str locale)
{
    str *names, folder = kind_join(t, docs, locale);
    if (kind_has_folder(t, folder))
        return folder;
    for (size_t i = 0, n = kind_folders(t, docs, &names); i < n; i++)
        if (str_eq_nocase(names[i], locale))
            return kind_join(t, docs, names[i]);
    return STR_NONE;
}

static void read_locales(struct tree *t, str docs, const struct yaml_node *locales)
{
    str standard = kind_text(locales, "root.lang");
    if (standard.len)
        t->source_language = standard, t->assumed = false;
    for (size_t i = 0; locales && locales->kind == YAML_MAP && i < locales->count; i++) {
        str name = locales->pairs[i].key->text, lang = kind_text(locales->pairs[i].value, "lang"),
            folder = str_eq(name, STR("root")) ? STR_NONE : locale_folder(t, docs, name);
        if (!folder.len)
            continue;
        bool is_source = str_eq(name, t->source_language) && !standard.len;
        kind_root(t, folder, lang.len ? lang : name, STR_NONE, is_source ? STR_NONE : name);
    }
}

void starlight_read(struct tree *t)
{
    t->top_anchor = STR("_top");  // withastro/starlight, components/PageTitle.astro
    str docs = kind_path(t, STR("src/content/docs"));
    for (size_t i = 0; i < sizeof config_names / sizeof *config_names && !t->config.len; i++) {
        str name = kind_path(t, str_c(config_names[i]));
        if (!kind_has(t, name))
            continue;
        t->config_name = name;
        t->config = kind_file(t, name);
    }
    struct js_text js = kind_script(t);
    str standard = kind_script_text(&js, "defaultLocale");
    t->source_language = standard.len && !str_eq(standard, STR("root")) ? standard : STR("en");
    t->assumed = !standard.len;
    read_locales(t, docs, js_value(&js, STR("locales")));
    kind_root(t, docs, t->root_count ? t->source_language : STR_NONE, STR_NONE, STR_NONE);
    t->assumed = t->assumed && t->root_count == 1;
    const struct yaml_node *bar = js_value(&js, STR("sidebar"));
    if (!bar || bar->kind != YAML_LIST)  // a plugin's settings may hold another
        bar = js_declared(&js, STR("sidebar"));
    str home = standard.len && t->root_count > 1 ? locale_folder(t, docs, standard) : STR_NONE;
    read_items(t, home.len ? home : docs, bar, 0);  // names in it are without the locale
    kind_static(t, kind_path(t, STR("public")));
    t->includes = INCLUDE_MDX;
    t->include_root = kind_path(t, STR("src"));
    kind_aliases(t);
    kind_redirects(t, js_value(&js, STR("redirects")));
    t->title = kind_script_text(&js, "title");
    t->description = kind_script_text(&js, "description");
    t->math = str_has(t->config, STR("remark-math"));
    kind_site(t, kind_script_top(&js, "site"), kind_script_top(&js, "base"));
    kind_explain(t, "the configuration is a program and was not run: site, base, title, locales "
                    "and sidebar were read as literals");
}
