// Jekyll: _config.yml, posts with dates in their names, collections in folders that begin with an
// underscore.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

// What Jekyll leaves out unless it is told otherwise.
static const char *const left_out[] = {"vendor", "node_modules", ".bundle", "Gemfile*"};

static void read_list(struct tree *t, const struct yaml_node *list,
                      void (*take)(struct tree *t, str s))
{
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++)
        if (list->items[i]->kind == YAML_SCALAR)
            take(t, list->items[i]->text);
}

static void ignore(struct tree *t, str pattern)
{
    while (pattern.len && pattern.ptr[0] == '/')
        pattern = str_slice(pattern, 1, pattern.len);
    kind_ignore_below(t, t->folder, pattern);
}

// The folders that a permalink begins with, before its first name: "news" of "/news/:year/:title/".
static str literal_start(struct tree *t, str permalink, str collection)
{
    str rest = permalink, part;
    buf b = BUF_INIT;
    while (str_cut(&rest, '/', &part)) {
        if (!part.len)
            continue;
        bool name = str_eq(part, STR(":collection"));
        if ((part.ptr[0] == ':' && !name) || !rest.len)
            break;
        if (b.len)
            buf_char(&b, '/');
        buf_str(&b, name ? collection : part);
    }
    str out = arena_str(t->a, buf_view(&b));
    buf_free(&b);
    return out;
}

// Words that stand for patterns. Source: jekyllrb.com/docs/permalinks, "Built-in formats".
static str pattern_of(str permalink)
{
    static const struct {
        str word, pattern;
    } words[] = {
        {STR("date"), STR("/:categories/:year/:month/:day/:title.html")},
        {STR("pretty"), STR("/:categories/:year/:month/:day/:title/")},
        {STR("ordinal"), STR("/:categories/:year/:y_day/:title.html")},
        {STR("weekdate"), STR("/:categories/:year/W:week/:short_day/:title.html")},
        {STR("none"), STR("/:categories/:title.html")},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(permalink, words[i].word))
            return words[i].pattern;
    return permalink.len ? permalink : words[0].pattern;
}

static void add_collection(struct tree *t, const struct yaml_node *config, str name,
                           const struct yaml_node *settings)
{
    str dir = kind_text(config, "collections_dir"), permalink = kind_text(settings, "permalink");
    bool posts = str_eq(name, STR("posts"));
    if (!kind_true(settings, "output", posts))
        return;
    if (posts)
        permalink = pattern_of(permalink.len ? permalink : kind_text(config, "permalink"));
    if (!permalink.len)
        permalink = STR("/:collection/:path");
    str folder = kind_path(t, arena_printf(t->a, "%.*s/_%.*s", STR_ARG(dir), STR_ARG(name)));
    if (!kind_has_folder(t, folder))  // a site in docs/ whose settings name docs from above
        folder = kind_path(t, arena_printf(t->a, "_%.*s", STR_ARG(name)));
    if (!kind_has_folder(t, folder))
        return;
    struct tree_root *r =
        kind_root(t, folder, STR_NONE, literal_start(t, permalink, name), STR_NONE);
    r->permalink = permalink;
    r->blog = posts;
    r->collection = true;
}

static bool has_root(const struct tree *t, str folder)
{
    for (size_t i = 0; i < t->root_count; i++)
        if (str_eq(t->roots[i].folder, folder))
            return true;
    return false;
}

// "_pages" of include, in the tree's folder or in one below it: its pages are published, as if they
// lay above it; their addresses are in their front matter. Source: jekyllrb.com/docs/configuration/
// options, "Include"; Jekyll::EntryFilter#included? compares names at every depth.
static void include(struct tree *t, str name)
{
    str *folders, here = kind_path(t, name);
    name = kind_trim_slashes(name);
    if (name.ptr[0] != '_' || str_find(name, '/') < name.len)
        return;
    if (kind_has_folder(t, here) && !has_root(t, here))
        kind_root(t, here, STR_NONE, STR_NONE, STR_NONE);
    for (size_t i = 0, n = kind_folders(t, t->folder, &folders); i < n; i++) {
        str below = kind_join(t, kind_path(t, folders[i]), name);
        if (folders[i].ptr[0] != '_' && kind_has_folder(t, below) && !has_root(t, below))
            kind_root(t, below, STR_NONE, folders[i], STR_NONE);
    }
}

