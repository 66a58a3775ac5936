// Front matter: finds the YAML between --- lines or the TOML between +++ lines, reads it, and puts
// known keys into typed fields; every key stays a pair.
#include "gen/text/front.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "gen/text/front_lines.h"
#include "gen/text/front_toml.h"
#include "gen/text/yaml.h"

enum field_type { TYPE_STR, TYPE_BOOL, TYPE_FLAG, TYPE_INT, TYPE_DATE, TYPE_LIST };

struct list {
    str *items;
    size_t count;
};

struct field {
    const char *name;
    size_t len;
    enum field_type type;
    size_t offset;
};

static const struct field fields[] = {
#define X(name, type, help) {#name, sizeof(#name) - 1, TYPE_##type, offsetof(struct front, name)},
#include "gen/text/front.def"
#undef X
};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

static const struct field *field_find(str key)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (key.len == fields[i].len && memcmp(key.ptr, fields[i].name, key.len) == 0)
            return &fields[i];
    return NULL;
}

static void set_absent(struct front *f)
{
    *f = (struct front){0};
#define ABSENT_STR(name)
#define ABSENT_LIST(name)
#define ABSENT_BOOL(name) f->name = -1;
#define ABSENT_FLAG(name) f->name = -1;
#define ABSENT_INT(name) f->name = INT64_MIN;
#define ABSENT_DATE(name) f->name = INT64_MIN;
#define X(name, type, help) ABSENT_##type(name)
#include "gen/text/front.def"
#undef X
#undef ABSENT_DATE
#undef ABSENT_INT
#undef ABSENT_FLAG
#undef ABSENT_BOOL
#undef ABSENT_LIST
#undef ABSENT_STR
}

static bool parse_int(str s, int64_t *out)
{
    uint64_t v;
    bool minus = s.len && s.ptr[0] == '-';
    if (!str_u64(str_slice(s, minus, s.len), &v) || v > INT32_MAX)
        return false;
    *out = minus ? -(int64_t)v : (int64_t)v;
    return true;
}

struct target {
    str text, file;
    arena *a;
    struct diag *d;
    struct front *f;
};

static void bad_type(const struct target *t, const struct field *field, size_t offset,
                     const char *wanted)
{
    diag_add(t->d, D_FRONT_TYPE, DIAG_AT(t->file, t->text, offset), "%s: wanted %s", field->name,
             wanted);
}

static void set_list(const struct target *t, const struct field *field, const struct yaml_node *v)
{
    struct list *l = (struct list *)(void *)((char *)t->f + field->offset);
    size_t n = v->kind == YAML_LIST ? v->count : 1;
    if (v->kind == YAML_MAP) {
        bad_type(t, field, v->offset, "a list");
        return;
    }
    l->items = arena_new(t->a, str, n);
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *item = v->kind == YAML_LIST ? v->items[i] : v;
        if (item->kind != YAML_SCALAR)
            bad_type(t, field, item->offset, "a list of words");
        else if (!yaml_is_null(item))
            l->items[l->count++] = item->text;
    }
}

// The words of a value that is more than one: what a person or a picture in a map is called, and
// such in a list.
static void put_words(const struct yaml_node *v, buf *out, int depth)
{
    static const char *const names[] = {"name", "path", "src", "url", "title", "file", "default"};
    if (depth > 3)
        return;
    if (v->kind == YAML_SCALAR && out->len && v->text.len)
        buf_lit(out, ", ");
    if (v->kind == YAML_SCALAR)
        buf_str(out, v->text);
    for (size_t i = 0; v->kind == YAML_LIST && i < v->count; i++)
        put_words(v->items[i], out, depth + 1);
    for (size_t n = 0; v->kind == YAML_MAP && n < sizeof names / sizeof *names; n++)
        for (size_t i = 0; i < v->count; i++)
            if (str_eq(v->pairs[i].key->text, str_c(names[n]))) {
                put_words(v->pairs[i].value, out, depth + 1);
                return;
            }
}

// "false" for a picture or a sound means that there is none.
static void set_str(const struct target *t, const struct field *field, const struct yaml_node *v)
{
    str *to = (str *)(void *)((char *)t->f + field->offset);
    bool b;
    if (v->kind == YAML_SCALAR) {
        *to = yaml_bool(v, &b) && !b ? STR_NONE : v->text;
        return;
    }
    buf words = BUF_INIT;
    put_words(v, &words, 0);
    *to = arena_str(t->a, buf_view(&words));
    if (!to->len && v->count)
        bad_type(t, field, v->offset, "one value");
    buf_free(&words);
}

