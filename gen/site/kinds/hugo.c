// Hugo: content folders by language, mounts, and front matter in three languages.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

enum { MAX_CONFIGS = 64 };

// The configuration is one file, or several in config/_default and its folders, each named for the
// key that it says more of: module.toml, markup.yaml.
struct configs {
    struct config {
        str key;  // "" of the whole
        const struct yaml_node *values;
    } items[MAX_CONFIGS];
    size_t count;
    const struct yaml_node *languages;
};

// What is below the key at the head of path in the file that is named for it.
static const struct yaml_node *get_in(const struct config *c, const char *path)
{
    const char *rest = path + c->key.len;
    if (!c->key.len)
        return kind_get(c->values, path);
    if (strncmp(path, c->key.ptr, c->key.len) != 0 || (*rest && *rest != '.'))
        return NULL;
    return *rest ? kind_get(c->values, rest + 1) : c->values;
}

static const struct yaml_node *get(const struct configs *c, const char *path)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct yaml_node *n = get_in(&c->items[i], path);
        if (n)
            return n;
    }
    return NULL;
}

static str text(const struct configs *c, const char *path)
{
    const struct yaml_node *n = get(c, path);
    return n && n->kind == YAML_SCALAR ? n->text : STR_NONE;
}

// Whether a file's name has an ending of a configuration; *name is what is in front of it.
static bool is_config(str file, str *name)
{
    static const str endings[] = {STR(".toml"), STR(".yaml"), STR(".yml"), STR(".json")};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(file, endings[i]))
            return *name = str_slice(file, 0, file.len - endings[i].len), name->len > 0;
    return false;
}

static void add_config(struct tree *t, struct configs *c, str folder, str file, str key)
{
    struct yaml_node *values = kind_values(t, kind_join(t, folder, file));
    if (values && c->count < MAX_CONFIGS)
        c->items[c->count++] = (struct config){key, values};
}

// The files of a folder that say what the whole does (whole), or more of one key.
static void read_folder(struct tree *t, struct configs *c, str folder, bool whole)
{
    str *names, name;
    for (size_t i = 0, n = kind_files(t, folder, &names); i < n; i++) {
        if (!is_config(names[i], &name))
            continue;
        bool is_whole = str_eq(name, STR("hugo")) || str_eq(name, STR("config"));
        if (is_whole == whole && str_find(name, '.') == name.len)
            add_config(t, c, folder, names[i], whole ? STR_NONE : arena_str(t->a, name));
    }
}

// config/_default/languages.fr.toml is what languages.toml would say of fr.
static const struct yaml_node *languages_by_file(struct tree *t, str folder)
{
    struct yaml_node *all = arena_new(t->a, struct yaml_node, 1);
    str *names;
    size_t n = kind_files(t, folder, &names);
    *all = (struct yaml_node){.kind = YAML_MAP, .pairs = arena_new(t->a, struct yaml_pair, n)};
    for (size_t i = 0; i < n; i++) {
        str rest = names[i], first, tag;
        if (!str_cut(&rest, '.', &first) || !str_eq(first, STR("languages")) ||
            !str_cut(&rest, '.', &tag) || !rest.len)
            continue;
        struct yaml_node *key = arena_new(t->a, struct yaml_node, 1),
                         *value = kind_values(t, kind_join(t, folder, names[i]));
        *key = (struct yaml_node){.kind = YAML_SCALAR, .text = tag};
        if (value)
            all->pairs[all->count++] = (struct yaml_pair){key, value};
    }
    return all->count ? all : NULL;
}

// Source: gohugo.io/configuration/introduction, "Configuration directory"; its folders are walked,
// too (Hugo, config/allconfig/load.go and config/configLoader.go, LoadConfigFromDir).
static void read_configs(struct tree *t, struct configs *c)
{
    str folder = kind_path(t, STR("config/_default")), *below;
    read_folder(t, c, folder, false);
    for (size_t i = 0, n = kind_folders(t, folder, &below); i < n; i++)
        read_folder(t, c, kind_join(t, folder, below[i]), false);
    read_folder(t, c, t->folder, true);
    read_folder(t, c, folder, true);
    c->languages = get(c, "languages");
    if (!c->languages)
        c->languages = languages_by_file(t, folder);
}

