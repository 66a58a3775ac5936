// The caching allocator over memory that counts and fails on demand, for its tests.

#ifndef TESTS_UNIT_CALC_ALLOCATOR_FIXTURE_H
#define TESTS_UNIT_CALC_ALLOCATOR_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calc/replay/allocator.h"
#include "tests/unit/heap_fixture.h"

#define MIB UINT64_C(1048576)
#define DEFAULTS ((struct allocator_config){0})

struct fixture {
    struct heap heap;
    struct vram_mem mem;
    struct allocator a;
    uint32_t held;  // a block that another stream uses
};

static inline void start(struct fixture *f, struct allocator_config config)
{
    memset(f, 0, sizeof *f);
    f->mem = (struct vram_mem){heap_alloc, heap_free, &f->heap};
    assert_int_equal(allocator_init(&f->a, &f->mem, &config), VRAM_OK);
}

static inline void stop(struct fixture *f)
{
    allocator_done(&f->a);
    assert_int_equal(f->heap.live, 0);
}

static inline uint32_t get(struct fixture *f, uint64_t bytes)
{
    uint32_t block;
    assert_int_equal(allocator_malloc(&f->a, bytes, &block), VRAM_OK);
    return block;
}

static inline void put(struct fixture *f, uint32_t block)
{
    assert_int_equal(allocator_free(&f->a, block), VRAM_OK);
}

static inline uint64_t address(struct fixture *f, uint32_t block)
{
    return allocator_block_address(&f->a, block);
}

#endif
