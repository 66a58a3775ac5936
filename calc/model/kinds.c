// Owns what tells kinds of runs apart: which of kinds.def a configuration has, and its words.

#include "calc/model/kinds.h"

#ifndef VRAM_SMALL

#include "calc/base/text.h"
#include "calc/model/family.h"
#include "calc/model/preference.h"
#include "calc/model/resolve.h"
#include "calc/model/scheme.h"

static const struct {
    const char *words;
    unsigned level;
} KINDS[] = {
#define KIND(ident, level, words, condition) {words, level},
#include "calc/model/kinds.def"
#undef KIND
};

uint64_t kind_of(const struct vram_config *as_set)
{
    struct vram_config resolved = *as_set, *c = &resolved;
    resolve_auto(c);
    bool train = c->task == TASK_TRAIN, adapters = c->lora_rank > 0;
    bool many = scheme_many(c) && c->parallel != PARALLEL_NONE;
    bool divided = c->tensor_parallel > 1 || c->pipeline_parallel > 1 || c->context_parallel > 1 ||
                   c->expert_parallel > 1 || c->device_map > 1;
    uint64_t kind = 0;
#define KIND(ident, level, words, condition) kind |= (uint64_t)(condition) << KIND_BIT_##ident;
#include "calc/model/kinds.def"
#undef KIND
    return kind;
}

uint64_t kind_at(uint64_t kind, unsigned level)
{
    uint64_t here = 0;
    for (unsigned i = 0; i < KIND_BITS; i++)
        here |= (uint64_t)(KINDS[i].level >= level) << i;
    return kind & here;
}

const char *kind_words(uint64_t kind, char *room)
{
    size_t n = 0;
    for (unsigned i = 0; i < KIND_BITS; i++) {
        if (!(kind >> i & 1))
            continue;
        size_t len = text_len(KINDS[i].words);
        if (n + len + 3 > KIND_TEXT)
            break;
        if (n)
            room[n++] = ',', room[n++] = ' ';
        for (size_t k = 0; k < len; k++)
            room[n++] = KINDS[i].words[k];
    }
    room[n] = '\0';
    return room;
}
#endif
