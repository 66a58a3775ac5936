// The caching allocator's calls for a replay of which only the segments count: without sums of what
// is requested and allocated, and a part of the loop that makes them.

#ifndef CALC_ALLOCATOR_LEAN_H
#define CALC_ALLOCATOR_LEAN_H

#include "calc/replay/allocator_pool.h"

// Whether these calls do: no settings but virtual segments.
static inline bool allocator_is_lean(const struct allocator *a)
{
    return a->config.max_split_bytes == UINT64_MAX && !a->config.gc_threshold_ppm;
}

// As allocator_take where a free block of the pool of its size serves; false: none does, nothing
// has changed. What is constant costs nothing.
POOL_HOT bool lean_take_from(struct allocator *a, struct allocator_pool *p, bool small,
                             bool expands, const struct allocator_request *r, uint32_t *block)
{
    uint64_t size = r->rounded;
    uint64_t least_rest = small || expands ? ALLOCATOR_MIN_BLOCK : ALLOCATOR_SMALL + 1;
    uint32_t i = pool_lower_bound(p, a->blocks, size, r->class);
    if (!i || !size || (!a->spare && a->count == a->cap))
        return false;
    if (expands)
        i = pool_less_room(p, a->blocks, i);
    pool_remove(p, a->blocks, i);
    a->blocks[i].requested = r->bytes;
    *block = i;
    if (a->blocks[i].size - size >= least_rest)
        block_split(a, p, i, size);
    return true;
}

// The same of the pool for the request. stream: of the request.
POOL_HOT bool lean_take(struct allocator *a, bool expands, uint32_t stream,
                        const struct allocator_request *r, uint32_t *block)
{
    bool small = r->rounded <= ALLOCATOR_SMALL;
    return lean_take_from(a, pool_at(a, stream, small), small, expands, r, block);
}

// As allocator_borrow where a free block of the pool serves and stays as it is; false: none does.
POOL_HOT bool lean_lends_from(const struct allocator *a, const struct allocator_pool *p,
                              const struct allocator_request *r)
{
    return r->rounded && pool_lower_bound(p, a->blocks, r->rounded, r->class);
}

POOL_HOT bool lean_lends(struct allocator *a, uint32_t stream, const struct allocator_request *r)
{
    return lean_lends_from(a, pool_at(a, stream, r->rounded <= ALLOCATOR_SMALL), r);
}

// As allocator_free for such a block, of the pool; false: it is none.
POOL_HOT bool lean_free_to(struct allocator *a, struct allocator_pool *p, uint32_t block)
{
    struct allocator_block *b = &a->blocks[block];
    if (b->state != BLOCK_USED || !b->requested)
        return false;
    b->requested = 0;
    block_release(a, p, block);
    return true;
}

// The same. streams: it may be of any.
POOL_HOT bool lean_free(struct allocator *a, bool streams, uint32_t block)
{
    const struct allocator_block *b = &a->blocks[block];
    return lean_free_to(a, pool_at(a, streams ? b->stream : 0, b->small), block);
}

#endif
