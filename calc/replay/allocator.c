// The caching allocator's rules: rounding, best fit, split, coalesce, segments, and what happens
// when the device is full.

#include "calc/replay/allocator.h"

#include "calc/replay/allocator_expandable.h"
#include "calc/replay/allocator_pool.h"

enum { BLOCKS_PER_MALLOC = 8 };

#define FIRST_ADDRESS ALLOCATOR_LARGE_BUFFER
#define LAST_ADDRESS ALLOCATOR_MAX

// ---- life -------------------------------------------------------------------------------------

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

// SRC: c10/cuda/CUDAAllocatorConfig.cpp: max_split_size_mb is above 20 MiB, a threshold lies in (0,
// 1), divisions are powers of two.
static bool config_is_good(const struct allocator_config *c)
{
    if (c->max_split_bytes && c->max_split_bytes <= ALLOCATOR_LARGE_BUFFER)
        return false;
    if (c->gc_threshold_ppm >= 1000000)
        return false;
    if (c->device_bytes > ALLOCATOR_MAX || c->allowed_bytes > ALLOCATOR_MAX)
        return false;
    return c->roundup_divisions <= 1 || is_power_of_two(c->roundup_divisions);
}

static void pool_clear(struct allocator_pool *p, uint8_t stream, bool small)
{
    p->stream = stream;
    p->small = small;
    p->rows = 0;
    for (uint32_t r = 0; r < ALLOCATOR_ROWS; r++)
        p->columns[r] = 0;
#ifndef VRAM_SMALL
    mem_zero(p->near, sizeof p->near);
#endif
    p->page = small ? ALLOCATOR_SMALL_BUFFER : ALLOCATOR_LARGE_BUFFER;
    p->searches = 0;
    p->unmapped = 0;
}

int allocator_init(struct allocator *a, const struct vram_mem *mem,
                   const struct allocator_config *config)
{
    a->mem = mem;
    a->blocks = NULL;
    a->cap = 0;
    return allocator_reset(a, config);
}

static bool gc_is_on(const struct allocator *a)
{
    return a->config.gc_threshold_ppm && a->config.allowed_bytes;
}

int allocator_reset(struct allocator *a, const struct allocator_config *config)
{
    if (!config_is_good(config))
        return VRAM_EARG;
    a->config = *config;
    if (!a->config.max_split_bytes)
        a->config.max_split_bytes = UINT64_MAX;
    a->plain = !config->expandable && !gc_is_on(a) && a->config.max_split_bytes == UINT64_MAX;
    mem_zero(&a->stats, sizeof a->stats);
    a->next_address = config->falling && !config->expandable ? LAST_ADDRESS : FIRST_ADDRESS;
    a->count = 1;
    a->spare = a->spares = 0;
    a->stream = 0;
    a->settle = NULL;
    for (unsigned i = 0; i < ALLOCATOR_STREAMS; i++) {
        pool_clear(pool_at(a, i, false), (uint8_t)i, false);
        pool_clear(pool_at(a, i, true), (uint8_t)i, true);
    }
    return VRAM_OK;
}

int allocator_copy(struct allocator *to, const struct allocator *from)
{
    const struct vram_mem *mem = to->mem;
    void (*settle)(void *) = to->settle;
    void *blocks = to->blocks, *settled = to->settled;
    size_t count = from->blocks ? from->count : 0, cap = to->cap;
    int rc = mem_renew(mem, &blocks, &cap, count, sizeof *from->blocks);
    to->blocks = blocks;
    to->cap = cap;
    if (rc != VRAM_OK)
        return rc;
    mem_copy(blocks, from->blocks, count * sizeof *from->blocks);
    *to = *from;
    to->mem = mem;
    to->blocks = blocks;
    to->cap = cap;
    to->settle = settle;
    to->settled = settled;
    return VRAM_OK;
}

void allocator_done(struct allocator *a)
{
    if (a->blocks)
        mem_free(a->mem, a->blocks, a->cap * sizeof *a->blocks);
    a->blocks = NULL;
    a->cap = 0;
}

// ---- sizes ------------------------------------------------------------------------------------

