// Owns looking up what a file's pairs say.

#include "calc/parse/lookup.h"

#include "calc/base/text.h"

bool value_is_nothing(struct span value)
{
    return value.len == 0 || span_is(value, "~") ||
           text_equal_nocase(value.at, value.len, "null") || span_is(value, "None");
}

bool value_is_true(struct span value)
{
    return text_has_word("true yes on", value.at, value.len);
}

bool value_is_false(struct span value)
{
    return text_has_word("false no off", value.at, value.len);
}

const struct vram_pair *pair_find(const struct parse *p, const char *key)
{
    const struct vram_pair *found = NULL;
    for (size_t i = 0; i < p->pair_count; i++)
        if (span_is(span_of(p->pairs[i].key), key) && !value_is_nothing(span_of(p->pairs[i].value)))
            found = &p->pairs[i];
    return found;
}

bool pair_is_there(const struct parse *p, const char *key)
{
    for (size_t i = 0; i < p->pair_count; i++)
        if (span_is(span_of(p->pairs[i].key), key))
            return true;
    return false;
}

const struct vram_pair *pair_among(const struct parse *p, struct span keys)
{
    const struct vram_pair *found = NULL;
    char key[64];
    while (!found && keys.len > 0) {
        size_t n = span_find(keys, " ");
        n = n < sizeof key - 1 ? n : sizeof key - 1;
        mem_copy(key, keys.at, n);
        key[n] = 0;
        found = pair_find(p, key);
        keys = span_skip(keys, n + 1);
    }
    return found;
}
