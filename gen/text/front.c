// Front matter: finds the YAML between --- lines or the TOML between +++ lines, reads it, and puts known keys into typed fields;
// every key stays a pair.
#include "gen/text/front.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "gen/text/front_lines.h"
#include "gen/text/front_toml.h"
#include "gen/text/yaml.h"

enum field_type { TYPE_STR, TYPE_BOOL, TYPE_FLAG, TYPE_INT, TYPE_DATE, TYPE_LIST };

struct list { str *items; size_t count; };

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
        if (key.len == fields[i].len && memcmp(key.ptr, fields[i].name, key.len) == 0) return &fields[i];
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

static bool digits(str s, size_t at, size_t n, int64_t *out)
{
    int64_t v = 0;
    if (at + n > s.len) return false;
    for (size_t i = at; i < at + n; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
        v = v * 10 + (s.ptr[i] - '0');
    }
    *out = v;
    return true;
}

// Days since 1970-01-01 in the proleptic Gregorian calendar.
// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static int64_t month_days(int64_t y, int64_t m)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    return days[m - 1] + (m == 2 && leap);
}

// "Z", "+02:00", "+0200" or "-3" behind a time, as seconds to subtract.
static bool parse_zone(str s, int64_t *seconds)
{
    int64_t h = 0, m = 0;
    s = str_trim(s);
    *seconds = 0;
    if (s.len == 0 || (s.len == 1 && (s.ptr[0] == 'Z' || s.ptr[0] == 'z'))) return true;
    if (s.ptr[0] != '+' && s.ptr[0] != '-') return false;
    size_t n = s.len == 2 ? 1 : 2;
    if (!digits(s, 1, n, &h)) return false;
    size_t rest = 1 + n + (s.len > 1 + n && s.ptr[1 + n] == ':');
    if (rest < s.len && (s.len - rest != 2 || !digits(s, rest, 2, &m))) return false;
    if (h > 14 || m > 59) return false;
    *seconds = (h * 60 + m) * 60 * (s.ptr[0] == '-' ? -1 : 1);
    return true;
}

// The time behind a date: "T10:20", " 10:20:30.5 +0200".
static bool parse_time(str s, int64_t *seconds)
{
    int64_t h, m, sec = 0, zone;
    if (s.ptr[0] != 'T' && s.ptr[0] != 't' && s.ptr[0] != ' ') return false;
    while (s.len > 1 && s.ptr[1] == ' ') s = str_slice(s, 1, s.len);
    if (!digits(s, 1, 2, &h) || s.len < 6 || s.ptr[3] != ':' || !digits(s, 4, 2, &m)) return false;
    size_t at = 6;
    if (at < s.len && s.ptr[at] == ':') {
        if (!digits(s, at + 1, 2, &sec)) return false;
        at += 3;
        if (at < s.len && s.ptr[at] == '.')
            for (at++; at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9';) at++;
    }
    if (h > 23 || m > 59 || sec > 60 || !parse_zone(str_slice(s, at, s.len), &zone)) return false;
    *seconds = h * 3600 + m * 60 + sec - zone;
    return true;
}

bool front_date(str s, int64_t *out)
{
    int64_t y, m, d, seconds = 0;
    if (!digits(s, 0, 4, &y) || !digits(s, 5, 2, &m) || !digits(s, 8, 2, &d)) return false;
    if (s.ptr[4] != '-' || s.ptr[7] != '-' || m < 1 || m > 12 || d < 1 || d > month_days(y, m)) return false;
    if (s.len > 10 && !parse_time(str_slice(s, 10, s.len), &seconds)) return false;
    *out = days_from_civil(y, m, d) * 86400 + seconds;
    return true;
}

static bool parse_int(str s, int64_t *out)
{
    uint64_t v;
    bool minus = s.len && s.ptr[0] == '-';
    if (!str_u64(str_slice(s, minus, s.len), &v) || v > INT32_MAX) return false;
    *out = minus ? -(int64_t)v : (int64_t)v;
    return true;
}

struct target { str text, file; arena *a; struct diag *d; struct front *f; };

static bool bad_type(const struct target *t, const struct field *field, size_t offset, const char *wanted)
{
    diag_add(t->d, D_FRONT_TYPE, DIAG_AT(t->file, t->text, offset), "%s: wanted %s", field->name, wanted);
    return false;
}

static bool set_list(const struct target *t, const struct field *field, const struct yaml_node *v)
{
    struct list *l = (struct list *)(void *)((char *)t->f + field->offset);
    size_t n = v->kind == YAML_LIST ? v->count : 1;
    if (v->kind == YAML_MAP) return bad_type(t, field, v->offset, "a list");
    l->items = arena_new(t->a, str, n);
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *item = v->kind == YAML_LIST ? v->items[i] : v;
        if (item->kind != YAML_SCALAR) return bad_type(t, field, item->offset, "a list of words");
        l->items[l->count++] = item->text;
    }
    return true;
}