static str language_of_mount(const struct yaml_node *m)
{
    str lang = kind_text(m, "lang");
    const struct yaml_node *list = kind_get(m, "sites.matrix.languages");
    if (lang.len || !list)
        return lang;
    if (list->kind == YAML_SCALAR)
        return list->text;
    return list->kind == YAML_LIST && list->count && list->items[0]->kind == YAML_SCALAR
               ? list->items[0]->text
               : STR_NONE;
}

// What a submodule or a script puts below an address, and this copy of the tree has not.
static void put_absent(struct tree *t, str source, str target)
{
    static const str endings[] = {STR(".md"), STR("/_index"), STR("/index")};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(target, endings[i]))
            target.len -= endings[i].len;
    if (!target.len)
        return;
    kind_absent(t, target);
    kind_explain(t, "not in the tree: %.*s, which is mounted at %.*s", STR_ARG(source),
                 STR_ARG(target));
}

// A mount from where there is nothing; false for others.
static bool read_absent(struct tree *t, const struct yaml_node *mount)
{
    str target = kind_text(mount, "target"), written = kind_text(mount, "source"),
        source = kind_path(t, written);
    bool content = str_starts(target, STR("content/"));
    if (!content || !written.len || (source.len && kind_has(t, source)))
        return false;
    put_absent(t, written, str_slice(target, 8, target.len));
    return true;
}

// content mounted from other folders: source, target, lang.
static void read_mount(struct tree *t, const struct yaml_node *m)
{
    str target = kind_text(m, "target"), source = kind_path(t, kind_text(m, "source")),
        lang = language_of_mount(m);
    bool content = str_eq(target, STR("content")) || str_starts(target, STR("content/"));
    if (kind_text(m, "source").len && !source.len) {  // it lies above the folder that is read
        kind_explain(t, "not read, since it is outside of the folder: %.*s",
                     STR_ARG(kind_text(m, "source")));
        return;
    }
    if (str_eq(target, STR("static")))
        kind_static(t, source);
    if (content && kind_has_folder(t, source))
        kind_root(t, source, lang, str_slice(target, 8, target.len), lang);
}

// A template of module.yaml, which a script of opentelemetry.io's makes it of, says no more here
// than what is not there.
static void read_mounts(struct tree *t, const struct configs *c)
{
    const struct yaml_node *list = get(c, "module.mounts"),
                           *made = list ? NULL : get(c, "module-template.mounts");
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++)
        if (!read_absent(t, list->items[i]))
            read_mount(t, list->items[i]);
    for (size_t i = 0; made && made->kind == YAML_LIST && i < made->count; i++)
        read_absent(t, made->items[i]);
}

// disableLanguages: ["zh"], or "disabled" of the language itself.
static bool is_disabled(const struct configs *c, str tag, const struct yaml_node *language)
{
    const struct yaml_node *list = get(c, "disableLanguages");
    bool off = kind_true(language, "disabled", false);
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count && !off; i++)
        off = str_eq_nocase(list->items[i]->text, tag);
    return off;
}

// Whether a language is read from the content folder itself: none where each has a folder of its
// own.
static bool read_languages(struct tree *t, const struct configs *c, str content)
{
    const struct yaml_node *l = c->languages;
    bool shared = !l || l->kind != YAML_MAP || !l->count;
    for (size_t i = 0; l && l->kind == YAML_MAP && i < l->count; i++) {
        str tag = l->pairs[i].key->text, dir = kind_text(l->pairs[i].value, "contentDir");
        if (is_disabled(c, tag, l->pairs[i].value))
            continue;
        str folder = dir.len ? kind_path(t, dir) : STR_NONE;
        if (folder.len && !str_eq(folder, content) && kind_has_folder(t, folder))
            kind_root(t, folder, tag, STR_NONE, tag);
        else
            kind_language(t, tag), shared = true;
    }
    return shared;
}

