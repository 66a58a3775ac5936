// VitePress, and VuePress before it: Markdown below srcDir, a folder a language, a program as
// configuration.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

// The file of an address such as "/guide/intro": what VitePress would make a page of.
static str file_of(struct tree *t, str folder, str link)
{
    static const char *const tails[] = {".md", "/index.md", "/README.md", ""};
    link = str_slice(link, 0, str_find(link, '#'));
    if (str_ends(link, STR(".html")))
        link.len -= 5;
    if (link.len && link.ptr[link.len - 1] == '/')
        link.len--;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        str path = kind_join(t, folder, arena_printf(t->a, "%.*s%s", STR_ARG(link), tails[i]));
        if (str_ends(path, STR(".md")) && kind_has(t, path))
            return path;
    }
    return STR_NONE;
}

// A line of a sidebar: {text, link, items}, and of VuePress {title, path, children}, an address
// alone, or an address and its words.
struct line {
    str text, link, base;
    const struct yaml_node *items;
};

static str scalar(const struct yaml_node *list, size_t i)
{
    return i < list->count && list->items[i]->kind == YAML_SCALAR ? list->items[i]->text : STR_NONE;
}

static struct line line_of(const struct yaml_node *n)
{
    if (n->kind != YAML_MAP)
        return (struct line){.link = n->kind == YAML_LIST ? scalar(n, 0) : n->text,
                             .text = n->kind == YAML_LIST ? scalar(n, 1) : STR_NONE};
    struct line x = {kind_text(n, "text"), kind_text(n, "link"), kind_text(n, "base"),
                     kind_get(n, "items")};
    x.text = x.text.len ? x.text : kind_text(n, "title");
    x.link = x.link.len ? x.link : kind_text(n, "path");
    x.items = x.items ? x.items : kind_get(n, "children");
    return x;
}

static void read_items(struct tree *t, str folder, str base, const struct yaml_node *list,
                       uint32_t depth)
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count && depth < 8; i++) {
        struct line x = line_of(list->items[i]);
        str link = x.link, own = x.base.len ? x.base : base;
        bool outside = str_has(link, STR("://")),
             address = list->items[i]->kind != YAML_MAP && !x.items;
        str path = link.len || address
                       ? arena_join(t->a, own, str_starts(link, STR("/")) ? link : STR("/"),
                                    str_starts(link, STR("/")) ? STR_NONE : link)
                       : STR_NONE;
        str file = path.len && !outside ? file_of(t, folder, path) : STR_NONE;
        if (!file.len && link.len && !outside)
            file = file_of(t, folder, link);
        if (x.items || file.len || outside)
            kind_nav(t, depth, x.text, file, outside && !x.items ? link : STR_NONE);
        read_items(t, folder, own, x.items, depth + 1);
    }
}

// Whether the lines from one on are the same as those of an earlier bar: folders may share one.
static bool is_shown(const struct tree *t, size_t from)
{
    size_t count = t->nav_count - from, same;
    for (size_t at = 0; at + count <= from; at++) {
        for (same = 0; same < count; same++) {
            const struct tree_entry *a = &t->nav[at + same], *b = &t->nav[from + same];
            if (a->depth != b->depth || !str_eq(a->title, b->title) || !str_eq(a->file, b->file) ||
                !str_eq(a->url, b->url))
                break;
        }
        if (same == count)
            return true;
    }
    return false;
}

// sidebar: a list; or a map from folders to lists, or to {base, items}.
static void read_sidebar(struct tree *t, str folder, const struct yaml_node *n)
{
    if (!n)
        return;
    if (n->kind == YAML_LIST) {
        read_items(t, folder, STR_NONE, n, 0);
        return;
    }
    for (size_t i = 0; n->kind == YAML_MAP && i < n->count; i++) {
        const struct yaml_node *value = n->pairs[i].value, *items = kind_get(value, "items");
        size_t before = t->nav_count;
        if (n->count > 1)
            kind_nav(t, 0, STR_NONE, STR_NONE, STR_NONE);
        if (items)
            read_items(t, folder, kind_text(value, "base"), items, 0);
        else
            read_items(t, folder, n->pairs[i].key->text, value, 0);
        if (is_shown(t, before))
            t->nav_count = before;
    }
}

// The language that rewrites move to the root: "en/:rest*" of {"en/:rest*": ":rest*"}.
static str rewritten_root(const struct yaml_node *rewrites)
{
    for (size_t i = 0; rewrites && rewrites->kind == YAML_MAP && i < rewrites->count; i++) {
        str from = rewrites->pairs[i].key->text, to = rewrites->pairs[i].value->text;
        size_t slash = str_find(from, '/');
        bool moved = slash < from.len && str_starts(to, STR(":")) &&
                     str_eq(str_slice(from, slash + 1, from.len), to);
        if (moved && kind_is_tag(str_slice(from, 0, slash)))
            return str_slice(from, 0, slash);
    }
    return STR_NONE;
}

// The folder of the languages' folders that rewrites move to the root: "translated" of
// {"translated/:locale/(.*)": ":locale/(.*)"}.
static str rewritten_languages(const struct yaml_node *rewrites)
{
    for (size_t i = 0; rewrites && rewrites->kind == YAML_MAP && i < rewrites->count; i++) {
        str from = rewrites->pairs[i].key->text, to = rewrites->pairs[i].value->text;
        size_t colon = str_find(from, ':');
        if (colon > 1 && colon < from.len && from.ptr[colon - 1] == '/' &&
            str_eq(str_slice(from, colon, from.len), to) && str_find(to, '/') < to.len)
            return str_slice(from, 0, colon - 1);
    }
    return STR_NONE;
}