static void read_collections(struct tree *t, const struct yaml_node *config)
{
    const struct yaml_node *list = kind_get(config, "collections");
    bool posts = false;
    for (size_t i = 0; list && list->kind == YAML_MAP && i < list->count; i++) {
        posts = posts || str_eq(list->pairs[i].key->text, STR("posts"));
        add_collection(t, config, list->pairs[i].key->text, list->pairs[i].value);
    }
    if (!posts)
        add_collection(t, config, STR("posts"), NULL);
}

// Whether a template of the tree turns single dollars on for MathJax or KaTeX, which are off unless
// inlineMath or delimiters name them: ['$', '$'], {left: '$', ...}.
static bool turns_dollars_on(str text)
{
    static const str marks[] = {STR("['$'"),      STR("[ '$'"),     STR("[\"$\""),
                                STR("[ \"$\""),   STR("left: '$'"), STR("left: \"$\""),
                                STR("left:\"$\"")};
    return str_has_one(text, marks, sizeof marks / sizeof *marks);
}

static bool is_template(str name)
{
    bool script = str_ends(name, STR(".js")) &&
                  (str_has(name, STR("math")) || str_starts(name, STR("katex")));
    return script || str_ends(name, STR(".html")) || str_ends(name, STR(".liquid"));
}

// Themes that are no part of a tree, and turn them on. Source: cotes2020/jekyll-theme-chirpy,
// assets/js/data/mathjax.js.
static bool is_of_theme(const struct yaml_node *config)
{
    str theme = kind_text(config, "theme"), remote = kind_text(config, "remote_theme");
    remote = str_slice(remote, 0, str_find(remote, '@'));
    return str_eq(theme, STR("jekyll-theme-chirpy")) ||
           str_ends(remote, STR("/jekyll-theme-chirpy"));
}

static bool has_dollars(struct tree *t, const struct yaml_node *config)
{
    static const char *const folders[] = {"_includes", "_includes/scripts", "_layouts", "assets/js",
                                          "assets/js/data"};
    bool found = is_of_theme(config);
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        str *names, folder = kind_path(t, str_c(folders[k]));
        for (size_t i = 0, n = kind_files(t, folder, &names); i < n && !found; i++)
            found = is_template(names[i]) &&
                    turns_dollars_on(kind_file(t, kind_join(t, folder, names[i])));
    }
    return found;
}

// Ids are made as GitHub does unless kramdown reads its own syntax alone, or another processor
// stands in for it. Source: jekyll-commonmark-ghpages, generate_id ("GFM" means it there).
static enum md_slug slugs_of(const struct yaml_node *config)
{
    str input = kind_text(config, "kramdown.input"), processor = kind_text(config, "markdown");
    bool other =
        str_eq_nocase(processor, STR("GFM")) || str_eq_nocase(processor, STR("CommonMarkGhPages"));
    return other || str_eq_nocase(input, STR("kramdown")) ? MD_SLUG_KRAMDOWN : MD_SLUG_GITHUB;
}

static void read_plugin(struct tree *t, str name)
{
    t->emoji = t->emoji || str_eq(name, STR("jemoji"));
}

// jekyll-multiple-languages-plugin: what is translated lies in _i18n/LANG, and in _i18n/LANG.yml by
// keys. The first language is that of the pages themselves.
static void read_languages(struct tree *t, const struct yaml_node *list)
{
    str base = kind_path(t, STR("_i18n"));
    if (!list || list->kind != YAML_LIST || !list->count || !kind_has_folder(t, base))
        return;
    for (size_t i = 0; i < list->count; i++) {
        str tag = list->items[i]->text, folder = kind_join(t, base, tag),
            words = arena_join(t->a, folder, STR(".yml"), STR_NONE);
        if (i && kind_has_folder(t, folder))
            kind_root(t, folder, tag, STR_NONE, tag);
        if (i)
            continue;
        t->source_language = t->roots[0].language = tag;
        kind_include(t, folder);
        if (kind_has(t, words))
            kind_put_values(t, &t->texts, STR_NONE, kind_values(t, words));
    }
}