static void read_content(struct tree *t, const struct configs *c)
{
    str dir = text(c, "contentDir"), content = kind_path(t, dir.len ? dir : STR("content"));
    read_mounts(t, c);
    if (t->root_count)
        return;
    bool shared = read_languages(t, c, content);
    if (!kind_has_folder(t, content) || (!shared && t->root_count))
        return;
    // The folder of the source language may hold those of the others.
    bool named = t->root_count && dir.len;
    kind_root(t, content, named ? t->source_language : STR_NONE, STR_NONE, STR_NONE);
}

// permalinks: {posts: /:year/:slug/}, or below "page" for the pages of a section. Sections are
// folders of every root.
static void read_permalinks(struct tree *t, const struct yaml_node *map)
{
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++) {
        const struct yaml_node *value = map->pairs[i].value;
        str section = map->pairs[i].key->text;
        if (str_eq(section, STR("page")))
            read_permalinks(t, value);
        for (size_t r = 0; value->kind == YAML_SCALAR && r < t->root_count; r++) {
            kind_permalink(t, kind_join(t, t->roots[r].folder, section), value->text);
            if (t->roots[r].language.len)
                continue;  // folders of languages may be in it
            kind_permalink(
                t, arena_printf(t->a, "%.*s/*/%.*s", STR_ARG(t->roots[r].folder), STR_ARG(section)),
                value->text);
        }
    }
}

// "{,/**}/_includes" is "/_includes" and "/**/_includes"; each is left out below all roots.
static void ignore_glob(struct tree *t, str glob, int braces)
{
    size_t open = str_find(glob, '{'), close = str_find(glob, '}');
    if (open < close && close < glob.len && braces < 4) {
        str choices = str_slice(glob, open + 1, close), one;
        while (str_cut(&choices, ',', &one))
            ignore_glob(t,
                        arena_join(t->a, str_slice(glob, 0, open), one,
                                   str_slice(glob, close + 1, glob.len)),
                        braces + 1);
        return;
    }
    for (size_t i = 0; i < t->root_count && glob.len && glob.ptr[0] == '/'; i++) {
        kind_ignore_below(t, t->roots[i].folder, str_slice(glob, 1, glob.len));
        if (!t->roots[i].language.len)  // folders of languages may be in it
            kind_ignore_below(t, t->roots[i].folder, arena_join(t->a, STR("*"), glob, STR_NONE));
    }
}

// cascade: [{build: {render: never}, target: {path: /parts/**}}]. Source: gohugo.io/configuration/
// cascade and gohugo.io/content-management/build-options.
static void read_cascade(struct tree *t, const struct yaml_node *list)
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *rule = list->items[i];
        str render = kind_text(rule, "build.render"), path = kind_text(rule, "target.path");
        if (str_eq(render, STR("never")) || str_eq(render, STR("false")))
            ignore_glob(t, path, 0);
    }
}

// Themes that set formulas themselves are told so by a parameter.
static bool is_math_on(const struct configs *c)
{
    static const char *const names[] = {"params.math", "params.mathjax", "params.katex",
                                        "params.math.enable", "params.page.math.enable"};
    bool on = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !on; i++)
        on = str_eq(text(c, names[i]), STR("true"));
    return on;
}

// Source: gohugo.io/configuration/markup, "autoHeadingIDType".
static enum md_slug slugs_of(const struct configs *c)
{
    str type = text(c, "markup.goldmark.parser.autoHeadingIDType");
    return str_eq_nocase(type, STR("blackfriday")) ? MD_SLUG_BLACKFRIDAY : MD_SLUG_GITHUB;
}

static void put_params(struct tree *t, str prefix, const struct yaml_node *params)
{
    struct map all = {0};
    kind_put_values(t, &all, prefix, params);
    for (size_t i = 0; i < all.count; i++) {
        buf lower = BUF_INIT;
        str name = all.entries[i].key;
        buf_str(&lower, str_slice(name, 0, prefix.len));
        for (size_t k = prefix.len; k < name.len; k++)
            buf_char(&lower, ascii_lower(name.ptr[k]));
        void **value = map_put(&t->values, t->a, buf_view(&lower), NULL);
        if (!*value)
            *value = all.entries[i].value;
        buf_free(&lower);
    }
}

