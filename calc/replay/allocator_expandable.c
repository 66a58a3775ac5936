// Virtual segments of the caching allocator (expandable_segments:True): which pages are mapped and
// when they are given back.
//
// A virtual segment is a row of blocks by address: in use, free (mapped), or unmapped. Unmapped
// ranges begin and end on page boundaries; segments begin at multiples of the larger page, so an
// address alone tells the page. SRC: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp at 001074d,
// ExpandableSegment, map_block, unmap_block.

#include "calc/replay/allocator_expandable.h"

#include "calc/replay/allocator_pool.h"

// Address space of a segment on a card without end: more than any run can ask for.
#define ENDLESS (UINT64_C(1) << 55)

static uint64_t round_up(uint64_t n, uint64_t step)
{
    return (n + step - 1) / step * step;
}

// ---- the list of unmapped ranges, by address ---------------------------------------------------

static void unmapped_insert(struct allocator *a, struct allocator_pool *p, uint32_t i)
{
    struct allocator_block *b = &a->blocks[i];
    uint32_t before = 0, after = p->unmapped;
    while (after && a->blocks[after].address < b->address) {
        before = after;
        after = a->blocks[after].after;
    }
    b->before = before;
    b->after = after;
    b->state = BLOCK_UNMAPPED;
    *(before ? &a->blocks[before].after : &p->unmapped) = i;
    if (after)
        a->blocks[after].before = i;
}

static void unmapped_remove(struct allocator *a, struct allocator_pool *p, uint32_t i)
{
    const struct allocator_block *b = &a->blocks[i];
    *(b->before ? &a->blocks[b->before].after : &p->unmapped) = b->after;
    if (b->after)
        a->blocks[b->after].before = b->before;
}

// ---- neighbours --------------------------------------------------------------------------------

// A new block of size bytes at address, between the neighbours prev and next. In no list yet.
static uint32_t splice(struct allocator *a, uint32_t like, uint64_t address, uint64_t size,
                       uint32_t prev, uint32_t next)
{
    uint32_t i = block_new(a);
    a->blocks[i] = (struct allocator_block){.size = size,
                                            .address = address,
                                            .prev = prev,
                                            .next = next,
                                            .small = a->blocks[like].small,
                                            .stream = a->blocks[like].stream,
                                            .expandable = true};
    if (prev)
        a->blocks[prev].next = i;
    if (next)
        a->blocks[next].prev = i;
    return i;
}

// Joins i, which is in no list, with its neighbours of the given state.
static void join_neighbours(struct allocator *a, struct allocator_pool *p, uint32_t i,
                            uint8_t state)
{
    struct allocator_block *b = &a->blocks[i];
    for (int side = 0; side < 2; side++) {
        uint32_t gone = side ? b->next : b->prev;
        const struct allocator_block *g = &a->blocks[gone];
        if (!gone || g->state != state)
            continue;
        if (state == BLOCK_FREE)
            pool_remove(p, a->blocks, gone);
        else
            unmapped_remove(a, p, gone);
        b->size += g->size;
        if (side) {
            b->next = g->next;
            a->blocks[g->next].prev = g->next ? i : 0;
        } else {
            b->address = g->address;
            b->prev = g->prev;
            a->blocks[g->prev].next = g->prev ? i : 0;
        }
        block_drop(a, gone);
    }
}

// ---- mapping -----------------------------------------------------------------------------------

static uint32_t virtual_segment_new(struct allocator *a, struct allocator_pool *p)
{
    uint64_t total = a->config.device_bytes;
    uint64_t size = total ? round_up(total + total / 8, p->page) : ENDLESS / p->page * p->page;
    uint32_t i = block_new(a);
    a->next_address = round_up(a->next_address, ALLOCATOR_LARGE_BUFFER);
    a->blocks[i] = (struct allocator_block){.size = size,
                                            .address = a->next_address,
                                            .small = p->small,
                                            .stream = p->stream,
                                            .expandable = true};
    a->next_address += size;
    unmapped_insert(a, p, i);
    return i;
}

static bool has_room(const struct allocator *a, uint32_t i, uint64_t size)
{
    uint64_t bytes = 0;
    for (; bytes < size && i && a->blocks[i].state != BLOCK_USED; i = a->blocks[i].next)
        bytes += a->blocks[i].size;
    return bytes >= size;
}

// The lowest free or unmapped range from which size bytes in a row can be had.
static uint32_t find_room(struct allocator *a, struct allocator_pool *p, uint64_t size)
{
    for (uint32_t i = p->unmapped; i; i = a->blocks[i].after) {
        uint32_t prev = a->blocks[i].prev;
        uint32_t from = a->blocks[prev].state == BLOCK_FREE ? prev : i;
        if (has_room(a, from, size))
            return from;
    }
    return virtual_segment_new(a, p);
}

// Maps the first pages of the unmapped block i, as many as size bytes need, and joins them with
// free neighbours. Returns false if the device has no more.
static bool map_front(struct allocator *a, struct allocator_pool *p, uint32_t i, uint64_t size)
{
    struct allocator_block *b = &a->blocks[i];
    uint64_t bytes = round_up(size, p->page);
    if (!allocator_device_has(a, bytes))
        return false;
    unmapped_remove(a, p, i);
    if (bytes < b->size) {
        uint32_t rest = splice(a, i, b->address + bytes, b->size - bytes, i, b->next);
        unmapped_insert(a, p, rest);
        b->size = bytes;
    }
    join_neighbours(a, p, i, BLOCK_FREE);
    pool_insert(p, a->blocks, i);
    stat_add(&a->stats.reserved, bytes);
    a->stats.device_mallocs++;
    return true;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int allocator_map(struct allocator *a, struct allocator_pool *p, uint64_t size, uint32_t *block)
{
    *block = 0;
    int rc = allocator_reserve(a, 4);
    if (rc)
        return rc;
    uint32_t i = find_room(a, p, size);
    if (a->blocks[i].state == BLOCK_UNMAPPED &&
        !map_front(a, p, i, smaller(a->blocks[i].size, size)))
        return VRAM_OK;
    while (a->blocks[i].size < size) {
        rc = allocator_reserve(a, 4);
        if (rc)
            return rc;
        uint32_t next = a->blocks[i].next;
        if (!map_front(a, p, next, smaller(size - a->blocks[i].size, a->blocks[next].size)))
            return VRAM_OK;
        i = next;
    }
    pool_remove(p, a->blocks, i);
    *block = i;
    return VRAM_OK;
}

int allocator_unmap(struct allocator *a, uint32_t i)
{
    int rc = allocator_reserve(a, 4);
    if (rc)
        return rc;
    struct allocator_pool *p = pool_of(a, i);
    struct allocator_block *b = &a->blocks[i];
    uint64_t end = b->address + b->size;
    uint64_t from = round_up(b->address, p->page), to = end / p->page * p->page;
    if (from >= to)
        return VRAM_OK;
    pool_remove(p, a->blocks, i);
    if (from > b->address)
        pool_insert(p, a->blocks, splice(a, i, b->address, from - b->address, b->prev, i));
    if (end > to)
        pool_insert(p, a->blocks, splice(a, i, to, end - to, i, b->next));
    b->address = from;
    b->size = to - from;
    join_neighbours(a, p, i, BLOCK_UNMAPPED);
    unmapped_insert(a, p, i);
    a->stats.reserved.now -= to - from;
    a->stats.device_frees++;
    if (!b->prev && !b->next) {
        unmapped_remove(a, p, i);
        block_drop(a, i);
    }
    return VRAM_OK;
}
