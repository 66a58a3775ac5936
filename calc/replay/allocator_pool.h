// The blocks of the caching allocator and the ordered set of the free ones, for the allocator's own
// files only.

#ifndef CALC_ALLOCATOR_POOL_H
#define CALC_ALLOCATOR_POOL_H

#include "calc/replay/allocator_state.h"

// Part of every step of a replay. In the small module size counts more.
#ifdef VRAM_SMALL
#define POOL_HOT static inline
#else
#define POOL_HOT static inline __attribute__((always_inline))
#endif

enum allocator_state { BLOCK_USED, BLOCK_FREE, BLOCK_UNMAPPED };

// One range of addresses. Numbers, not pointers: the array may move when it grows.
struct allocator_block {
    uint64_t size, address;
    uint64_t requested;      // bytes asked for, while in use
    uint64_t born;           // the pool's searches when it became free
    uint32_t prev, next;     // neighbours in the segment, 0 at its ends
    uint32_t before, after;  // in the list of its size class, or of unmapped ranges
    uint16_t class;          // of size, while free: pool_class
    uint8_t state;           // enum allocator_state; block 0 counts as used
    bool small, expandable;
    uint8_t stream;
    uint8_t unused[7];  // 64 bytes: a block's place is a shift away
};

// The size class: row = power of two, column = 1/32 of it; the first row counts single steps of
// 512.
static inline uint32_t pool_class(uint64_t size)
{
    uint64_t units = size / ALLOCATOR_MIN_BLOCK;
    // shifted, the units are below 64: they lie in the row of that number or in the next one
    uint32_t shift = 58 - (uint32_t)__builtin_clzll(units | ALLOCATOR_COLUMNS);
    return shift * ALLOCATOR_COLUMNS + (uint32_t)(units >> shift);
}

static inline bool pool_is_less(const struct allocator_block *a, const struct allocator_block *b)
{
    return a->size != b->size ? a->size < b->size : a->address < b->address;
}

// First block of the first class after c that is in use, or 0.
static inline uint32_t pool_first_after(const struct allocator_pool *p, uint32_t c)
{
    uint32_t row = c >> 5, column = c & 31;
    uint32_t columns = (uint32_t)(p->columns[row] & ~(((uint64_t)2 << column) - 1));
    if (!columns) {
        uint64_t rows = p->rows & ~(((uint64_t)2 << row) - 1);
        if (!rows)
            return 0;
        row = (uint32_t)__builtin_ctzll(rows);
        columns = p->columns[row];
    }
    return p->head[(row << 5) + (uint32_t)__builtin_ctz(columns)];
}

// The first block of class c with at least size bytes, or 0; the first of the class has fewer. The
// list is walked from both ends.
static inline uint32_t pool_find_size(const struct allocator_pool *p,
                                      const struct allocator_block *blocks, uint64_t size,
                                      uint32_t c)
{
    uint32_t i = p->head[c];
#ifndef VRAM_SMALL
    uint32_t last = 0, before = p->tail[c];
    for (; blocks[i].size < size; i = blocks[i].after) {
        if (blocks[before].size < size)
            return last;
        last = before;
        before = blocks[last].before;
    }
#else
    while (i && blocks[i].size < size)
        i = blocks[i].after;
#endif
    return i;
}

// The smallest block by (size, address) with at least size bytes, which are of class c, or 0.
static inline uint32_t pool_lower_bound(const struct allocator_pool *p,
                                        const struct allocator_block *blocks, uint64_t size,
                                        uint32_t c)
{
    uint32_t i = p->columns[c >> 5] >> (c & 31) & 1 ? p->head[c] : 0;
    if (i && blocks[i].size < size)
        i = pool_find_size(p, blocks, size, c);
    return i ? i : pool_first_after(p, c);
}

