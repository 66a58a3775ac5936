// Owns the text of fields that are sets.

#include "calc/model/set.h"

static bool set_separator(char c)
{
    return c == '+' || c == ',' || c == ';' || c == ' ' || c == '[' || c == ']' || c == '\'' ||
           c == '"';
}

static bool set_word(const struct set *set, const char *s, size_t len, uint64_t *out)
{
    for (unsigned i = 0; set->values[i]; i++)
        if (text_equal_nocase(s, len, set->values[i]) || text_has_word(set->aliases[i], s, len)) {
            *out |= UINT64_C(1) << i;
            return true;
        }
    for (const struct set_group *g = set->groups; g && g->names; g++)
        if (text_has_word(g->names, s, len)) {
            *out |= g->members;
            return true;
        }
    return text_has_word("none no false 0 off", s, len);
}

bool set_read(const struct set *set, const char *s, size_t len, uint64_t *out)
{
    size_t start = 0;
    *out = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && !set_separator(s[i]))
            continue;
        if (i > start && !set_word(set, s + start, i - start, out))
            return false;
        start = i + 1;
    }
    return true;
}

// The first group has a name of its own where all of it is there.
void set_text(const struct set *set, uint64_t members, struct text_line *out)
{
    const struct set_group *all = set->groups;
    if (members == 0)
        text_append(out, "none");
    if (all && (members & all->members) == all->members) {
        text_append(out, all->names);
        members &= ~all->members;
    }
    for (unsigned i = 0; set->values[i]; i++) {
        if (!(members >> i & 1))
            continue;
        text_append(out, out->len ? "+" : "");
        text_append(out, set->values[i]);
    }
}