// "ko-KR" of the folder ko is ko: the region says nothing. Portuguese and Chinese are written in
// two ways, which it tells apart.
static str plain_tag(str name, str lang)
{
    bool two_ways = str_eq(name, STR("pt")) || str_eq(name, STR("zh"));
    bool region = lang.len == name.len + 3 && str_starts(lang, name) && lang.ptr[name.len] == '-';
    return !lang.len || (region && !two_ways) ? name : lang;
}

// "/ja/" of VuePress is ja, its "/" is root.
static str locale_name(str key)
{
    key = kind_trim_slashes(key);
    return key.len ? key : STR("root");
}

// Languages that the configuration names in quotes, 'zh-TW': {...}, where only a program knows
// whether they are published.
static void read_named(struct tree *t, str src)
{
    str *names;
    for (size_t i = 0, n = kind_folders(t, src, &names); t->root_count && i < n; i++) {
        str folder = kind_join(t, src, names[i]);
        bool known = !kind_is_tag(names[i]);
        for (size_t k = 0; k < t->root_count && !known; k++)
            known = str_eq(t->roots[k].folder, folder);
        str key = arena_join(t->a, names[i], STR("':"), STR_NONE),
            quoted = arena_join(t->a, names[i], STR("\":"), STR_NONE);
        if (!known && (str_has(t->config, key) || str_has(t->config, quoted)))
            kind_root(t, folder, names[i], STR_NONE, names[i]);
    }
}

// Where no locale is at the root the first one is the source's.
static void take_first(struct tree *t, const struct yaml_node *locales)
{
    bool listed = locales && locales->kind == YAML_MAP,
         at_root = listed && (kind_value(locales, STR("root")) || kind_value(locales, STR("/")));
    if (!t->assumed || !listed || at_root || !t->root_count)
        return;
    t->source_language = t->roots[0].language;
    t->assumed = false;
}

static void read_locales(struct tree *t, str src, const struct yaml_node *locales, str moved)
{
    str root_language = kind_text(locales, "root.lang");
    if (!root_language.len)
        root_language = kind_text(locales, "/.lang");
    if (root_language.len)
        t->source_language =
            plain_tag(str_slice(root_language, 0, str_find(root_language, '-')), root_language);
    t->assumed = t->assumed && !root_language.len;
    for (size_t i = 0; locales && locales->kind == YAML_MAP && i < locales->count; i++) {
        str name = locale_name(locales->pairs[i].key->text),
            lang = kind_text(locales->pairs[i].value, "lang");
        str folder = kind_join(t, src, name);
        if (str_eq(name, STR("root")) || str_eq(name, moved) || !kind_has_folder(t, folder))
            continue;
        kind_root(t, folder, plain_tag(name, lang), STR_NONE, name);
    }
    read_named(t, src);
    take_first(t, locales);
    bool several = t->root_count > 0;
    str folder =
        moved.len && kind_has_folder(t, kind_join(t, src, moved)) ? kind_join(t, src, moved) : src;
    kind_root(t, folder, several ? t->source_language : STR_NONE, STR_NONE, STR_NONE);
}

// Languages that a program lists: the folders of the one that rewrites name.
static void guess_locales(struct tree *t, str folder)
{
    str *names;
    for (size_t i = 0, n = kind_folders(t, folder, &names); i < n; i++)
        if (kind_is_tag(names[i]))
            kind_root(t, kind_join(t, folder, names[i]), names[i], STR_NONE, names[i]);
}

static void read_excluded(struct tree *t, str src, const struct yaml_node *list)
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++)
        if (list->items[i]->kind == YAML_SCALAR)
            kind_ignore_below(t, src, list->items[i]->text);
}

void vitepress_read(struct tree *t)
{
    struct js_text js = kind_script(t);
    str dir = kind_script_top(&js, "srcDir"), src = kind_path(t, dir.len ? dir : STR("."));
    str lang = kind_script_top(&js, "lang");
    t->source_language = str_slice(lang, 0, str_find(lang, '-')).len
                             ? str_slice(lang, 0, str_find(lang, '-'))
                             : STR("en");
    t->assumed = !lang.len;
    const struct yaml_node *rewrites = js_value(&js, STR("rewrites"));
    str languages = rewritten_languages(rewrites);
    if (languages.len)
        guess_locales(t, kind_join(t, src, languages));
    read_locales(t, src, js_value(&js, STR("locales")), rewritten_root(rewrites));
    if (js_value(&js, STR("versioning")))
        kind_ignore(t, kind_join(t, src, STR("versions")));  // older ones
    t->assumed = t->assumed && t->root_count == 1;
    read_excluded(t, src, js_value(&js, STR("srcExclude")));
    const struct yaml_node *bar = js_value(&js, STR("sidebar"));
    read_sidebar(t, src, bar ? bar : js_declared(&js, STR("sidebar")));
    t->emoji = true;
    t->includes = INCLUDE_VITEPRESS;
    t->include_root = src;
    kind_static(t, kind_join(t, src, STR("public")));
    kind_static(t, kind_path(t, STR(".vuepress/public")));
    t->title = kind_script_text(&js, "title");
    t->description = kind_script_text(&js, "description");
    t->math = str_has(t->config, STR("math: true"));
    kind_site(t, STR_NONE, kind_script_top(&js, "base"));
    kind_explain(t, "the configuration is a program and was not run: srcDir, srcExclude, base, "
                    "lang, locales, rewrites and sidebar "
                    "were read as literals");
}