// "false" for a picture or a sound means that there is none.
static void set_str(char *to, const struct yaml_node *v)
{
    bool b;
    *(str *)(void *)to = yaml_bool(v, &b) && !b ? STR_NONE : v->text;
}

static bool set_field(const struct target *t, const struct field *field, const struct yaml_node *v)
{
    char *to = (char *)t->f + field->offset;
    bool b, read = yaml_bool(v, &b);
    if (yaml_is_null(v) || (field->type == TYPE_FLAG && !read)) return true;
    if (field->type == TYPE_LIST) return set_list(t, field, v);
    if (v->kind != YAML_SCALAR) return bad_type(t, field, v->offset, "one value");
    switch (field->type) {
    case TYPE_STR: set_str(to, v); return true;
    case TYPE_INT: return parse_int(v->text, (int64_t *)(void *)to) || bad_type(t, field, v->offset, "a whole number");
    case TYPE_DATE:
        return front_date(v->text, (int64_t *)(void *)to)
            || bad_type(t, field, v->offset, "a date such as 2026-05-31");
    default: break;
    }
    if (!read) return bad_type(t, field, v->offset, "true or false");
    *(int8_t *)to = b;
    return true;
}

// A value as one line of text: a scalar as written, a list joined by commas, a map as "key: value" pairs.
static void flatten(const struct yaml_node *v, buf *out, int depth)
{
    if (v->kind == YAML_SCALAR) { buf_str(out, v->text); return; }
    for (size_t i = 0; i < v->count && depth < 4; i++) {
        if (i) buf_lit(out, ", ");
        if (v->kind == YAML_MAP) {
            buf_str(out, v->pairs[i].key->text);
            buf_lit(out, ": ");
        }
        flatten(v->kind == YAML_MAP ? v->pairs[i].value : v->items[i], out, depth + 1);
    }
}

static bool fill(const struct target *t, const struct yaml_node *map)
{
    bool ok = true;
    struct front *f = t->f;
    f->pairs = arena_new(t->a, struct front_pair, map->count);
    for (size_t i = 0; i < map->count; i++) {
        const struct yaml_node *key = map->pairs[i].key, *value = map->pairs[i].value;
        const struct field *field = field_find(key->text);
        str flat = value->text;
        if (field) ok = set_field(t, field, value) && ok;
        if (value->kind != YAML_SCALAR) {
            buf b = BUF_INIT;
            flatten(value, &b, 0);
            flat = arena_str(t->a, buf_view(&b));
            buf_free(&b);
        }
        f->pairs[f->pair_count++] = (struct front_pair){key->text, flat, key->offset};
    }
    return ok;
}

static bool is_fence(str line, str mark)
{
    while (line.len && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\t')) line.len--;
    return str_eq(line, mark);
}

// The block is text[*from, *to) between two lines of *mark, --- for YAML or +++ for TOML; *body is behind the second. False when
// it is not closed.
static bool find_block(str text, str *mark, size_t *from, size_t *to, size_t *body)
{
    str rest = text, line;
    if (str_starts(rest, STR("\xEF\xBB\xBF"))) rest = str_slice(rest, 3, rest.len);
    *from = *to = *body = (size_t)(rest.ptr - text.ptr);
    *mark = str_starts(rest, STR("+++")) ? STR("+++") : STR("---");
    if (!str_starts(rest, *mark) || !str_line(&rest, &line) || !is_fence(line, *mark)) return true;
    *from = text.len - rest.len;
    for (;;) {
        *to = text.len - rest.len;
        if (!str_line(&rest, &line)) return false;
        bool is_end = str_eq(*mark, STR("---")) && str_eq(str_trim(line), STR("..."));
        if (is_fence(line, *mark) || is_end) break;
    }
    *body = text.len - rest.len;
    return true;
}

bool front_parse_tree(str text, str file, arena *a, struct diag *d, struct front *out, bool by_lines)
{
    struct target t = {text, file, a, d, out};
    struct yaml_node *map = NULL;
    size_t from, to;
    str mark;
    set_absent(out);
    if (!find_block(text, &mark, &from, &to, &out->body)) {
        diag_add(d, D_FRONT_UNCLOSED, DIAG_AT(file, text, 0), "the first line is %.*s, and no later line is", STR_ARG(mark));
        return false;
    }
    if (from == to) return true;
    if (str_eq(mark, STR("+++"))) front_toml(text, from, to, a, &map);
    else if (!(by_lines && front_lines(text, from, to, a, &map)) && !yaml_parse(text, from, to, file, a, d, &map))
        return false;
    if (!map || yaml_is_null(map)) return true;
    if (map->kind != YAML_MAP) {
        diag_add(d, D_FRONT_TYPE, DIAG_AT(file, text, map->offset), "wanted key: value lines");
        return false;
    }
    return fill(&t, map);
}

bool front_parse(str text, str file, arena *a, struct diag *d, struct front *out)
{
    return front_parse_tree(text, file, a, d, out, true);
}
