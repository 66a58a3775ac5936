// A vram handle over memory that counts and fails on demand, and configurations from the reference
// files.

#ifndef TESTS_UNIT_CALC_FIXTURE_H
#define TESTS_UNIT_CALC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "calc/vram.h"
#include "tests/unit/heap_fixture.h"

static inline vram *open_vram(struct heap *h)
{
    struct vram_mem mem = {heap_alloc, heap_free, h};
    return vram_new(&mem);
}

static inline void close_vram(vram *v, struct heap *h)
{
    vram_free(v);
    assert_int_equal(h->live, 0);
}

// "key=value key=value": sets them all.
static inline void set_all(vram *v, const char *pairs)
{
    char copy[1024], *rest = copy;
    snprintf(copy, sizeof copy, "%s", pairs);
    for (char *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = 0;
        if (vram_set(v, word, value) != VRAM_OK)
            fail_msg("%s=%s: %s", word, value, vram_error(v)->text);
    }
}

static inline uint64_t json_u64(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static inline const char *json_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

// The English of a sentence that an answer holds under a key; NULL if there is none.
static inline const char *json_sentence_text(const json_t *object, const char *key)
{
    return json_text(json_object_get(object, key), "text");
}

// A row of nanogpt.json as a configuration in reference mode.
static inline void set_reference(vram *v, const json_t *row)
{
    static const char *const keys[] = {
        "batch_size", "block_size",    "seq_len", "n_embd",    "n_layer",
        "n_head",     "vocab_size",    "dtype",   "attention", "gradient_accumulation_steps",
        "optimizer",  "checkpointing", "dropout", "bias"};
    set_all(v, "family=gpt2 mode=reference");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *x = json_object_get(row, keys[i]);
        char value[64];
        assert_non_null(x);
        if (json_is_string(x))
            snprintf(value, sizeof value, "%s", json_string_value(x));
        else if (json_is_integer(x))
            snprintf(value, sizeof value, "%lld", (long long)json_integer_value(x));
        else if (json_is_real(x))
            snprintf(value, sizeof value, "%g", json_real_value(x));
        else
            snprintf(value, sizeof value, "%s", json_is_true(x) ? "true" : "false");
        if (vram_set(v, keys[i], value) != VRAM_OK)
            fail_msg("%s=%s: %s", keys[i], value, vram_error(v)->text);
    }
}

static inline void run_vram(vram *v)
{
    if (vram_run(v) != VRAM_OK)
        fail_msg("%s", vram_error(v)->text);
}

// GPT-2 124M, reference mode, some more fields; the result stays valid until the next call.
static inline const struct vram_result *run_gpt2(vram *v, const char *more)
{
    vram_clear(v);
    set_all(v, "preset=gpt2 mode=reference batch_size=2 dtype=bfloat16");
    set_all(v, more);
    run_vram(v);
    return vram_result(v);
}

// Of n numbers the first of so many equal parts.
static inline uint64_t up(uint64_t n, uint64_t parts)
{
    return (n + parts - 1) / parts;
}

static inline json_t *load_truth(const char *name)
{
    char path[256];
    json_error_t error;
    snprintf(path, sizeof path, "tests/calc/truth/%s", name);
    json_t *json = json_load_file(path, 0, &error);
    if (!json)
        printf("%s: %s\n", path, error.text);
    return json;
}

#endif
