// A handle with fields set from words, for tests of whole estimates.

#ifndef TESTS_UNIT_CALC_WORDS_FIXTURE_H
#define TESTS_UNIT_CALC_WORDS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calc/vram.h"

#define MIB UINT64_C(1048576)

// words: "preset=gpt2 batch_size=4". Fails the test where one is refused.
static inline void fixture_set(vram *v, const char *words)
{
    char copy[1024], *save = NULL;
    assert_true(strlen(words) < sizeof copy);
    memcpy(copy, words, strlen(words) + 1);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = 0;
        if (vram_set(v, word, value))
            fail_msg("%s = %s: %s", word, value, vram_error(v)->text);
    }
}

static inline vram *fixture_open(const char *words)
{
    const struct vram_mem heap = vram_mem_malloc();
    vram *v = vram_new(&heap);
    assert_non_null(v);
    fixture_set(v, words);
    return v;
}

static inline const struct vram_result *fixture_run(vram *v)
{
    if (vram_run(v))
        fail_msg("%s", vram_error(v)->text);
    return vram_result(v);
}

// |got - want| in thousandths of want.
static inline uint64_t fixture_permille(uint64_t got, uint64_t want)
{
    return (got > want ? got - want : want - got) * 1000 / want;
}

#endif