// "blank" means whose site it is. Source: alshedivat/al-folio, _includes/metadata.liquid.
static str title_of(struct tree *t, const struct yaml_node *config)
{
    static const char *const names[] = {"first_name", "middle_name", "last_name"};
    str title = kind_text(config, "title"), own = STR_NONE;
    for (size_t i = 0; i < 3 && str_eq(title, STR("blank")); i++) {
        str name = kind_text(config, names[i]);
        if (name.len)
            own = arena_join(t->a, own, own.len ? STR(" ") : STR_NONE, name);
    }
    if (own.len)
        return own;
    return title.len ? title : kind_text(config, "name");
}

// What pages name by {{ site.key }}. Links that begin with the site's own address are read as such.
static void read_values(struct tree *t, const struct yaml_node *config)
{
    struct map all = {0};
    kind_put_values(t, &all, STR("site."), config);
    for (size_t i = 0; i < all.count; i++) {
        str name = all.entries[i].key;
        if (!str_eq(name, STR("site.url")) && !str_eq(name, STR("site.baseurl")))
            *map_put(&t->values, t->a, name, NULL) = all.entries[i].value;
    }
    str folder = kind_text(config, "data_dir");
    t->values_are = VALUES_LIQUID;
    str pictures = kind_path(t, STR("_includes/image.html"));
    t->own_images = kind_has(t, pictures) && !str_has(kind_file(t, pictures), STR("images/{{"));
    t->data_folder = kind_path(t, folder.len ? folder : STR("_data"));
}

void jekyll_read(struct tree *t)
{
    const struct yaml_node *c = t->config.len ? kind_values(t, t->config_name) : NULL;
    str source = kind_text(c, "source");
    if (source.len)
        t->folder = kind_path(t, source);
    struct tree_root *pages = kind_root(t, t->folder, STR_NONE, STR_NONE, STR_NONE);
    pages->permalink = pattern_of(kind_text(c, "permalink"));
    read_collections(t, c);
    read_list(t, kind_get(c, "include"), include);
    read_languages(t, kind_get(c, "languages"));
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        ignore(t, str_c(left_out[i]));
    read_list(t, kind_get(c, "exclude"), ignore);
    read_values(t, c);
    str processor = kind_text(c, "markdown");
    if (!processor.len || str_eq_nocase(processor, STR("kramdown")))
        t->includes = INCLUDE_KRAMDOWN;
    t->title = title_of(t, c);
    t->description = kind_text(c, "description");
    t->source_language = kind_text(c, "default_lang");
    if (!t->source_language.len)
        t->source_language = kind_text(c, "lang");
    str repository = kind_text(c, "repository");
    if (str_find(repository, ':') < repository.len)
        t->repository = repository;
    else if (repository.len)
        t->repository = arena_printf(t->a, "https://github.com/%.*s", STR_ARG(repository));
    else
        t->repository = STR_NONE;
    read_list(t, kind_get(c, "languages"), kind_language);
    kind_defaults(t, kind_get(c, "defaults"));
    str url = kind_text(c, "url"), base = kind_text(c, "baseurl");
    kind_site(t, url, base);
    t->unplaced = !url.len && !kind_get(c, "baseurl");  // github.io/REPOSITORY, which a host adds
    read_list(t, kind_get(c, "plugins"), read_plugin);
    read_list(t, kind_get(c, "gems"), read_plugin);
    t->definitions = t->abbreviations = true;
    t->math = true;  // kramdown's own $$ ... $$
    t->dollars = has_dollars(t, c);
    t->slugs = slugs_of(c);
    if (t->dollars)
        kind_explain(t, "formulas between single dollars, because a template turns them on");
}