// SRC: roundup_power2_next_division: the step is 1/divisions of the power of two below.
static uint64_t round_to_division(uint64_t bytes, uint64_t divisions)
{
    uint64_t step = (UINT64_C(1) << (63 - __builtin_clzll(bytes))) / divisions;
    return (bytes + step - 1) / step * step;
}

uint64_t allocator_round(const struct allocator_config *config, uint64_t bytes)
{
    if (bytes > ALLOCATOR_MAX)
        return 0;
    if (bytes < ALLOCATOR_MIN_BLOCK)
        return ALLOCATOR_MIN_BLOCK;
    uint64_t divisions = config->roundup_divisions;
    if (divisions > 1 && bytes > ALLOCATOR_MIN_BLOCK * divisions)
        return round_to_division(bytes, divisions);
    return (bytes + ALLOCATOR_MIN_BLOCK - 1) / ALLOCATOR_MIN_BLOCK * ALLOCATOR_MIN_BLOCK;
}

void allocator_request(const struct allocator_config *config, uint64_t bytes,
                       struct allocator_request *out)
{
    out->bytes = bytes;
    out->rounded = bytes ? allocator_round(config, bytes) : 0;
    out->class = pool_class(out->rounded);
}

uint64_t allocator_segment_bytes(uint64_t rounded)
{
    if (rounded <= ALLOCATOR_SMALL)
        return ALLOCATOR_SMALL_BUFFER;
    if (rounded < ALLOCATOR_MIN_LARGE)
        return ALLOCATOR_LARGE_BUFFER;
    return (rounded + ALLOCATOR_ROUND_LARGE - 1) / ALLOCATOR_ROUND_LARGE * ALLOCATOR_ROUND_LARGE;
}

// ---- best fit ---------------------------------------------------------------------------------

// The free block that settings choose, i being the smallest that is large enough or 0.
static uint32_t choose_free(struct allocator *a, struct allocator_pool *p, uint64_t size,
                            uint32_t i)
{
    if (gc_is_on(a))
        p->searches++;
    if (!i)
        return 0;
    if (a->config.expandable)
        i = pool_less_room(p, a->blocks, i);
    uint64_t have = a->blocks[i].size, limit = a->config.max_split_bytes;
    if (size < limit ? have >= limit : have >= size + ALLOCATOR_LARGE_BUFFER)
        return 0;
    return i;
}

// The free block for a request, still in the pool; 0 if there is none or it must not be used.
static inline uint32_t find_free(struct allocator *a, struct allocator_pool *p,
                                 const struct allocator_request *r)
{
    uint32_t i = pool_lower_bound(p, a->blocks, r->rounded, r->class);
    return a->plain ? i : choose_free(a, p, r->rounded, i);
}

// ---- segments ---------------------------------------------------------------------------------

static uint64_t segment_address(struct allocator *a, uint64_t bytes)
{
    uint64_t at = a->next_address;
    a->next_address = a->config.falling ? at - bytes : at + bytes;
    return a->config.falling ? a->next_address : at;
}

static void segment_new(struct allocator *a, const struct allocator_pool *p, uint64_t bytes,
                        uint32_t *block)
{
    uint32_t i = block_new(a);
    a->blocks[i] = (struct allocator_block){.size = bytes,
                                            .address = segment_address(a, bytes),
                                            .small = p->small,
                                            .stream = p->stream};
    stat_add(&a->stats.reserved, bytes);
    stat_add(&a->stats.segments, 1);
    a->stats.device_mallocs++;
    *block = i;
}

static void segment_free(struct allocator *a, uint32_t i)
{
    pool_remove(pool_of(a, i), a->blocks, i);
    a->stats.reserved.now -= a->blocks[i].size;
    a->stats.segments.now--;
    a->stats.device_frees++;
    block_drop(a, i);
}

static bool is_whole_segment(const struct allocator_block *b)
{
    return !b->expandable && !b->prev && !b->next;
}

// One attempt at the device. *block is 0 if it has no more. Errors: VRAM_ENOMEM.
static int segment_try(struct allocator *a, struct allocator_pool *p, uint64_t size,
                       uint32_t *block)
{
    uint64_t bytes = allocator_segment_bytes(size), allowed = a->config.allowed_bytes;
    *block = 0;
    if (allowed && (bytes > allowed || a->stats.reserved.now > allowed - bytes))
        return VRAM_OK;
    if (a->config.expandable)
        return allocator_map(a, p, size, block);
    if (allocator_device_has(a, bytes))
        segment_new(a, p, bytes, block);
    return VRAM_OK;
}

