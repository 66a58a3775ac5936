// Front matter in TOML, between +++ lines: the keys above the first table whose values stand on their line. What is longer (a
// multi-line string or list, a table) is passed over.
#include "gen/text/front_toml.h"

#include <string.h>

enum { MAX_PAIRS = 64 };

static bool is_key_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// Where a string that opens at from ends, behind its closing quote; line.len when it does not.
static size_t string_end(str line, size_t from)
{
    char quote = line.ptr[from];
    for (size_t i = from + 1; i < line.len; i++) {
        if (line.ptr[i] == '\\' && quote == '"') i++;
        else if (line.ptr[i] == quote) return i + 1;
    }
    return line.len + 1;
}

static str unescaped(str s, arena *a)
{
    static const char from[] = "btnfr", to[] = "\b\t\n\f\r";
    buf b = BUF_INIT;
    for (size_t i = 0; i < s.len; i++) {
        const char *known = s.ptr[i] == '\\' && i + 1 < s.len ? strchr(from, s.ptr[i + 1]) : NULL;
        if (s.ptr[i] == '\\' && i + 1 < s.len) i++;
        buf_char(&b, known ? to[known - from] : s.ptr[i]);
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

// One string or bare value of line from *at on, which moves behind it. False for anything else.
static bool read_scalar(str line, size_t *at, size_t offset, arena *a, struct yaml_node *out)
{
    size_t from = *at, end = from;
    char c = from < line.len ? line.ptr[from] : 0;
    if (c == '"' || c == '\'') {
        end = string_end(line, from);
        bool is_long = from + 2 < line.len && line.ptr[from + 1] == c && line.ptr[from + 2] == c;
        if (end > line.len || is_long) return false;
        str inside = str_slice(line, from + 1, end - 1);
        *out = (struct yaml_node){.offset = offset + from, .text = c == '"' ? unescaped(inside, a) : inside};
    } else {
        while (end < line.len && !strchr(",]#[{\"'", line.ptr[end])) end++;
        *out = (struct yaml_node){.plain = true, .offset = offset + from, .text = str_trim(str_slice(line, from, end))};
    }
    *at = end;
    return end > from;
}

static void skip_spaces(str line, size_t *at)
{
    while (*at < line.len && (line.ptr[*at] == ' ' || line.ptr[*at] == '\t')) ++*at;
}

// ["a", "b"] on one line.
static bool read_list(str line, size_t *at, size_t offset, arena *a, struct yaml_node *out)
{
    size_t cap = 0;
    *out = (struct yaml_node){.kind = YAML_LIST, .offset = offset + *at};
    for (++*at;; ++*at) {
        skip_spaces(line, at);
        if (*at < line.len && line.ptr[*at] == ']') return ++*at, true;
        struct yaml_node *item = arena_new(a, struct yaml_node, 1);
        if (!read_scalar(line, at, offset, a, item)) return false;
        out->items = arena_grow(a, out->items, out->count, &cap, out->count + 1, sizeof *out->items);
        out->items[out->count++] = item;
        skip_spaces(line, at);
        if (*at < line.len && line.ptr[*at] == ']') return ++*at, true;
        if (*at >= line.len || line.ptr[*at] != ',') return false;
    }
}

static bool read_pair(str line, size_t offset, arena *a, struct yaml_node *key, struct yaml_node *value)
{
    size_t at = 0;
    while (at < line.len && is_key_byte(line.ptr[at])) at++;
    *key = (struct yaml_node){.plain = true, .offset = offset, .text = str_slice(line, 0, at)};
    skip_spaces(line, &at);
    if (!key->text.len || at == line.len || line.ptr[at++] != '=') return false;
    skip_spaces(line, &at);
    if (at == line.len) return false;
    bool ok = line.ptr[at] == '[' ? read_list(line, &at, offset, a, value) : read_scalar(line, &at, offset, a, value);
    skip_spaces(line, &at);
    return ok && (at == line.len || line.ptr[at] == '#' || line.ptr[at] == '\r');
}

// What closes a value that goes on over the following lines; NULL when it ends on its own line.
static const char *left_open(str line)
{
    static const char *const marks[][2] = {{"\"\"\"", "\"\"\""}, {"'''", "'''"}, {"[", "]"}};
    str value = str_trim(str_slice(line, str_find(line, '=') + 1, line.len));
    for (size_t i = 0; i < 3; i++) {
        str open = str_c(marks[i][0]), close = str_c(marks[i][1]), rest = str_slice(value, open.len, value.len);
        if (str_starts(value, open) && str_search(rest, close) == rest.len) return marks[i][1];
    }
    return NULL;
}

void front_toml(str text, size_t from, size_t to, arena *a, struct yaml_node **out)
{
    struct yaml_node *map = arena_new(a, struct yaml_node, 1), *nodes = arena_new(a, struct yaml_node, 2 * MAX_PAIRS);
    str rest = str_slice(text, from, to), line;
    const char *until = NULL;
    *map = (struct yaml_node){.kind = YAML_MAP, .offset = from, .pairs = arena_new(a, struct yaml_pair, MAX_PAIRS)};
    for (size_t at = from; map->count < MAX_PAIRS && str_line(&rest, &line); at = to - rest.len) {
        size_t indent = 0;
        if (until) {
            if (str_search(line, str_c(until)) < line.len) until = NULL;
            continue;
        }
        skip_spaces(line, &indent);
        line = str_slice(line, indent, line.len);
        if (line.len && line.ptr[0] == '[') break;   // of a table, as all that follows
        struct yaml_node *key = &nodes[2 * map->count];
        if (read_pair(line, at + indent, a, key, key + 1)) map->pairs[map->count++] = (struct yaml_pair){key, key + 1};
        else until = left_open(line);
    }
    *out = map;
}
