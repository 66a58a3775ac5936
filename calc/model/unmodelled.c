// Owns what is said of families that are not modelled, by the table unmodelled.def.

#include "calc/model/unmodelled.h"

#include "calc/model/preset_ids.h"

static const struct row {
    const char *type, *words;
} ALIKE_ROWS[] = {
#define ALIKE(type, others) {type, others},
#include "calc/model/unmodelled.def"
#undef ALIKE
};

const char *unmodelled_near(struct span type)
{
    for (size_t i = 0; i < sizeof ALIKE_ROWS / sizeof *ALIKE_ROWS; i++)
        if (span_in_words(ALIKE_ROWS[i].words, type))
            return ALIKE_ROWS[i].type;
    return NULL;
}

#ifndef VRAM_SMALL
static const struct row NAMED_ROWS[] = {
#define NAMED(type, starts) {type, starts},
#include "calc/model/unmodelled.def"
#undef NAMED
};

static bool begins(struct span name, const char *starts)
{
    struct span rest = span_of(starts);
    while (rest.len) {
        struct span word = {rest.at, span_find(rest, " ")};
        if (name.len >= word.len && span_same((struct span){name.at, word.len}, word))
            return true;
        rest = span_skip(rest, word.len + 1);
    }
    return false;
}

const char *unmodelled_type(struct span id)
{
    char name[ID_LETTERS];
    size_t len;
    if (!id_letters(id, name, &len))
        return NULL;
    for (size_t i = 0; i < sizeof NAMED_ROWS / sizeof *NAMED_ROWS; i++)
        if (begins((struct span){name, len}, NAMED_ROWS[i].words))
            return NAMED_ROWS[i].type;
    return NULL;
}
#endif