// Of YAML 1.1 and of people who quote.
static bool read_bool(const struct yaml_node *v, bool *out)
{
    static const struct {
        str word;
        bool value;
    } words[] = {{STR("true"), true},   {STR("yes"), true}, {STR("on"), true},   {STR("1"), true},
                 {STR("false"), false}, {STR("no"), false}, {STR("off"), false}, {STR("0"), false}};
    for (size_t i = 0; v->kind == YAML_SCALAR && i < sizeof words / sizeof *words; i++)
        if (str_eq_nocase(v->text, words[i].word))
            return *out = words[i].value, true;
    return false;
}

// date: {created: 2026-05-31, updated: ...} of MkDocs' blog.
static const struct yaml_node *created(const struct yaml_node *map)
{
    for (size_t i = 0; i < map->count; i++)
        if (str_eq(map->pairs[i].key->text, STR("created")))
            return map->pairs[i].value;
    return map;
}

static void set_field(const struct target *t, const struct field *field, const struct yaml_node *v)
{
    char *to = (char *)t->f + field->offset;
    bool b, read = read_bool(v, &b);
    if (yaml_is_null(v) || (field->type == TYPE_FLAG && !read))
        return;
    if (field->type == TYPE_BOOL && v->kind != YAML_SCALAR) {
        *(int8_t *)to = v->count > 0;  // toc: {min: 2}
        return;
    }
    switch (field->type) {
    case TYPE_LIST: set_list(t, field, v); return;
    case TYPE_STR: set_str(t, field, v); return;
    case TYPE_INT:
        if (v->kind != YAML_SCALAR || !parse_int(v->text, (int64_t *)(void *)to))
            bad_type(t, field, v->offset, "a whole number");
        return;
    case TYPE_DATE:
        v = v->kind == YAML_MAP ? created(v) : v;
        if (v->kind != YAML_SCALAR ||
            (v->text.len && !read && !front_date(v->text, (int64_t *)(void *)to)))
            bad_type(t, field, v->offset, "a date such as 2026-05-31");
        return;
    default: break;
    }
    if (read)
        *(int8_t *)to = b;
    else
        bad_type(t, field, v->offset, "true or false");
}

enum { MAX_FLAT = 65536 };  // of what aliases of aliases would make much more

// A value as one line of text: a scalar as written, a list joined by commas, a map as "key: value"
// pairs.
static void flatten(const struct yaml_node *v, buf *out, int depth)
{
    if (v->kind == YAML_SCALAR) {
        buf_str(out, v->text);
        return;
    }
    for (size_t i = 0; i < v->count && depth < 4 && out->len < MAX_FLAT; i++) {
        if (i)
            buf_lit(out, ", ");
        if (v->kind == YAML_MAP) {
            buf_str(out, v->pairs[i].key->text);
            buf_lit(out, ": ");
        }
        flatten(v->kind == YAML_MAP ? v->pairs[i].value : v->items[i], out, depth + 1);
    }
}

static void fill(const struct target *t, const struct yaml_node *map)
{
    struct front *f = t->f;
    f->pairs = arena_new(t->a, struct front_pair, map->count);
    for (size_t i = 0; i < map->count; i++) {
        const struct yaml_node *key = map->pairs[i].key, *value = map->pairs[i].value;
        const struct field *field = field_find(key->text);
        str flat = value->text;
        if (field)
            set_field(t, field, value);
        if (value->kind != YAML_SCALAR) {
            buf b = BUF_INIT;
            flatten(value, &b, 0);
            flat = arena_str(t->a, buf_view(&b));
            buf_free(&b);
        }
        f->pairs[f->pair_count++] = (struct front_pair){key->text, flat, key->offset};
    }
}

