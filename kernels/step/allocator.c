// The caching allocator: two pools of free blocks, best fit, splitting and merging within segments.
// Rules and constants: pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp and
// c10/core/AllocatorConfig.h.
#include "kernels/step/allocator.h"

#include <stdlib.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

enum { SMALL_POOL, LARGE_POOL, POOLS };

static const uint64_t round_to = 512;            // kMinBlockSize
static const uint64_t small_size = MIB;          // kSmallSize: up to here a request is small
static const uint64_t small_segment = 2 * MIB;   // kSmallBuffer
static const uint64_t large_segment = 20 * MIB;  // kLargeBuffer, for requests below large_alone
static const uint64_t large_alone = 10 * MIB;    // kMinLargeAlloc
static const uint64_t round_segment = 2 * MIB;   // kRoundLarge

struct caching_block {
    char *address;
    uint64_t size, requested;
    struct caching_block *before, *after;  // neighbours in the segment
    // Of a segment's first block: the list of all segments.
    struct caching_block *next_segment, **link;
    bool in_use;
    int pool;
};

// Free blocks of one pool, ordered by size and then by address.
struct free_list {
    struct caching_block **items;
    size_t count, capacity;
};

struct caching_allocator {
    struct device_memory device;
    struct free_list
        free[POOLS];  // each with room for all the blocks of its pool, so that freeing cannot fail
    size_t blocks[POOLS];
    struct caching_block *segments;
    struct caching_stats stats;
};

static bool comes_first(const struct caching_block *a, uint64_t size, const char *address)
{
    return a->size != size ? a->size < size : a->address < address;
}

