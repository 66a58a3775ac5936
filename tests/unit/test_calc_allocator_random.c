// The caching allocator against a slow one: a flat list of ranges, every question answered by
// looking at all of them.

#include "tests/unit/calc_allocator_fixture.h"

// ---- the slow one -----------------------------------------------------------------------------

enum { USED, FREE, UNMAPPED, MAX_RANGES = 20000 };

struct range {
    uint64_t address, size, requested, born;
    uint32_t segment;  // ranges of one segment lie side by side in the list
    int state;
    bool small, growing;
};

struct slow {
    struct allocator_config c;
    struct range r[MAX_RANGES];
    size_t count;
    uint64_t next_address, reserved, allocated, requested, searches[2], retries, ooms;
    uint64_t peak_reserved, peak_allocated;
    uint32_t segments;
};

static uint64_t max_split(const struct slow *s)
{
    return s->c.max_split_bytes ? s->c.max_split_bytes : UINT64_MAX;
}

static void insert_at(struct slow *s, size_t at, struct range r)
{
    assert_true(s->count < MAX_RANGES);
    memmove(&s->r[at + 1], &s->r[at], (s->count - at) * sizeof *s->r);
    s->r[at] = r;
    s->count++;
}

static void remove_at(struct slow *s, size_t at)
{
    s->count--;
    memmove(&s->r[at], &s->r[at + 1], (s->count - at) * sizeof *s->r);
}

static bool same_segment(const struct slow *s, size_t i, size_t j)
{
    return i < s->count && j < s->count && s->r[i].segment == s->r[j].segment;
}

// Range i, in whatever state, joined with its neighbours of the same state. Returns where it now
// is.
static size_t join(struct slow *s, size_t i)
{
    if (same_segment(s, i, i + 1) && s->r[i + 1].state == s->r[i].state) {
        s->r[i].size += s->r[i + 1].size;
        remove_at(s, i + 1);
    }
    if (i > 0 && same_segment(s, i, i - 1) && s->r[i - 1].state == s->r[i].state) {
        s->r[i].size += s->r[i - 1].size;
        s->r[i].address = s->r[i - 1].address;
        remove_at(s, i - 1);
        i--;
    }
    return i;
}

static bool less(const struct range *a, uint64_t size, uint64_t address)
{
    return a->size < size || (a->size == size && a->address < address);
}

// The smallest free range by (size, address) that is not below (size, address); count if none.
static size_t lowest(const struct slow *s, bool small, uint64_t size, uint64_t address)
{
    size_t best = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const struct range *r = &s->r[i];
        if (r->state != FREE || r->small != small || less(r, size, address))
            continue;
        if (best == s->count || less(r, s->r[best].size, s->r[best].address))
            best = i;
    }
    return best;
}

static uint64_t with_tail(const struct slow *s, size_t i)
{
    bool tail = same_segment(s, i, i + 1) && s->r[i + 1].state == UNMAPPED;
    return s->r[i].size + (tail ? s->r[i + 1].size : 0);
}

static size_t slow_find(struct slow *s, bool small, uint64_t size)
{
    if (s->c.gc_threshold_ppm && s->c.allowed_bytes)
        s->searches[small]++;
    size_t i = lowest(s, small, size, 0);
    while (i < s->count && s->c.expandable) {
        size_t next = lowest(s, small, s->r[i].size, s->r[i].address + 1);
        if (next == s->count || with_tail(s, next) >= with_tail(s, i))
            break;
        i = next;
    }
    if (i < s->count && size < max_split(s) && s->r[i].size >= max_split(s))
        return s->count;
    if (i < s->count && size >= max_split(s) && s->r[i].size >= size + 20 * MIB)
        return s->count;
    return i;
}

static bool device_has(const struct slow *s, uint64_t bytes)
{
    return !s->c.device_bytes || s->reserved + bytes <= s->c.device_bytes;
}

static uint64_t up(uint64_t n, uint64_t step)
{
    return n % step ? n + step - n % step : n;
}

static bool is_segment(const struct slow *s, size_t i)
{
    return !same_segment(s, i, i + 1) && !(i > 0 && same_segment(s, i, i - 1));
}

