// What the estimator's fuzz targets share: memory that is counted, and one call for each kind of
// text.

#ifndef TESTS_FUZZ_CALC_FUZZ_H
#define TESTS_FUZZ_CALC_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/vram.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/calc_answers.h"

enum { CALC_FUZZ_HEAP = 1 << 30 };  // more at once is refused, as a small device would

struct calc_fuzz_heap {
    size_t live;
    uint64_t calls, fail_from;  // from this call on there is no memory; 0 = always some
};

static inline void *calc_fuzz_alloc(void *ctx, size_t bytes)
{
    struct calc_fuzz_heap *h = ctx;
    if (h->fail_from && ++h->calls >= h->fail_from)
        return NULL;
    if (bytes > CALC_FUZZ_HEAP - h->live)
        return NULL;
    h->live += bytes;
    return malloc(bytes);
}

static inline void calc_fuzz_free(void *ctx, void *ptr, size_t bytes)
{
    struct calc_fuzz_heap *h = ctx;
    h->live -= bytes;
    free(ptr);
}

static inline void calc_fuzz_check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static inline vram *calc_fuzz_open(struct calc_fuzz_heap *h)
{
    struct vram_mem mem = {calc_fuzz_alloc, calc_fuzz_free, h};
    return vram_new(&mem);
}

static inline void calc_fuzz_close(struct calc_fuzz_heap *h, vram *v)
{
    vram_free(v);
    calc_fuzz_check(h->live == 0, "memory was not given back");
}

// A code that is not 0 has a text, and a code of 0 has none.
static inline void calc_fuzz_check_error(const vram *v, int code)
{
    const struct vram_message *m = vram_error(v);
    calc_fuzz_check(m->text != NULL, "a message without text");
    if (code) {
        calc_fuzz_check(m->text[0] != 0, "an error without text");
        calc_fuzz_check(m->code == code, "the error's code is another one");
    }
}

// Reads data as a configuration of the given kind. What it set must be readable again.
static inline int calc_fuzz_parse(enum vram_kind kind, const uint8_t *data, size_t size)
{
    struct calc_fuzz_heap h = {0};
    vram *v = calc_fuzz_open(&h), *again = calc_fuzz_open(&h);
    int code = parse_text(v, kind, (const char *)data, size, "fuzz");
    calc_fuzz_check_error(v, code);
    if (code == VRAM_OK && vram_write(v, VRAM_ANSWER_CONFIG, VRAM_FORMAT_TEXT, 0) == VRAM_OK) {
        size_t len;
        const char *text = vram_text(v, &len);
        code = parse_text(again, VRAM_KIND_FLAT, text, len, "again");
        if (code)
            fprintf(stderr, "%.*s\n%s\n", (int)len, text, vram_error(again)->text);
        calc_fuzz_check(code == VRAM_OK, "the configuration that was written cannot be read");
    }
    calc_fuzz_check(vram_check(v) <= 0, "vram_check");
    vram_free(again);
    calc_fuzz_close(&h, v);
    return 0;
}

#endif