// The next block by (size, address), or 0.
static inline uint32_t pool_after(const struct allocator_pool *p,
                                  const struct allocator_block *blocks, uint32_t i)
{
    return blocks[i].after ? blocks[i].after : pool_first_after(p, blocks[i].class);
}

// What a free block of a virtual segment could grow to.
static inline uint64_t pool_room(const struct allocator_block *blocks, uint32_t i)
{
    const struct allocator_block *b = &blocks[i], *next = &blocks[b->next];
    return b->size + (next->state == BLOCK_UNMAPPED ? next->size : 0);
}

// Of virtual segments, i being the smallest that is large enough: among larger free blocks the one
// before an unmapped tail loses to those that cannot grow as far.
static inline uint32_t pool_less_room(const struct allocator_pool *p,
                                      const struct allocator_block *blocks, uint32_t i)
{
    for (uint32_t next = pool_after(p, blocks, i); next; next = pool_after(p, blocks, i)) {
        if (pool_room(blocks, next) >= pool_room(blocks, i))
            break;
        i = next;
    }
    return i;
}

static inline uint32_t pool_first(const struct allocator_pool *p)
{
    if (!p->rows)
        return 0;
    uint32_t row = (uint32_t)__builtin_ctzll(p->rows);
    return p->head[(row << 5) + (uint32_t)__builtin_ctz(p->columns[row])];
}

// The largest, or 0.
static inline uint32_t pool_last(const struct allocator_pool *p)
{
    if (!p->rows)
        return 0;
    uint32_t row = 63 - (uint32_t)__builtin_clzll(p->rows);
    return p->tail[(row << 5) + 31 - (uint32_t)__builtin_clz(p->columns[row])];
}

// The first block of b's class that comes after b; the last one does. The list is walked from both
// ends, of which one may be near: each step waits for the one before it.
#ifdef VRAM_SMALL
static inline uint32_t pool_find_after(const struct allocator_pool *p,
                                       const struct allocator_block *blocks, uint32_t i)
{
    uint32_t after = p->head[blocks[i].class];
    while (pool_is_less(&blocks[after], &blocks[i]))
        after = blocks[after].after;
    return after;
}
#else
POOL_HOT uint32_t pool_find_after(struct allocator_pool *p, const struct allocator_block *blocks,
                                  uint32_t i)
{
    const struct allocator_block *b = &blocks[i];
    uint32_t after = p->head[b->class], last = p->tail[b->class];
    if (!pool_is_less(&blocks[after], b))
        return after;
    uint32_t *place = &p->near[b->class % ALLOCATOR_NEAR], near = *place;
    const struct allocator_block *n = &blocks[near];
    bool here = n->class == b->class && n->small == p->small && n->stream == p->stream;
    if (here && n->state == BLOCK_FREE && near != i) {
        if (pool_is_less(n, b))
            after = n->after;
        else
            last = near;
    }
    *place = i;
    while (pool_is_less(&blocks[after], b)) {
        uint32_t before = blocks[last].before;
        if (pool_is_less(&blocks[before], b))
            return last;
        last = before;
        after = blocks[after].after;
    }
    return after;
}
#endif

// Puts block i between its neighbours of the same class. Frees come in runs of rising or falling
// addresses, so both ends are looked at before the list is walked.
POOL_HOT void pool_insert(struct allocator_pool *p, struct allocator_block *blocks, uint32_t i)
{
    struct allocator_block *b = &blocks[i];
    uint32_t c = pool_class(b->size), row = c >> 5, bit = (uint32_t)1 << (c & 31);
    b->class = (uint16_t)c;
    b->state = BLOCK_FREE;
    b->born = p->searches;
    if (!(p->columns[row] & bit)) {
        p->columns[row] |= bit;
        p->rows |= (uint64_t)1 << row;
        p->head[c] = p->tail[c] = i;
        b->before = b->after = 0;
        return;
    }
    uint32_t before = p->tail[c], after = 0;
    if (!pool_is_less(&blocks[before], b)) {
        after = pool_find_after(p, blocks, i);
        before = blocks[after].before;
    }
    b->before = before;
    b->after = after;
    *(before ? &blocks[before].after : &p->head[c]) = i;
    *(after ? &blocks[after].before : &p->tail[c]) = i;
}