static void drop_segment(struct slow *s, size_t i)
{
    s->reserved -= s->r[i].size;
    remove_at(s, i);
}

static size_t new_segment(struct slow *s, bool small, uint64_t size, int state)
{
    insert_at(s, s->count,
              (struct range){.address = s->next_address,
                             .size = size,
                             .state = state,
                             .small = small,
                             .segment = ++s->segments,
                             .growing = s->c.expandable});
    s->next_address += size;
    return s->count - 1;
}

// Maps pages at the front of unmapped range i. Returns where the free range then is; count on
// failure.
static size_t slow_map(struct slow *s, size_t i, uint64_t size, uint64_t page)
{
    uint64_t bytes = up(size, page);
    if (!device_has(s, bytes))
        return s->count;
    if (bytes < s->r[i].size) {
        struct range rest = s->r[i];
        rest.address += bytes;
        rest.size -= bytes;
        insert_at(s, i + 1, rest);
    }
    s->r[i].size = bytes;
    s->r[i].state = FREE;
    s->reserved += bytes;
    return join(s, i);
}

static size_t slow_grow(struct slow *s, bool small, uint64_t size)
{
    uint64_t page = small ? 2 * MIB : 20 * MIB, total = s->c.device_bytes;
    size_t from = s->count;
    for (size_t i = 0; i < s->count && from == s->count; i++) {
        if (s->r[i].state != UNMAPPED || s->r[i].small != small)
            continue;
        size_t start = i > 0 && same_segment(s, i, i - 1) && s->r[i - 1].state == FREE ? i - 1 : i;
        uint64_t room = 0;
        for (size_t j = start; same_segment(s, start, j) && s->r[j].state != USED; j++)
            room += s->r[j].size;
        if (room >= size)
            from = start;
    }
    if (from == s->count) {
        s->next_address = up(s->next_address, 20 * MIB);
        from = new_segment(s, small,
                           total ? up(total + total / 8, page) : (UINT64_C(1) << 55) / page * page,
                           UNMAPPED);
    }
    while (s->r[from].state == UNMAPPED || s->r[from].size < size) {
        bool first = s->r[from].state == UNMAPPED;
        size_t at = first ? from : from + 1;
        uint64_t need = first ? size : size - s->r[from].size;
        size_t mapped = slow_map(s, at, need < s->r[at].size ? need : s->r[at].size, page);
        if (mapped == s->count)
            return s->count;
        from = mapped;
    }
    return from;
}

static size_t slow_device(struct slow *s, bool small, uint64_t size)
{
    uint64_t bytes = size <= MIB ? 2 * MIB : size < 10 * MIB ? 20 * MIB : up(size, 2 * MIB);
    if (s->c.allowed_bytes && s->reserved + bytes > s->c.allowed_bytes)
        return s->count;
    if (s->c.expandable)
        return slow_grow(s, small, size);
    if (!device_has(s, bytes))
        return s->count;
    s->reserved += bytes;
    return new_segment(s, small, bytes, FREE);
}

static void slow_unmap(struct slow *s, size_t i)
{
    struct range r = s->r[i];
    uint64_t page = r.small ? 2 * MIB : 20 * MIB, end = r.address + r.size;
    uint64_t from = up(r.address, page), to = end / page * page;
    if (from >= to)
        return;
    remove_at(s, i);
    struct range part = r;
    if (end > to) {
        part.address = to, part.size = end - to;
        insert_at(s, i, part);
    }
    part.address = from, part.size = to - from, part.state = UNMAPPED;
    insert_at(s, i, part);
    if (from > r.address) {
        part = r, part.size = from - r.address;
        insert_at(s, i, part);
        i++;
    }
    s->reserved -= to - from;
    i = join(s, i);
    if (is_segment(s, i))
        remove_at(s, i);
}

static void slow_empty(struct slow *s)
{
    for (size_t i = s->count; i-- > 0;) {
        if (i >= s->count || s->r[i].state != FREE)
            continue;
        if (s->r[i].growing)
            slow_unmap(s, i);
        else if (is_segment(s, i))
            drop_segment(s, i);
    }
}