static bool is_fence(str line, str mark)
{
    while (line.len && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\t'))
        line.len--;
    return str_eq(line, mark);
}

// Whether a line closes a block: the mark, "..." of YAML, or where loose, as Hugo has it, a longer
// line of dashes. Source: Hugo, parser/pageparser/pagelexer_intro.go (a prefix is enough).
static bool is_close(str line, str mark, bool loose)
{
    bool yaml = str_eq(mark, STR("---"));
    line = str_trim(line);
    if (is_fence(line, mark) || (yaml && str_eq(line, STR("..."))))
        return true;
    size_t dashes = 0;
    while (dashes < line.len && line.ptr[dashes] == '-')
        dashes++;
    return loose && yaml && dashes > 3 && dashes == line.len;
}

// The end of a block that begins at from; *body is behind the line that closes it. False without.
static bool find_close(str text, size_t from, str mark, bool loose, size_t *to, size_t *body)
{
    str rest = str_slice(text, from, text.len), line;
    for (;;) {
        *to = text.len - rest.len;
        if (!str_line(&rest, &line))
            return false;
        if (is_close(line, mark, loose))
            return *body = text.len - rest.len, true;
    }
}

// The block is text[*from, *to) between two lines of *mark, --- for YAML or +++ for TOML; *body is
// behind the second. False when it is not closed.
static bool find_block(str text, str *mark, size_t *from, size_t *to, size_t *body)
{
    str rest = text, line;
    if (str_starts(rest, STR("\xEF\xBB\xBF")))
        rest = str_slice(rest, 3, rest.len);
    *from = *to = *body = (size_t)(rest.ptr - text.ptr);
    *mark = str_starts(rest, STR("+++")) ? STR("+++") : STR("---");
    if (!str_starts(rest, *mark) || !str_line(&rest, &line) || !is_fence(line, *mark))
        return true;
    *from = text.len - rest.len;
    if (find_close(text, *from, *mark, false, to, body))
        return true;
    str_line(&rest, &line);  // "title: x" is no text above a line that makes it a heading
    return str_has(line, STR(": ")) && find_close(text, *from, *mark, true, to, body);
}

// {"title": "..."} at the head of a file, as Hugo has it: YAML reads it, too. The end of the
// object; 0 when it is none.
static size_t json_end(str text, size_t from)
{
    size_t at = from + 1, depth = 0;
    bool quoted = false;
    while (at < text.len && strchr(" \t\r\n", text.ptr[at]))
        at++;
    if (from >= text.len || text.ptr[from] != '{' || at >= text.len || text.ptr[at] != '"')
        return 0;
    for (at = from; at < text.len; at++) {
        char c = text.ptr[at];
        if (quoted && c == '\\')
            at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && c == '{')
            depth++;
        else if (!quoted && c == '}' && !--depth)
            return at + 1;
    }
    return 0;
}

static bool find_json(str text, size_t *from, size_t *to, size_t *body)
{
    size_t start = str_starts(text, STR("\xEF\xBB\xBF")) ? 3 : 0, end = json_end(text, start);
    size_t line = end + str_find(str_slice(text, end, text.len), '\n');
    if (!end || str_trim(str_slice(text, end, line)).len)
        return false;
    *from = start, *to = end, *body = line + (line < text.len);
    return true;
}

// Front matter that is the whole file may lack its last line: keys of YAML to the end, as
// gray-matter reads them, which VitePress and Docusaurus use.
static bool read_whole(str text, size_t from, str file, arena *a, struct yaml_node **map)
{
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    bool keys = yaml_parse(text, from, text.len, file, a, quiet, map) && *map &&
                (*map)->kind == YAML_MAP && (*map)->count;
    diag_free(quiet);
    for (size_t i = 0; keys && i < (*map)->count; i++)
        keys = str_find((*map)->pairs[i].key->text, ' ') == (*map)->pairs[i].key->text.len;
    return keys;
}

bool front_map(str text, str file, arena *a, struct diag *d, struct yaml_node **map, size_t *body)
{
    size_t from, to;
    str mark;
    *map = NULL;
    bool closed = find_block(text, &mark, &from, &to, body), yaml = mark.ptr[0] == '-';
    if (!closed && yaml && read_whole(text, from, file, a, map))
        return *body = text.len, true;
    yaml = yaml && closed && from < to;
    return yaml && yaml_parse(text, from, to, file, a, d, map) && *map && (*map)->kind == YAML_MAP;
}

bool front_parse_tree(str text, str file, arena *a, struct diag *d, struct front *out, unsigned how)
{
    struct target t = {text, file, a, d, out};
    struct yaml_node *map = NULL;
    size_t from, to;
    str mark;
    set_absent(out);
    if (!find_block(text, &mark, &from, &to, &out->body)) {
        if (how & FRONT_OPEN && str_eq(mark, STR("---")) && read_whole(text, from, file, a, &map)) {
            out->body = text.len;
            fill(&t, map);
            return true;
        }
        diag_add(d, D_FRONT_UNCLOSED, DIAG_AT(file, text, 0),
                 "the first line is %.*s, and no later line is", STR_ARG(mark));
        return true;
    }
    bool toml = str_eq(mark, STR("+++")),
         json = from == to && find_json(text, &from, &to, &out->body);
    if (from == to)
        return true;
    if (toml && !front_toml(text, from, to, file, a, d, &map))
        return false;
    if (!toml && !(how & FRONT_BY_LINES && !json && front_lines(text, from, to, a, &map)) &&
        !yaml_parse(text, from, to, file, a, d, &map))
        return false;
    if (!map || yaml_is_null(map))
        return true;
    if (map->kind != YAML_MAP) {
        diag_add(d, D_FRONT_TYPE, DIAG_AT(file, text, map->offset), "wanted key: value lines");
        return true;
    }
    fill(&t, map);
    return true;
}

bool front_parse(str text, str file, arena *a, struct diag *d, struct front *out)
{
    return front_parse_tree(text, file, a, d, out, FRONT_BY_LINES);
}