// Index of the first free block that is not before (size, address).
static size_t list_place(const struct free_list *l, uint64_t size, const char *address)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_first(l->items[middle], size, address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool list_reserve(struct free_list *l, size_t blocks)
{
    if (blocks <= l->capacity)
        return true;
    size_t capacity = l->capacity ? 2 * l->capacity : 64;
    struct caching_block **items = realloc(l->items, capacity * sizeof *items);
    if (!items)
        return false;
    l->items = items;
    l->capacity = capacity;
    return true;
}

static void list_add(struct free_list *l, struct caching_block *b)
{
    size_t at = list_place(l, b->size, b->address);
    for (size_t i = l->count; i > at; i--)
        l->items[i] = l->items[i - 1];
    l->items[at] = b;
    l->count++;
}

static void list_take(struct free_list *l, size_t at)
{
    l->count--;
    for (size_t i = at; i < l->count; i++)
        l->items[i] = l->items[i + 1];
}

static void list_remove(struct free_list *l, const struct caching_block *b)
{
    list_take(l, list_place(l, b->size, b->address));
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static uint64_t segment_size(uint64_t rounded)
{
    if (rounded <= small_size)
        return small_segment;
    return rounded < large_alone ? large_segment : round_up(rounded, round_segment);
}

// A new block, with room for it in its pool's list; NULL when the host has no memory for it.
static struct caching_block *new_block(struct caching_allocator *a, struct caching_block like)
{
    if (!list_reserve(&a->free[like.pool], a->blocks[like.pool] + 1))
        return NULL;
    struct caching_block *b = malloc(sizeof *b);
    if (b) {
        *b = like;
        a->blocks[like.pool]++;
    }
    return b;
}

static void delete_block(struct caching_allocator *a, struct caching_block *b)
{
    a->blocks[b->pool]--;
    free(b);
}

static bool whole_segment(const struct caching_block *b)
{
    return !b->before && !b->after;
}

static void release_segment(struct caching_allocator *a, struct caching_block *b)
{
    a->device.give(a->device.ctx, b->address, b->size);
    a->stats.reserved -= b->size;
    a->stats.segments--;
    *b->link = b->next_segment;
    if (b->next_segment)
        b->next_segment->link = b->link;
    delete_block(a, b);
}

void caching_empty(struct caching_allocator *a)
{
    for (int pool = 0; pool < POOLS; pool++) {
        struct free_list *l = &a->free[pool];
        size_t kept = 0;
        for (size_t i = 0; i < l->count; i++) {
            if (whole_segment(l->items[i]))
                release_segment(a, l->items[i]);
            else
                l->items[kept++] = l->items[i];
        }
        l->count = kept;
    }
}

static void raise_peak(uint64_t *peak, uint64_t now)
{
    if (now > *peak)
        *peak = now;
}

// A new segment from the device; when it has none, cached segments are returned to it and it is
// asked again.
static struct caching_block *new_segment(struct caching_allocator *a, uint64_t rounded, int pool)
{
    uint64_t size = segment_size(rounded);
    void *address = NULL;
    if (a->device.take(a->device.ctx, size, &address) != 0) {
        caching_empty(a);
        a->stats.retries++;
        if (a->device.take(a->device.ctx, size, &address) != 0)
            return NULL;
    }
    struct caching_block *b =
        new_block(a, (struct caching_block){.address = address, .size = size, .pool = pool});
    if (!b) {
        a->device.give(a->device.ctx, address, size);
        return NULL;
    }
    b->next_segment = a->segments;
    b->link = &a->segments;
    if (a->segments)
        a->segments->link = &b->next_segment;
    a->segments = b;
    a->stats.reserved += size;
    a->stats.segments++;
    raise_peak(&a->stats.reserved_peak, a->stats.reserved);
    return b;
}

static bool should_split(const struct caching_block *b, uint64_t rounded)
{
    uint64_t rest = b->size - rounded;
    return b->pool == SMALL_POOL ? rest >= round_to : rest > small_size;
}

// Splits the part that is not needed off the end of b. Without host memory for the rest, b stays
// whole.
static void split(struct caching_allocator *a, struct caching_block *b, uint64_t rounded)
{
    struct caching_block *rest =
        new_block(a, (struct caching_block){.address = b->address + rounded,
                                            .size = b->size - rounded,
                                            .before = b,
                                            .after = b->after,
                                            .pool = b->pool});
    if (!rest)
        return;
    list_add(&a->free[b->pool], rest);
    if (b->after)
        b->after->before = rest;
    b->after = rest;
    b->size = rounded;
}

struct caching_block *caching_malloc(struct caching_allocator *a, uint64_t bytes)
{
    uint64_t rounded = bytes < round_to ? round_to : round_up(bytes, round_to);
    int pool = rounded <= small_size ? SMALL_POOL : LARGE_POOL;
    struct free_list *l = &a->free[pool];
    size_t at = list_place(l, rounded, NULL);
    struct caching_block *b;
    if (at < l->count) {
        b = l->items[at];
        list_take(l, at);
    } else {
        b = new_segment(a, rounded, pool);
        if (!b)
            return NULL;
    }
    if (should_split(b, rounded))
        split(a, b, rounded);
    b->in_use = true;
    b->requested = bytes;
    a->stats.requested += bytes;
    a->stats.allocated += b->size;
    raise_peak(&a->stats.requested_peak, a->stats.requested);
    raise_peak(&a->stats.allocated_peak, a->stats.allocated);
    return b;
}

// Joins the free neighbour b to the block before it; b is freed.
static void absorb(struct caching_allocator *a, struct caching_block *left, struct caching_block *b)
{
    left->size += b->size;
    left->after = b->after;
    if (b->after)
        b->after->before = left;
    delete_block(a, b);
}

void caching_free(struct caching_allocator *a, struct caching_block *b)
{
    if (!b)
        return;
    struct free_list *l = &a->free[b->pool];
    a->stats.requested -= b->requested;
    a->stats.allocated -= b->size;
    b->in_use = false;
    if (b->after && !b->after->in_use) {
        list_remove(l, b->after);
        absorb(a, b, b->after);
    }
    if (b->before && !b->before->in_use) {
        struct caching_block *left = b->before;
        list_remove(l, left);
        absorb(a, left, b);
        b = left;
    }
    list_add(l, b);
}

void *caching_address(const struct caching_block *block)
{
    return block->address;
}

const struct caching_stats *caching_stats(const struct caching_allocator *a)
{
    return &a->stats;
}

struct caching_allocator *caching_new(struct device_memory device)
{
    struct caching_allocator *a = calloc(1, sizeof *a);
    if (a)
        a->device = device;
    return a;
}

// Joins the rest of a segment into its first block, whether it is held or not.
static void join_segment(struct caching_allocator *a, struct caching_block *first)
{
    while (first->after)
        absorb(a, first, first->after);
}

void caching_delete(struct caching_allocator *a)
{
    if (!a)
        return;
    while (a->segments) {
        join_segment(a, a->segments);
        release_segment(a, a->segments);
    }
    for (int pool = 0; pool < POOLS; pool++)
        free(a->free[pool].items);
    free(a);
}
