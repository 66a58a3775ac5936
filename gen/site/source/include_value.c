// Values that a page names in a tag: {{ site.title }} of Jekyll, {{ version }} of MkDocs' macros,
// {{ book.version }} of GitBook, {{< param "version" >}} of Hugo. What is not written in the tree
// as a literal stays a tag.
#include "gen/site/source/include_value.h"

#include <string.h>

#include "gen/base/path.h"
#include "gen/site/kinds/kind_lib.h"
#include "gen/text/front_toml.h"

enum { LONGEST_TAG = 400, DEEPEST_DATA = 4 };

bool include_may_name(const struct tree *t, str text)
{
    return t->values_are != VALUES_NOTHING && str_has(text, STR("{{"));
}

static const struct yaml_node *parse(struct including *g, str text, size_t from, size_t to,
                                     bool toml)
{
    struct yaml_node *root = NULL;
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    bool ok = toml ? front_toml(text, from, to, STR_NONE, g->a, quiet, &root)
                   : yaml_parse(text, from, to, STR_NONE, g->a, quiet, &root);
    diag_free(quiet);
    return ok ? root : NULL;
}

static const struct yaml_node *front_of(struct including *g, str text)
{
    size_t end = include_behind_front(text);
    bool toml = str_starts(text, STR("+++\n"));
    return end > 8 ? parse(g, text, 4, end - 4, toml) : NULL;
}

static const struct yaml_node *own_front(struct including *g)
{
    if (!g->front_read)
        g->front = front_of(g, g->page.text);
    g->front_read = true;
    return g->front;
}

static bool scalar(const struct yaml_node *n, str *value)
{
    if (!n || n->kind != YAML_SCALAR || yaml_is_null(n))
        return false;
    *value = n->text;
    return true;
}

static bool scalar_at(struct including *g, const struct yaml_node *map, str path, str *value)
{
    return map && scalar(kind_get(map, arena_c(g->a, path)), value);
}

// A file of data by its path without an ending; NULL for none.
static const struct yaml_node *data_of(struct including *g, str path)
{
    static const str endings[] = {STR(".yml"), STR(".yaml"), STR(".json")};
    bool is_new;
    void **kept = map_put(&g->data, g->a, path, &is_new);
    struct include_source in;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && is_new && !*kept; i++)
        if (!include_read_file(g, arena_join(g->a, path, endings[i], STR_NONE), &in))
            *kept = (void *)(uintptr_t)parse(g, in.text, 0, in.text.len, false);
    return *kept;
}

// site.data.FILE.key, site.data.FOLDER.FILE.key.
static bool data_value(struct including *g, str path, str *value)
{
    str file = g->tree->data_folder, name;
    for (int depth = 0; file.len && depth < DEEPEST_DATA && str_cut(&path, '.', &name); depth++) {
        file = arena_join(g->a, file, STR("/"), name);
        const struct yaml_node *data = path.len ? data_of(g, file) : NULL;
        if (data)
            return scalar_at(g, data, path, value);
    }
    return false;
}

// page.url of a document of a collection, whose address says nothing else than where it lies.
static bool address_of(struct including *g, str *value)
{
    const struct tree_root *r = tree_root_of(g->tree, g->page.path);
    if (!r || !r->collection || !str_eq(r->permalink, STR("/:collection/:path")))
        return false;
    str below = tree_below(r, g->page.path);
    *value = arena_printf(g->a, "/%.*s/%.*s", STR_ARG(r->prefix),
                          STR_ARG(str_slice(below, 0, path_ending_at(below))));
    return true;
}

static bool page_value(struct including *g, str key, str *value)
{
    if (scalar_at(g, own_front(g), key, value))
        return true;
    str name = path_name(g->page.path);
    if (str_eq(key, STR("slug"))) {
        *value = str_slice(name, 0, path_ending_at(name));
        return true;
    }
    return str_eq(key, STR("url")) && address_of(g, value);
}

// What a name in braces stands for.
static bool value_of(struct including *g, str name, str *value)
{
    enum tree_values how = g->tree->values_are;
    const str *own = map_get(&g->tree->values, name);
    if (own) {
        *value = *own;
        return true;
    }
    if (how == VALUES_MACROS) {
        bool meta = str_starts(name, STR("page.meta."));
        return scalar_at(g, own_front(g), str_slice(name, meta ? 10 : 0, name.len), value);
    }
    if (how != VALUES_LIQUID)
        return false;
    if (str_starts(name, STR("page.")))
        return page_value(g, str_slice(name, 5, name.len), value);
    return str_starts(name, STR("site.data.")) &&
           data_value(g, str_slice(name, 10, name.len), value);
}

static str unquoted(str s)
{
    bool quoted = s.len > 1 && strchr("\"'`", s.ptr[0]) && s.ptr[s.len - 1] == s.ptr[0];
    return quoted ? str_slice(s, 1, s.len - 1) : s;
}