// What pages name by {{< param "key" >}}, whatever its letters' case; that of a language by its tag
// in front.
static void read_params(struct tree *t, const struct configs *c)
{
    const struct yaml_node *l = c->languages;
    for (size_t i = 0; i < c->count; i++)
        put_params(t, STR_NONE, get_in(&c->items[i], "params"));
    for (size_t i = 0; l && l->kind == YAML_MAP && i < l->count; i++)
        put_params(t, arena_join(t->a, l->pairs[i].key->text, STR(" "), STR_NONE),
                   kind_get(l->pairs[i].value, "params"));
    t->values_are = VALUES_PARAM;
}

// Whether a shortcode puts in the file that its argument names: by os.ReadFile, as a resource, as a
// page whose shortcodes are read (gohugo.io/methods/page/rendershortcodes), or
// by a partial that is called so.
static bool is_reader(str text)
{
    static const str marks[] = {STR("readFile"), STR("os.ReadFile"), STR("resources.Get"),
                                STR("partial \"include"), STR("RenderShortcodes")};
    return str_has_one(text, marks, sizeof marks / sizeof *marks) && str_has(text, STR(".Get "));
}

// Those of the tree, and three of modules that are no part of it, where the tree has none of the
// name. Sources: docsy.dev/docs/content/shortcodes, "Include external files";
// mcshelby.github.io/hugo-theme-relearn/shortcodes/include; solo-io/docs-theme-extras, "reuse".
static void read_readers(struct tree *t)
{
    static const char *const folders[] = {"layouts/shortcodes", "layouts/_shortcodes"};
    static const str known[] = {STR("readfile"), STR("include"), STR("reuse")};
    struct map own = {0};
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        str *names, folder = kind_path(t, str_c(folders[k]));
        for (size_t i = 0, n = kind_files(t, folder, &names); i < n; i++) {
            str name = str_slice(names[i], 0, str_find(names[i], '.'));
            map_put(&own, t->a, name, NULL);
            if (is_reader(kind_file(t, kind_join(t, folder, names[i]))))
                map_put(&t->readers, t->a, name, NULL);
        }
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!map_has(&own, known[i]))
            map_put(&t->readers, t->a, known[i], NULL);
    t->includes = INCLUDE_HUGO;
}

void hugo_read(struct tree *t)
{
    struct configs c = {0};
    if (t->config_name.len)
        read_configs(t, &c);
    str language = text(&c, "defaultContentLanguage"), code = text(&c, "languageCode");
    if (!language.len && !c.languages && !str_eq_nocase(code, STR("en-us")))
        language = code;  // en-us is in what "hugo new site" writes
    t->source_language = language.len ? language : STR("en");
    t->assumed = !language.len && !c.languages;
    read_content(t, &c);
    read_permalinks(t, get(&c, "permalinks"));
    read_cascade(t, get(&c, "cascade"));
    read_params(t, &c);
    read_readers(t);
    kind_static(t, kind_path(t, STR("static")));
    t->title = text(&c, "title");
    if (!t->title.len)
        t->title = kind_text(c.languages,
                             arena_printf(t->a, "%.*s.title", STR_ARG(t->source_language)).ptr);
    t->description = text(&c, "params.description");
    kind_site(t, text(&c, "baseURL"), STR_NONE);
    t->definitions = kind_true(get(&c, "markup.goldmark.extensions"), "definitionList", true);
    // Source: gohugo.io/configuration/markup, "autoDefinitionTermID".
    t->term_ids = kind_true(get(&c, "markup.goldmark.parser"), "autoDefinitionTermID", false);
    const struct yaml_node *math = get(&c, "markup.goldmark.extensions.passthrough");
    t->math = kind_true(math, "enable", false) || is_math_on(&c);
    t->emoji = str_eq(text(&c, "enableEmoji"), STR("true"));
    t->slugs = slugs_of(&c);
    t->link_words = kind_has(t, kind_path(t, STR("layouts/_default/_markup/render-link.html"))) ||
                    kind_has(t, kind_path(t, STR("layouts/_markup/render-link.html")));
}
