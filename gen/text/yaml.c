// YAML as a tree of views, by libyaml: events become nodes, and places in characters become places
// in bytes.
#include "gen/text/yaml.h"

#include "gen/base/map.h"

#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 32 };

struct anchor {
    str name;
    struct yaml_node *node;
    struct anchor *next;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool have_event;
    str text, file;  // text ends where the document ends
    size_t from;
    bool ascii;               // then characters are bytes
    size_t at_char, at_byte;  // a pair that is known to belong together
    arena *a;
    struct diag *d;
    struct anchor *anchors;
};

static size_t byte_offset(struct reader *r, size_t index)
{
    if (r->ascii)
        return r->from + index;
    if (index < r->at_char)
        r->at_char = 0, r->at_byte = r->from;
    while (r->at_char < index && r->at_byte < r->text.len) {
        r->at_byte++;
        while (r->at_byte < r->text.len && ((unsigned char)r->text.ptr[r->at_byte] & 0xC0) == 0x80)
            r->at_byte++;
        r->at_char++;
    }
    return r->at_byte;
}

static bool fail(struct reader *r, size_t offset, const char *what)
{
    diag_add(r->d, D_YAML_SYNTAX, DIAG_AT(r->file, r->text, offset), "%s", what);
    return false;
}

static bool fail_parser(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "cannot be read";
    if (p->error == YAML_READER_ERROR)
        return fail(r, r->from + p->problem_offset, problem);
    size_t at = byte_offset(r, p->problem_mark.index);
    if (at < r->text.len)
        return fail(r, at, problem);
    for (at = r->text.len; at && strchr(" \t\r\n", r->text.ptr[at - 1]);)
        at--;  // behind the last thing that is there
    return fail(r, at, problem);
}

static bool next_event(struct reader *r)
{
    if (r->have_event)
        yaml_event_delete(&r->event);
    r->have_event = yaml_parser_parse(&r->parser, &r->event) != 0;
    return r->have_event || fail_parser(r);
}

static struct yaml_node *node_new(struct reader *r, enum yaml_kind kind)
{
    struct yaml_node *n = arena_new(r->a, struct yaml_node, 1);
    const yaml_char_t *tag = kind == YAML_SCALAR ? r->event.data.scalar.tag
                             : kind == YAML_LIST ? r->event.data.sequence_start.tag
                                                 : r->event.data.mapping_start.tag;
    n->kind = kind;
    n->tag = tag ? arena_str(r->a, str_c((const char *)tag)) : STR_NONE;
    n->offset = byte_offset(r, r->event.start_mark.index);
    return n;
}

static void remember_anchor(struct reader *r, const yaml_char_t *name, struct yaml_node *n)
{
    if (!name)
        return;
    struct anchor *anchor = arena_new(r->a, struct anchor, 1);
    *anchor = (struct anchor){arena_str(r->a, str_c((const char *)name)), n, r->anchors};
    r->anchors = anchor;
}

static bool read_alias(struct reader *r, struct yaml_node **out)
{
    str name = str_c((const char *)r->event.data.alias.anchor);
    for (struct anchor *s = r->anchors; s; s = s->next)
        if (str_eq(s->name, name)) {
            *out = s->node;
            return true;
        }
    return fail(r, byte_offset(r, r->event.start_mark.index), "an alias without its anchor");
}

// "!ENV NAME" and "!ENV [NAME, OTHER, what else]" are a variable of the environment, which is not
// asked: nothing, or what stands there for none. Source: pyyaml_env_tag.construct_env_tag.
static bool is_variable(const yaml_char_t *tag)
{
    return tag && !strcmp((const char *)tag, "!ENV");
}

static struct yaml_node *without_variable(struct reader *r, struct yaml_node *n)
{
    if (n->kind == YAML_LIST && n->count > 1)
        return n->items[n->count - 1];
    struct yaml_node *nothing = arena_new(r->a, struct yaml_node, 1);
    *nothing = (struct yaml_node){.kind = YAML_SCALAR, .plain = true, .offset = n->offset};
    return nothing;
}

static bool read_scalar(struct reader *r, struct yaml_node **out)
{
    struct yaml_node *n = node_new(r, YAML_SCALAR);
    n->text = arena_str(
        r->a, (str){(const char *)r->event.data.scalar.value, r->event.data.scalar.length});
    n->plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (is_variable(r->event.data.scalar.tag))
        n = without_variable(r, n);
    remember_anchor(r, r->event.data.scalar.anchor, n);
    *out = n;
    return true;
}

static bool read_node(struct reader *r, int depth, struct yaml_node **out);

static bool read_list(struct reader *r, int depth, struct yaml_node **out)
{
    struct yaml_node *n = node_new(r, YAML_LIST);
    char *anchor = r->event.data.sequence_start.anchor
                       ? arena_c(r->a, str_c((const char *)r->event.data.sequence_start.anchor))
                       : NULL;
    bool variable = is_variable(r->event.data.sequence_start.tag);
    size_t cap = 0;
    for (;;) {
        if (!next_event(r))
            return false;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        n->items = arena_grow(r->a, n->items, n->count, &cap, n->count + 1, sizeof *n->items);
        if (!read_node(r, depth + 1, &n->items[n->count]))
            return false;
        n->count++;
    }
    if (variable)
        n = without_variable(r, n);
    remember_anchor(r, (const yaml_char_t *)anchor, n);
    *out = n;
    return true;
}