// Frees old whole segments of the stream's large pool until the reserve is under the threshold.
// SRC: garbage_collect_cached_blocks. The mean age is compared without division.
static void collect_garbage(struct allocator *a)
{
    struct allocator_pool *p = pool_at(a, a->stream, false);
    uint64_t allowed = a->config.allowed_bytes, ppm = a->config.gc_threshold_ppm;
    uint64_t threshold = allowed / 1000000 * ppm + allowed % 1000000 * ppm / 1000000;
    if (a->stats.reserved.now <= threshold)
        return;
    uint64_t target = a->stats.reserved.now - threshold, reclaimed = 0, ages = 0, count = 0;
    for (uint32_t i = pool_first(p); i; i = pool_after(p, a->blocks, i)) {
        if (is_whole_segment(&a->blocks[i])) {
            ages += p->searches - a->blocks[i].born;
            count++;
        }
    }
    for (bool freed = true; reclaimed < target && freed && count;) {
        uint64_t mean_ages = ages, mean_count = count;
        freed = false;
        for (uint32_t i = pool_first(p), next; i; i = next) {
            next = pool_after(p, a->blocks, i);
            const struct allocator_block *b = &a->blocks[i];
            uint64_t age = p->searches - b->born;
            if (!is_whole_segment(b) || age * mean_count < mean_ages)
                continue;
            freed = true;
            reclaimed += b->size;
            ages -= age;
            count--;
            segment_free(a, i);
        }
    }
}

static uint32_t find_large(const struct allocator *a, const struct allocator_pool *p, uint64_t size)
{
    return pool_lower_bound(p, a->blocks, size, pool_class(size));
}

// Frees cached blocks of max_split_size and more, only as many as the request needs.
// SRC: release_available_cached_blocks. Returns whether enough was freed.
static bool release_oversize(struct allocator *a, struct allocator_pool *p, uint64_t size)
{
    uint64_t limit = a->config.max_split_bytes;
    if (limit == UINT64_MAX || a->config.expandable)
        return false;
    uint64_t need = size < limit ? limit : size, released = 0;
    uint32_t i = find_large(a, p, need);
    if (i) {
        segment_free(a, i);
        return true;
    }
    while (released < need) {
        uint32_t last = 0;
        for (i = find_large(a, p, limit); i; i = pool_after(p, a->blocks, i))
            last = i;
        if (!last)
            return false;
        released += a->blocks[last].size;
        segment_free(a, last);
    }
    return true;
}

static int release_pool(struct allocator *a, struct allocator_pool *p)
{
    for (uint32_t i = pool_first(p), next; i; i = next) {
        next = pool_after(p, a->blocks, i);
        if (is_whole_segment(&a->blocks[i])) {
            segment_free(a, i);
        } else if (a->blocks[i].expandable) {
            int rc = allocator_unmap(a, i);
            if (rc)
                return rc;
        }
    }
    return VRAM_OK;
}

int allocator_empty_cache(struct allocator *a)
{
    int rc = VRAM_OK;
    for (unsigned i = 0; i < 2 * ALLOCATOR_STREAMS && rc == VRAM_OK; i++)
        rc = release_pool(a, pool_at(a, i / 2, i % 2));
    return rc;
}

// No free block fits: ask the device, then make room and ask again.
static int block_from_device(struct allocator *a, struct allocator_pool *p, uint64_t size,
                             uint32_t *block)
{
    if (gc_is_on(a))
        collect_garbage(a);
    int rc = segment_try(a, p, size, block);
    if (rc || *block)
        return rc;
    if (release_oversize(a, p, size)) {
        rc = segment_try(a, p, size, block);
        if (rc || *block)
            return rc;
    }
    if (a->settle)
        a->settle(a->settled);
    rc = allocator_empty_cache(a);
    if (rc)
        return rc;
    a->stats.retries++;
    rc = segment_try(a, p, size, block);
    if (rc || *block)
        return rc;
    a->stats.ooms++;
    a->stats.oom_bytes = allocator_segment_bytes(size);
    return VRAM_ENOFIT;
}

// ---- malloc and free --------------------------------------------------------------------------

