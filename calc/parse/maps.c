// Owns the maps of formats.def, "from=to from=to": a file's words and ours.

#include "calc/parse/maps.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"

static bool word_equal(struct span from, struct span value)
{
    if (from.len > 0 && from.at[from.len - 1] == '*')
        return span_matches(from, value);
    if (from.len != value.len)
        return false;
    for (size_t i = 0; i < from.len; i++) {
        char a = from.at[i], b = value.at[i];
        a = a >= 'A' && a <= 'Z' ? (char)(a | 32) : a == '-' || a == ' ' ? '_' : a;
        b = b >= 'A' && b <= 'Z' ? (char)(b | 32) : b == '-' || b == ' ' ? '_' : b;
        if (a != b)
            return false;
    }
    return true;
}

// The word behind `value=` in a map; false where it has none.
static bool look_up(const char *map, struct span value, struct span *to)
{
    for (struct span rest = span_of(map); rest.len > 0;) {
        struct span row = {rest.at, span_find(rest, " ")};
        size_t eq = span_find(row, "=");
        *to = span_skip(row, eq + 1);
        if (row.len > 0 && word_equal((struct span){row.at, eq}, value))
            return true;
        rest = span_skip(rest, row.len + 1);
    }
    return false;
}

bool map_value(const char *map, struct span value, struct span *to)
{
    *to = value;
    if (!*map)
        return true;
    bool found = look_up(map, value, to) ||
                 (value_is_true(value) && look_up(map, span_of("true"), to)) ||
                 (value_is_false(value) && look_up(map, span_of("false"), to)) ||
                 look_up(map, span_of("*"), to);
    if (found && span_is(*to, "$"))
        *to = value;
    return found;
}

// Of "a=1 b=2" the file's words: "a, b".
void map_words(struct text_line *t, const char *words)
{
    for (struct span rest = span_of(words); rest.len > 0;) {
        struct span row = {rest.at, span_find(rest, " ")};
        size_t n = span_find(row, "=");
        if (t->len > 0)
            text_append(t, ", ");
        for (size_t i = 0; i < n; i++)
            text_append(t, (const char[]){row.at[i], '\0'});
        rest = span_skip(rest, row.len + 1);
    }
}