// The place of a key that the map has already; map->count for a new one.
static size_t key_place(struct reader *r, const struct yaml_node *map, const struct yaml_node *key,
                        struct map *seen)
{
    if (map->count < 16) {  // a few: compare; many: a map, so that no input makes this slow
        size_t i = 0;
        while (i < map->count && !str_eq(map->pairs[i].key->text, key->text))
            i++;
        return i;
    }
    if (seen->count == 0)
        for (size_t i = 0; i < map->count; i++)
            map_put(seen, r->a, map->pairs[i].key->text, NULL);
    bool is_new = true;
    map_put(seen, r->a, key->text, &is_new);
    for (size_t i = 0; !is_new && i < map->count; i++)
        if (str_eq(map->pairs[i].key->text, key->text))
            return i;
    return map->count;
}

// The last of two values counts, as for Ruby and for Python.
static void add_pair(struct reader *r, struct yaml_node *map, size_t *cap, struct map *seen,
                     struct yaml_pair pair)
{
    size_t place = key_place(r, map, pair.key, seen);
    if (place < map->count) {
        diag_add(r->d, D_YAML_TWICE, DIAG_AT(r->file, r->text, pair.key->offset), "%.*s",
                 STR_ARG(pair.key->text));
        map->pairs[place].value = pair.value;
        return;
    }
    map->pairs = arena_grow(r->a, map->pairs, map->count, cap, map->count + 1, sizeof *map->pairs);
    map->pairs[map->count++] = pair;
}

static bool read_map(struct reader *r, int depth, struct yaml_node **out)
{
    struct yaml_node *n = node_new(r, YAML_MAP);
    char *anchor = r->event.data.mapping_start.anchor
                       ? arena_c(r->a, str_c((const char *)r->event.data.mapping_start.anchor))
                       : NULL;
    size_t cap = 0;
    struct map seen = {0};
    for (;;) {
        struct yaml_node *key = NULL, *value = NULL;
        if (!next_event(r))
            return false;
        if (r->event.type == YAML_MAPPING_END_EVENT)
            break;
        if (!read_node(r, depth + 1, &key))
            return false;
        if (key->kind != YAML_SCALAR)
            return fail(r, key->offset, "a key that is not a word");
        if (!next_event(r) || !read_node(r, depth + 1, &value))
            return false;
        add_pair(r, n, &cap, &seen, (struct yaml_pair){key, value});
    }
    remember_anchor(r, (const yaml_char_t *)anchor, n);
    *out = n;
    return true;
}

// The event that starts the node has been read.
static bool read_node(struct reader *r, int depth, struct yaml_node **out)
{
    if (depth > MAX_DEPTH)
        return fail(r, byte_offset(r, r->event.start_mark.index), "nested too deeply");
    switch (r->event.type) {
    case YAML_ALIAS_EVENT: return read_alias(r, out);
    case YAML_SCALAR_EVENT: return read_scalar(r, out);
    case YAML_SEQUENCE_START_EVENT: return read_list(r, depth, out);
    case YAML_MAPPING_START_EVENT: return read_map(r, depth, out);
    default: return fail(r, byte_offset(r, r->event.start_mark.index), "unexpected here");
    }
}

static bool read_document(struct reader *r, struct yaml_node **out)
{
    *out = NULL;
    if (!next_event(r) || !next_event(r))
        return false;  // stream start, document start
    if (r->event.type == YAML_STREAM_END_EVENT)
        return true;
    if (!next_event(r) || !read_node(r, 0, out))
        return false;
    if (!next_event(r) || !next_event(r))
        return false;  // document end, stream end
    if (r->event.type != YAML_STREAM_END_EVENT)
        return fail(r, byte_offset(r, r->event.start_mark.index), "a second document in one file");
    return true;
}

static bool is_ascii(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] >= 0x80)
            return false;
    return true;
}

bool yaml_parse(str text, size_t from, size_t to, str file, arena *a, struct diag *d,
                struct yaml_node **out)
{
    struct reader r = {
        .text = {text.ptr, to}, .file = file, .from = from, .at_byte = from, .a = a, .d = d};
    *out = NULL;
    if (from >= to)
        return true;
    r.ascii = is_ascii(str_slice(text, from, to));
    if (!yaml_parser_initialize(&r.parser))
        return fail(&r, from, "out of memory");
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.ptr + from, to - from);
    bool ok = read_document(&r, out);
    if (r.have_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return ok;
}

bool yaml_is_null(const struct yaml_node *n)
{
    return n->kind == YAML_SCALAR && n->plain &&
           (n->text.len == 0 || str_eq(n->text, STR("~")) || str_eq_nocase(n->text, STR("null")));
}

bool yaml_bool(const struct yaml_node *n, bool *out)
{
    if (n->kind != YAML_SCALAR || !n->plain)
        return false;
    *out = str_eq_nocase(n->text, STR("true"));
    return *out || str_eq_nocase(n->text, STR("false"));
}
