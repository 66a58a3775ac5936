// Owns the table of facts, and reading one.

#include "calc/model/facts.h"

#include "calc/base/span.h"
#include "calc/base/text.h"

static const struct {
    const char *name, *words;
} FACTS[] = {
#define FACT(ident, words) {#ident, words},
#include "calc/model/facts.def"
#undef FACT
};

int facts_find(const char *name, size_t len)
{
    for (int i = 0; i < FACT_COUNT; i++)
        if (text_equal(name, len, FACTS[i].name))
            return i;
    return -1;
}

const char *facts_words(int fact)
{
    return FACTS[fact].words;
}

static uint64_t *slot(struct facts *f, int fact)
{
    uint64_t *const slots[] = {
#define FACT(ident, words) &f->ident,
#include "calc/model/facts.def"
#undef FACT
    };
    return slots[fact];
}

uint64_t facts_get(const struct facts *f, int fact)
{
    struct facts copy = *f;
    return *slot(&copy, fact);
}

bool facts_set(struct facts *f, int fact, const char *value, size_t len)
{
    struct span wanted = {value, len}, words = span_of(FACTS[fact].words);
    bool overflow;
    if (words.len == 0)
        return text_to_u64(value, len, slot(f, fact), &overflow) && *slot(f, fact) <= (uint64_t)1
                                                                                          << 40;
    for (uint64_t index = 0; words.len > 0; index++) {
        struct span word = {words.at, span_find(words, " ")};
        if (span_same(word, wanted)) {
            *slot(f, fact) = index;
            return true;
        }
        words = span_skip(words, word.len + 1);
    }
    return false;
}