static bool should_split(const struct allocator *a, const struct allocator_block *b, uint64_t size)
{
    uint64_t rest = b->size - size;
    if (b->small || a->config.expandable)
        return rest >= ALLOCATOR_MIN_BLOCK;
    return size < a->config.max_split_bytes && rest > ALLOCATOR_SMALL;
}

int allocator_take(struct allocator *a, const struct allocator_request *request, uint32_t *block)
{
    uint64_t size = request->rounded;
    *block = 0;
    if (!size)
        return request->bytes ? VRAM_EOVERFLOW : VRAM_OK;
    int rc = VRAM_OK;
    if (a->cap < (size_t)a->count + BLOCKS_PER_MALLOC)
        rc = allocator_reserve(a, BLOCKS_PER_MALLOC);
    if (rc)
        return rc;
    struct allocator_pool *p = pool_at(a, a->stream, size <= ALLOCATOR_SMALL);
    uint32_t i = find_free(a, p, request);
    if (i) {
        pool_remove(p, a->blocks, i);
    } else {
        rc = block_from_device(a, p, size, &i);
        if (rc)
            return rc;
    }
    if (should_split(a, &a->blocks[i], size))
        block_split(a, p, i, size);
    struct allocator_block *b = &a->blocks[i];
    b->state = BLOCK_USED;
    b->requested = request->bytes;
    stat_add(&a->stats.requested, request->bytes);
    stat_add(&a->stats.allocated, b->size);
    a->stats.mallocs++;
    *block = i;
    return VRAM_OK;
}

int allocator_malloc(struct allocator *a, uint64_t bytes, uint32_t *block)
{
    struct allocator_request r;
    allocator_request(&a->config, bytes, &r);
    return allocator_take(a, &r, block);
}

bool allocator_has(const struct allocator *a, bool small, uint64_t bytes)
{
    return pool_lower_bound(small ? &a->small : &a->large, a->blocks, bytes, pool_class(bytes));
}

int allocator_hold(struct allocator *a, uint32_t block)
{
    if (!block)
        return VRAM_OK;
    if (block >= a->count || a->blocks[block].state != BLOCK_USED || !a->blocks[block].requested)
        return VRAM_EARG;
    struct allocator_block *b = &a->blocks[block];
    a->stats.requested.now -= b->requested;
    a->stats.allocated.now -= b->size;
    a->stats.frees++;
    b->requested = 0;
    return VRAM_OK;
}

void allocator_release(struct allocator *a, uint32_t block)
{
    if (block)
        block_release(a, pool_of(a, block), block);
}

int allocator_free(struct allocator *a, uint32_t block)
{
    int rc = allocator_hold(a, block);
    if (rc == VRAM_OK)
        allocator_release(a, block);
    return rc;
}

// The free block that is there for a request stays, if nothing else would come of it: in a virtual
// segment it would be joined with its neighbours, and the garbage collector counts searches.
static uint32_t find_lent(struct allocator *a, const struct allocator_request *r)
{
    bool lends = r->rounded && a->plain;
    return lends ? find_free(a, pool_at(a, a->stream, r->rounded <= ALLOCATOR_SMALL), r) : 0;
}

static void stat_touch(struct allocator_stat *s, uint64_t bytes)
{
    if (s->now + bytes > s->peak)
        s->peak = s->now + bytes;
}

int allocator_borrow(struct allocator *a, const struct allocator_request *request)
{
    uint32_t i = find_lent(a, request);
    if (!i) {
        int rc = allocator_take(a, request, &i);
        return rc == VRAM_OK ? allocator_free(a, i) : rc;
    }
    const struct allocator_block *b = &a->blocks[i];
    bool splits = should_split(a, b, request->rounded);
    stat_touch(&a->stats.requested, request->bytes);
    stat_touch(&a->stats.allocated, splits ? request->rounded : b->size);
    a->stats.mallocs++;
    a->stats.frees++;
    return VRAM_OK;
}

uint64_t allocator_block_address(const struct allocator *a, uint32_t block)
{
    return block && block < a->count ? a->blocks[block].address : 0;
}

uint64_t allocator_block_bytes(const struct allocator *a, uint32_t block)
{
    return block && block < a->count ? a->blocks[block].size : 0;
}
