// A heap that counts what lives and can fail, for tests of who frees what.
#ifndef TESTS_UNIT_HEAP_FIXTURE_H
#define TESTS_UNIT_HEAP_FIXTURE_H

#include <stdint.h>
#include <stdlib.h>

struct heap {
    size_t live, calls, fail_at;  // the fail_at-th call gets NULL; 0 = none does
};

static inline void *heap_alloc(void *ctx, size_t bytes)
{
    struct heap *h = ctx;
    if (++h->calls == h->fail_at)
        return NULL;
    h->live += bytes;
    return malloc(bytes);
}

static inline void heap_free(void *ctx, void *ptr, size_t bytes)
{
    struct heap *h = ctx;
    h->live -= bytes;
    free(ptr);
}

#endif