// Filters of Liquid whose result is known. Source: shopify.github.io/liquid/filters.
static bool apply(struct including *g, str filter, str *value)
{
    str name, argument = filter;
    if (!str_cut(&argument, ':', &name))
        return false;
    name = str_trim(name), argument = unquoted(str_trim(argument));
    size_t at = str_search(*value, argument);
    if (str_eq(name, STR("append")) || str_eq(name, STR("prepend"))) {
        bool behind = name.ptr[0] == 'a';
        *value = arena_join(g->a, behind ? *value : argument, behind ? argument : *value, STR_NONE);
    } else if (str_eq(name, STR("remove_first"))) {
        if (argument.len && at < value->len)
            *value = arena_join(g->a, str_slice(*value, 0, at),
                                str_slice(*value, at + argument.len, value->len), STR_NONE);
    } else if (str_eq(name, STR("strip"))) {
        *value = str_trim(*value);
    } else {
        return false;
    }
    return true;
}

// A name of letters, digits and dots; filters may follow. False for another expression.
static bool expression(struct including *g, str inside, str *value)
{
    size_t n = 0;
    while (inside.len && inside.ptr[0] == '-')
        inside = str_slice(inside, 1, inside.len);
    while (inside.len && inside.ptr[inside.len - 1] == '-')
        inside.len--;
    inside = str_trim(inside);
    while (n < inside.len && (ascii_is_alnum(inside.ptr[n]) || strchr("_.-", inside.ptr[n])))
        n++;
    str rest = str_trim(str_slice(inside, n, inside.len)), filter;
    bool filters = g->tree->values_are == VALUES_LIQUID;
    if (!n || !(ascii_is_letter(inside.ptr[0]) || inside.ptr[0] == '_') ||
        (rest.len && !(filters && rest.ptr[0] == '|')) ||
        !value_of(g, str_slice(inside, 0, n), value))
        return false;
    rest = str_slice(rest, rest.len > 0, rest.len);
    while (rest.len && str_cut(&rest, '|', &filter))
        if (!apply(g, filter, value))
            return false;
    return true;
}

bool include_shortcode_argument(str s, str *name, str *argument, str *rest, size_t *end)
{
    char mark = s.len > 6 && s.ptr[0] == '{' && s.ptr[1] == '{' ? s.ptr[2] : 0;
    if (mark != '<' && mark != '%')
        return false;
    str head = str_slice(s, 3, LONGEST_TAG);
    size_t close = str_search(head, mark == '<' ? STR(">}}") : STR("%}}"));
    if (close == head.len)
        return false;
    *end = 3 + close + 3;
    head = str_trim(str_slice(head, 0, close));
    size_t n = 0;
    while (n < head.len && !strchr(" \t\n", head.ptr[n]))
        n++;
    *name = str_slice(head, 0, n);
    head = str_trim(str_slice(head, n, head.len));
    char quote = head.len && strchr("\"'`", head.ptr[0]) ? head.ptr[0] : 0;
    for (n = quote != 0; n < head.len && (quote ? head.ptr[n] != quote : head.ptr[n] != ' ');)
        n++;
    n += quote && n < head.len;
    *argument = unquoted(str_slice(head, 0, n));
    *rest = str_trim(str_slice(head, n, head.len));
    return name->len && argument->len;
}

// What cascade of the pages above says: {version: 1}, {params: {version: 1}}, or a list of them.
static bool cascaded(struct including *g, const struct yaml_node *cascade, str name, str *value)
{
    for (size_t i = 0; cascade && cascade->kind == YAML_LIST && i < cascade->count; i++)
        if (!kind_get(cascade->items[i], "target") && !kind_get(cascade->items[i], "_target") &&
            cascaded(g, cascade->items[i], name, value))
            return true;
    bool map = cascade && cascade->kind == YAML_MAP;
    return map && (scalar_at(g, cascade, name, value) ||
                   scalar_at(g, kind_get(cascade, "params"), name, value));
}

static bool above(struct including *g, str name, str *value)
{
    str folder = path_folder(g->page.path);
    const struct tree_root *r = tree_root_of(g->tree, g->page.path);
    struct include_source in;
    for (; r && folder.len >= r->folder.len; folder = path_folder(folder)) {
        bool is_new;
        str file = arena_join(g->a, folder, STR("/"), STR("_index.md"));
        void **kept = map_put(&g->data, g->a, file, &is_new);
        if (is_new && !include_read_file(g, file, &in))
            *kept = (void *)(uintptr_t)front_of(g, in.text);
        if (*kept && cascaded(g, kind_get(*kept, "cascade"), name, value))
            return true;
        if (!folder.len)
            break;
    }
    return false;
}