static void slow_collect(struct slow *s)
{
    uint64_t threshold = (uint64_t)((double)s->c.allowed_bytes * s->c.gc_threshold_ppm / 1e6);
    uint64_t target = s->reserved > threshold ? s->reserved - threshold : 0, got = 0;
    for (bool freed = true; freed && got < target;) {
        double ages = 0, n = 0;
        for (size_t i = 0; i < s->count; i++)
            if (s->r[i].state == FREE && !s->r[i].small && !s->r[i].growing && is_segment(s, i))
                ages += (double)(s->searches[0] - s->r[i].born), n++;
        freed = false;
        for (size_t i = s->count; i-- > 0;) {
            const struct range *r = &s->r[i];
            if (r->state != FREE || r->small || r->growing || !is_segment(s, i))
                continue;
            if ((double)(s->searches[0] - r->born) < ages / n)
                continue;
            got += r->size;
            freed = true;
            drop_segment(s, i);
        }
    }
}

// The largest free oversize ranges go until enough is freed; a single one that is large enough goes
// alone.
static bool slow_oversize(struct slow *s, bool small, uint64_t size)
{
    if (max_split(s) == UINT64_MAX || s->c.expandable)
        return false;
    uint64_t need = size < max_split(s) ? max_split(s) : size, got = 0;
    size_t one = lowest(s, small, need, 0);
    if (one < s->count) {
        drop_segment(s, one);
        return true;
    }
    while (got < need) {
        size_t last = s->count;
        for (size_t i = 0; i < s->count; i++)
            if (s->r[i].state == FREE && s->r[i].small == small && s->r[i].size >= max_split(s) &&
                (last == s->count || !less(&s->r[i], s->r[last].size, s->r[last].address)))
                last = i;
        if (last == s->count)
            return false;
        got += s->r[last].size;
        drop_segment(s, last);
    }
    return true;
}

static size_t slow_obtain(struct slow *s, bool small, uint64_t size)
{
    if (s->c.gc_threshold_ppm && s->c.allowed_bytes)
        slow_collect(s);
    size_t i = slow_device(s, small, size);
    if (i == s->count && slow_oversize(s, small, size))
        i = slow_device(s, small, size);
    if (i < s->count)
        return i;
    slow_empty(s);
    s->retries++;
    return slow_device(s, small, size);
}

static uint64_t slow_round(const struct slow *s, uint64_t bytes)
{
    uint64_t d = s->c.roundup_divisions, floor = 1;
    if (d < 2 || bytes <= 512 * d)
        return bytes < 512 ? 512 : up(bytes, 512);
    while (floor * 2 <= bytes)
        floor *= 2;
    return up(bytes, floor / d);
}

// Address of the block, or 0 for out of memory.
static uint64_t slow_malloc(struct slow *s, uint64_t bytes)
{
    uint64_t size = slow_round(s, bytes);
    bool small = size <= MIB;
    size_t i = slow_find(s, small, size);
    if (i == s->count)
        i = slow_obtain(s, small, size);
    if (s->reserved > s->peak_reserved)
        s->peak_reserved = s->reserved;
    if (i == s->count) {
        s->ooms++;
        return 0;
    }
    uint64_t rest = s->r[i].size - size;
    if (small || s->c.expandable ? rest >= 512 : size < max_split(s) && rest > MIB) {
        struct range r = s->r[i];
        r.address += size, r.size = rest, r.state = FREE, r.born = s->searches[small];
        s->r[i].size = size;
        insert_at(s, i + 1, r);
    }
    s->r[i].state = USED;
    s->r[i].requested = bytes;
    s->allocated += s->r[i].size;
    s->requested += bytes;
    if (s->allocated > s->peak_allocated)
        s->peak_allocated = s->allocated;
    return s->r[i].address;
}

static void slow_free(struct slow *s, uint64_t address)
{
    size_t i = 0;
    while (s->r[i].address != address || s->r[i].state != USED)
        i++;
    s->allocated -= s->r[i].size;
    s->requested -= s->r[i].requested;
    s->r[i].state = FREE;
    i = join(s, i);
    s->r[i].born = s->searches[s->r[i].small];
}