POOL_HOT void pool_remove(struct allocator_pool *p, struct allocator_block *blocks, uint32_t i)
{
    struct allocator_block *b = &blocks[i];
    uint32_t before = b->before, after = b->after;
    b->state = BLOCK_USED;
    if (before && after) {
        blocks[before].after = after;
        blocks[after].before = before;
        return;
    }
    uint32_t c = b->class, row = c >> 5;
    if (before) {
        blocks[before].after = 0;
        p->tail[c] = before;
    } else if (after) {
        blocks[after].before = 0;
        p->head[c] = after;
    } else {
        p->columns[row] &= ~((uint32_t)1 << (c & 31));
        if (!p->columns[row])
            p->rows &= ~((uint64_t)1 << row);
    }
}

static inline struct allocator_pool *pool_at(struct allocator *a, uint32_t stream, bool small)
{
    if (stream)
        return &a->others[stream - 1][small];
    return small ? &a->small : &a->large;
}

static inline struct allocator_pool *pool_of(struct allocator *a, uint32_t block)
{
    return pool_at(a, a->blocks[block].stream, a->blocks[block].small);
}

// A fresh number; allocator_reserve has made sure that there is one.
static inline uint32_t block_new(struct allocator *a)
{
    uint32_t i = a->spare;
    if (i) {
        a->spare = a->blocks[i].next;
        a->spares--;
        return i;
    }
    return a->count++;
}

static inline void block_drop(struct allocator *a, uint32_t i)
{
    a->blocks[i].next = a->spare;
    a->spare = i;
    a->spares++;
}

// Cuts size bytes off the front of block i; the rest goes into the pool as a block of its own. A
// number must be left.
POOL_HOT void block_split(struct allocator *a, struct allocator_pool *p, uint32_t i, uint64_t size)
{
    uint32_t rest = block_new(a);
    struct allocator_block *b = &a->blocks[i], *r = &a->blocks[rest];
    r->size = b->size - size;
    r->address = b->address + size;
    r->prev = i;
    r->next = b->next;
    r->small = b->small;
    r->stream = b->stream;
    r->expandable = b->expandable;
    a->blocks[b->next].prev = rest;  // number 0, if none, has no neighbours
    b->next = rest;
    b->size = size;
    pool_insert(p, a->blocks, rest);
}

// Gives a block back, joined with its free neighbours.
POOL_HOT void block_release(struct allocator *a, struct allocator_pool *p, uint32_t i)
{
    struct allocator_block *blocks = a->blocks, *b = &blocks[i];
    uint32_t before = b->prev, after = b->next;
    if (blocks[before].state == BLOCK_FREE) {
        pool_remove(p, blocks, before);
        b->address = blocks[before].address;
        b->size += blocks[before].size;
        b->prev = blocks[before].prev;
        blocks[b->prev].next = i;
        block_drop(a, before);
    }
    if (blocks[after].state == BLOCK_FREE) {
        pool_remove(p, blocks, after);
        b->size += blocks[after].size;
        b->next = blocks[after].next;
        blocks[b->next].prev = i;
        block_drop(a, after);
    }
    pool_insert(p, blocks, i);
}

static inline void stat_add(struct allocator_stat *s, uint64_t bytes)
{
    s->now += bytes;
    if (s->now > s->peak)
        s->peak = s->now;
}

// Makes sure that n more numbers can be had. Errors: VRAM_ENOMEM.
int allocator_reserve(struct allocator *a, uint32_t n);

// Whether the device has bytes more to give. Virtual and plain segments count the same.
bool allocator_device_has(const struct allocator *a, uint64_t bytes);

#endif