// {{< param "name" >}}: of the page, of what lies above it, of the settings; in that order. Source:
// gohugo.io/shortcodes/param, gohugo.io/methods/page/param.
static bool param(struct including *g, str s, str *value, size_t *end)
{
    str tag, name, rest;
    if (!include_shortcode_argument(s, &tag, &name, &rest, end) || !str_eq(tag, STR("param")) ||
        rest.len)
        return false;
    if (scalar_at(g, own_front(g), name, value) ||
        (own_front(g) && scalar_at(g, kind_get(own_front(g), "params"), name, value)) ||
        above(g, name, value))
        return true;
    const struct tree_root *r = tree_root_of(g->tree, g->page.path);
    str lower = arena_str(g->a, name);
    for (size_t i = 0; i < lower.len; i++)
        if (lower.ptr[i] >= 'A' && lower.ptr[i] <= 'Z')
            ((char *)(uintptr_t)lower.ptr)[i] |= 32;
    const str *own =
        r && r->language.len
            ? map_get(&g->tree->values,
                      arena_printf(g->a, "%.*s %.*s", STR_ARG(r->language), STR_ARG(lower)))
            : NULL;
    if (!own)
        own = map_get(&g->tree->values, lower);
    if (own)
        *value = *own;
    return own != NULL;
}

// {{ $name }} of a file that a shortcode puts in: what the shortcode says.
static bool argument_of(struct including *g, str inside, str *value)
{
    str name = str_slice(inside, 1, inside.len);
    if (!g->depth || inside.len < 2 || inside.ptr[0] != '$')
        return false;
    str sought = arena_join(g->a, name, STR("="), STR_NONE);
    size_t at = str_search(g->arguments, sought);
    if (at == g->arguments.len || (at && g->arguments.ptr[at - 1] != ' '))
        return false;
    str words = str_slice(g->arguments, at + sought.len, g->arguments.len);
    bool quoted = words.len && strchr("\"'`", words.ptr[0]);
    size_t n = quoted ? 1 + str_find(str_slice(words, 1, words.len), words.ptr[0]) + 1
                      : str_find(words, ' ');
    *value = unquoted(str_slice(words, 0, n));
    return true;
}

// The tag at the head of s. *end is behind it.
static bool read_tag(struct including *g, str s, str *value, size_t *end)
{
    s = str_slice(s, 0, LONGEST_TAG);
    s = str_slice(s, 0, str_find(s, '\n'));
    if (!str_starts(s, STR("{{")))
        return false;
    *end = str_search(s, STR("}}")) + 2;
    str inside = *end <= s.len ? str_trim(str_slice(s, 2, *end - 2)) : STR_NONE;
    if (g->tree->values_are == VALUES_PARAM)
        return argument_of(g, inside, value) || param(g, s, value, end);
    return inside.len && inside.ptr[0] != '{' && expression(g, inside, value);
}

// {% raw %} and its end, between which nothing is read.
static bool is_raw(str s, bool *raw)
{
    size_t end = str_search(str_slice(s, 0, LONGEST_TAG), STR("%}"));
    if (!str_starts(s, STR("{%")) || end >= LONGEST_TAG || end == s.len)
        return false;
    str name = str_slice(s, 2, end);
    while (name.len && strchr("- \t", name.ptr[0]))
        name = str_slice(name, 1, name.len);
    while (name.len && strchr("- \t", name.ptr[name.len - 1]))
        name.len--;
    bool begins = str_eq(name, STR("raw")), ends = str_eq(name, STR("endraw"));
    if (begins || ends)
        *raw = begins;
    return begins || ends;
}

void include_put_values(struct including *g, const struct include_source *s, size_t from, size_t to)
{
    size_t done = from, end;
    str value;
    for (size_t at = from; at < to; at++) {
        at += str_find(str_slice(s->text, at, to), '{');
        str rest = str_slice(s->text, at, to);
        bool dollar = at > from && at <= to && s->text.ptr[at - 1] == '$';  // of a workflow
        if (dollar || is_raw(rest, &g->raw) || g->raw || !read_tag(g, rest, &value, &end))
            continue;
        include_put_made(g, s, done, str_slice(s->text, done, at));
        include_put_made(g, s, at, value);
        done = at + end, at = done - 1;
    }
    include_put_made(g, s, done, str_slice(s->text, done, to));
}

str include_expand(struct including *g, const struct include_source *s, str words)
{
    if (!include_may_name(g->tree, words))
        return words;
    struct include_source in = {s->path, s->file, words};
    struct including kept = *g;
    g->out = BUF_INIT, g->pieces = NULL, g->count = g->cap = 0;
    include_put_values(g, &in, 0, words.len);
    str out = arena_str(g->a, buf_view(&g->out));
    buf_free(&g->out);
    g->out = kept.out, g->pieces = kept.pieces, g->count = kept.count, g->cap = kept.cap;
    return out;
}