// ---- the two side by side ---------------------------------------------------------------------

static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// Sizes as a step has them: scalars, repeated shapes, a few huge ones.
static uint64_t random_size(uint64_t *seed)
{
    uint64_t r = random_next(seed), kind = r % 16;
    r >>= 8;
    if (kind < 4)
        return 1 + r % 4096;
    if (kind < 7)
        return MIB / 2 + r % (2 * MIB);
    if (kind < 10)
        return MIB * (1 + r % 12);
    if (kind < 14)
        return (UINT64_C(1) << (r % 26)) * 3;
    return MIB * 30 + r % (MIB * 150);
}

static void compare(const struct allocator *a, const struct slow *s)
{
    assert_int_equal(a->stats.reserved.now, s->reserved);
    assert_int_equal(a->stats.reserved.peak, s->peak_reserved);
    assert_int_equal(a->stats.allocated.now, s->allocated);
    assert_int_equal(a->stats.allocated.peak, s->peak_allocated);
    assert_int_equal(a->stats.requested.now, s->requested);
    assert_int_equal(a->stats.retries, s->retries);
    assert_int_equal(a->stats.ooms, s->ooms);
}

static void run_both(struct allocator_config config, uint64_t seed, int steps, size_t most)
{
    static struct slow s;
    struct fixture f;
    uint32_t blocks[400];
    size_t live = 0;
    memset(&s, 0, sizeof s);
    s.c = config;
    s.next_address = 20 * MIB;
    start(&f, config);
    for (int i = 0; i < steps; i++) {
        uint64_t r = random_next(&seed);
        bool wave = (i / 300) % 2;
        if (!config.expandable && r / 1024 % 8 == 0) {
            uint64_t bytes = random_size(&seed), at = slow_malloc(&s, bytes);
            struct allocator_request request;
            allocator_request(&config, bytes, &request);
            assert_int_equal(allocator_borrow(&f.a, &request), at ? VRAM_OK : VRAM_ENOFIT);
            if (at)
                slow_free(&s, at);
        } else if (live < most && (live == 0 || r % 8 < (wave ? 3 : 5))) {
            uint64_t bytes = random_size(&seed), at = slow_malloc(&s, bytes);
            int rc = allocator_malloc(&f.a, bytes, &blocks[live]);
            assert_int_equal(rc, at ? VRAM_OK : VRAM_ENOFIT);
            assert_int_equal(allocator_block_address(&f.a, blocks[live]), at);
            live += at != 0;
        } else if (live) {
            size_t which = r / 16 % live;
            slow_free(&s, allocator_block_address(&f.a, blocks[which]));
            put(&f, blocks[which]);
            blocks[which] = blocks[--live];
        }
        if (r % 997 == 0) {
            slow_empty(&s);
            assert_int_equal(allocator_empty_cache(&f.a), VRAM_OK);
        }
        compare(&f.a, &s);
    }
    stop(&f);
}

static void test_random_requests(void **state)
{
    (void)state;
    static const struct allocator_config configs[] = {
        {0},
        {.device_bytes = 2000 * MIB},
        {.device_bytes = 600 * MIB},
        {.expandable = true},
        {.expandable = true, .device_bytes = 1500 * MIB},
        {.expandable = true, .device_bytes = 500 * MIB},
        {.max_split_bytes = 21 * MIB, .device_bytes = 1500 * MIB},
        {.max_split_bytes = 64 * MIB, .device_bytes = 800 * MIB},
        {.gc_threshold_ppm = 300000, .allowed_bytes = 1200 * MIB},
        {.gc_threshold_ppm = 800000, .allowed_bytes = 900 * MIB, .max_split_bytes = 100 * MIB},
        {.roundup_divisions = 8},
        {.roundup_divisions = 16, .expandable = true, .allowed_bytes = 1000 * MIB},
    };
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
        for (uint64_t seed = 1; seed <= 6; seed++)
            run_both(configs[i], seed * UINT64_C(0x9E3779B97F4A7C15), 2500, seed % 2 ? 40 : 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_requests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
