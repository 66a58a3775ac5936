// The caching allocator's rules, one by one.

#include "calc/replay/allocator_pool.h"
#include "tests/unit/calc_allocator_fixture.h"

// ---- sizes ------------------------------------------------------------------------------------

static void test_rounds_to_512(void **state)
{
    (void)state;
    struct allocator_config c = DEFAULTS;
    assert_int_equal(allocator_round(&c, 1), 512);
    assert_int_equal(allocator_round(&c, 511), 512);
    assert_int_equal(allocator_round(&c, 512), 512);
    assert_int_equal(allocator_round(&c, 513), 1024);
    assert_int_equal(allocator_round(&c, 8519680), 8519680);
    assert_int_equal(allocator_round(&c, (UINT64_C(1) << 53) + 1), 0);
    assert_int_equal(allocator_round(&c, UINT64_MAX), 0);
}

// The example in PyTorch's own comment: 1200 in four divisions is 1280 (there without the 512
// limit).
static void test_rounds_to_power_of_two_divisions(void **state)
{
    (void)state;
    struct allocator_config c = {.roundup_divisions = 4};
    assert_int_equal(allocator_round(&c, 1200 * 1024), 1280 * 1024);
    assert_int_equal(allocator_round(&c, 1280 * 1024), 1280 * 1024);
    assert_int_equal(allocator_round(&c, 1280 * 1024 + 1), 1536 * 1024);
    assert_int_equal(allocator_round(&c, 2 * MIB), 2 * MIB);
    assert_int_equal(allocator_round(&c, 2048), 2048);  // not above 4 * 512: plain rounding
    assert_int_equal(allocator_round(&c, 2049), 2560);
    assert_int_equal(allocator_round(&c, 300), 512);
}

static void test_segment_sizes(void **state)
{
    (void)state;
    assert_int_equal(allocator_segment_bytes(512), 2 * MIB);
    assert_int_equal(allocator_segment_bytes(MIB), 2 * MIB);
    assert_int_equal(allocator_segment_bytes(MIB + 512), 20 * MIB);
    assert_int_equal(allocator_segment_bytes(10 * MIB - 512), 20 * MIB);
    assert_int_equal(allocator_segment_bytes(10 * MIB), 10 * MIB);
    assert_int_equal(allocator_segment_bytes(10 * MIB + 512), 12 * MIB);
    assert_int_equal(allocator_segment_bytes(21 * MIB), 22 * MIB);
}

static void test_zero_bytes_are_nothing(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    assert_int_equal(get(&f, 0), 0);
    put(&f, 0);
    assert_int_equal(f.a.stats.reserved.peak, 0);
    assert_int_equal(f.a.stats.mallocs, 0);
    stop(&f);
}

static void test_too_much_is_an_overflow(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t block;
    start(&f, DEFAULTS);
    assert_int_equal(allocator_malloc(&f.a, UINT64_MAX, &block), VRAM_EOVERFLOW);
    assert_int_equal(allocator_malloc(&f.a, (UINT64_C(1) << 53) + 1, &block), VRAM_EOVERFLOW);
    get(&f, UINT64_C(1) << 52);
    get(&f, UINT64_C(1) << 52);
    assert_int_equal(allocator_malloc(&f.a, 512, &block), VRAM_ENOFIT);
    stop(&f);
}

// ---- pools, split, best fit, coalesce ---------------------------------------------------------

static void test_one_mib_is_small_and_a_byte_more_is_large(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    get(&f, MIB);
    assert_int_equal(f.a.stats.reserved.now, 2 * MIB);
    get(&f, MIB);  // the other half of the same segment
    assert_int_equal(f.a.stats.reserved.now, 2 * MIB);
    get(&f, MIB + 1);
    assert_int_equal(f.a.stats.reserved.now, 22 * MIB);
    assert_int_equal(f.a.stats.segments.now, 2);
    stop(&f);
}

static void test_small_pool_splits_down_to_512(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    for (int i = 0; i < 4096; i++)
        assert_int_equal(allocator_block_bytes(&f.a, get(&f, 1)), 512);
    assert_int_equal(f.a.stats.segments.now, 1);
    assert_int_equal(f.a.stats.allocated.now, 2 * MIB);
    assert_int_equal(f.a.stats.requested.now, 4096);
    get(&f, 1);
    assert_int_equal(f.a.stats.segments.now, 2);
    stop(&f);
}

// In the large pool a rest of 1 MiB stays with its block, a larger one is cut off.
static void test_large_pool_keeps_a_rest_of_one_mib(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    uint32_t whole = get(&f, 11 * MIB);
    assert_int_equal(allocator_block_bytes(&f.a, whole), 12 * MIB);
    assert_int_equal(f.a.stats.allocated.now, 12 * MIB);
    assert_int_equal(f.a.stats.requested.now, 11 * MIB);
    uint32_t cut = get(&f, 11 * MIB - 512);
    assert_int_equal(allocator_block_bytes(&f.a, cut), 11 * MIB - 512);
    assert_int_equal(f.a.stats.reserved.now, 24 * MIB);
    stop(&f);
}

static void test_best_fit_takes_the_smallest_then_the_lowest(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    uint32_t big = get(&f, 40 * MIB), low = get(&f, 30 * MIB), high = get(&f, 30 * MIB);
    uint64_t at_low = address(&f, low), at_high = address(&f, high), at_big = address(&f, big);
    assert_true(at_low < at_high);
    put(&f, big);
    put(&f, high);
    put(&f, low);
    assert_int_equal(address(&f, get(&f, 30 * MIB)), at_low);
    assert_int_equal(address(&f, get(&f, 29 * MIB + 512)), at_high);
    assert_int_equal(address(&f, get(&f, 12 * MIB)), at_big);
    assert_int_equal(f.a.stats.reserved.now, 100 * MIB);
    stop(&f);
}

// Where addresses fall, the lowest of blocks of one size is the one that came last; segments of
// expandable_segments do not compete.
// Segments A to D of the small pool, each in two halves.
static void get_halves(struct fixture *f, uint32_t half[8])
{
    for (int i = 0; i < 8; i++)
        half[i] = get(f, MIB);
}

static void put_segment(struct fixture *f, const uint32_t half[8], int segment)
{
    put(f, half[2 * segment]);
    put(f, half[2 * segment + 1]);
}

// What was last put among others of its size has become a block of the other pool, of that size: no
// place among them is looked for from there.
static void test_numbers_go_to_the_other_pool(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t half[8];
    start(&f, DEFAULTS);
    get_halves(&f, half);
    uint64_t b = address(&f, half[2]);
    get(&f, 9 * MIB);
    put_segment(&f, half, 0);
    put_segment(&f, half, 3);
    put_segment(&f, half, 1);  // between these
    uint32_t number = half[3];
    half[0] = get(&f, MIB);
    half[1] = get(&f, MIB);
    half[2] = get(&f, MIB);
    half[3] = get(&f, MIB);
    half[6] = get(&f, MIB);
    half[7] = get(&f, MIB);
    assert_int_equal(half[2], number);
    put_segment(&f, half, 1);
    get(&f, 9 * MIB);
    assert_int_equal(f.a.blocks[number].size, 2 * MIB);
    assert_false(f.a.blocks[number].small);
    put_segment(&f, half, 3);
    put_segment(&f, half, 2);  // between B and D
    assert_int_equal(address(&f, get(&f, MIB)), b);
    stop(&f);
}

static void test_falling_addresses_give_the_newest(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.falling = true});
    uint32_t old = get(&f, 30 * MIB), new = get(&f, 30 * MIB);
    uint64_t at_old = address(&f, old), at_new = address(&f, new);
    assert_int_equal(at_new + 30 * MIB, at_old);
    assert_true(at_old < ALLOCATOR_MAX);
    put(&f, old);
    put(&f, new);
    assert_int_equal(address(&f, get(&f, 30 * MIB)), at_new);
    assert_int_equal(address(&f, get(&f, 30 * MIB)), at_old);
    stop(&f);
    start(&f, (struct allocator_config){.falling = true, .expandable = true});
    assert_true(address(&f, get(&f, 30 * MIB)) < address(&f, get(&f, 30 * MIB)));
    stop(&f);
}

static void test_free_neighbours_coalesce(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    uint32_t a = get(&f, 5 * MIB), b = get(&f, 5 * MIB), c = get(&f, 5 * MIB), d = get(&f, 5 * MIB);
    assert_int_equal(f.a.stats.segments.now, 1);
    put(&f, a);
    put(&f, c);
    put(&f, b);  // joins with both sides: 15 MiB in a row
    assert_int_equal(address(&f, get(&f, 15 * MIB)), address(&f, d) - 15 * MIB);
    assert_int_equal(f.a.stats.segments.now, 1);
    stop(&f);
}

// SRC: c10/cuda/CUDACachingAllocator.cpp, BlockComparatorSize: blocks are ordered by stream first.
static void test_free_blocks_serve_their_stream(void **state)
{
    (void)state;
    for (int expandable = 0; expandable < 2; expandable++) {
        struct fixture f;
        start(&f, (struct allocator_config){.expandable = expandable});
        put(&f, get(&f, 100 * MIB));
        allocator_stream(&f.a, 1);
        uint32_t other = get(&f, 100 * MIB);
        assert_int_equal(f.a.stats.reserved.now, 200 * MIB);
        put(&f, other);
        assert_int_equal(get(&f, 40 * MIB), other);
        allocator_stream(&f.a, 0);
        get(&f, 100 * MIB);
        assert_int_equal(f.a.stats.reserved.now, 200 * MIB);
        get(&f, 60 * MIB);  // what is left is the other stream's
        assert_int_equal(f.a.stats.reserved.now, 260 * MIB);
        assert_int_equal(allocator_empty_cache(&f.a), VRAM_OK);
        assert_int_equal(f.a.stats.reserved.now, expandable ? 200 * MIB : 260 * MIB);
        stop(&f);
    }
}

static void test_segments_do_not_coalesce(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    uint32_t a = get(&f, 20 * MIB), b = get(&f, 20 * MIB);
    assert_int_equal(address(&f, a) + 20 * MIB, address(&f, b));
    put(&f, a);
    put(&f, b);
    get(&f, 40 * MIB);
    assert_int_equal(f.a.stats.reserved.now, 80 * MIB);
    stop(&f);
}

static void test_wrong_frees_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, DEFAULTS);
    assert_int_equal(allocator_free(&f.a, 7), VRAM_EARG);
    uint32_t a = get(&f, 512);
    put(&f, a);
    assert_int_equal(allocator_free(&f.a, a), VRAM_EARG);
    assert_int_equal(allocator_free(&f.a, UINT32_MAX), VRAM_EARG);
    stop(&f);
}

// ---- options ----------------------------------------------------------------------------------

static void test_max_split_size(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.max_split_bytes = 100 * MIB});
    uint32_t big = get(&f, 200 * MIB);
    put(&f, big);
    get(&f, 50 * MIB);  // below the limit: must not touch the big one
    assert_int_equal(f.a.stats.reserved.now, 250 * MIB);
    get(&f, 180 * MIB);  // within 20 MiB? 200 >= 180 + 20: refused
    assert_int_equal(f.a.stats.reserved.now, 430 * MIB);
    uint32_t near = get(&f, 180 * MIB + 512);  // 200 < 180 MiB + 512 + 20 MiB: taken whole
    assert_int_equal(f.a.stats.reserved.now, 430 * MIB);
    assert_int_equal(allocator_block_bytes(&f.a, near), 200 * MIB);
    stop(&f);
}

// Oversize blocks are given back first, before everything cached.
static void test_max_split_size_makes_room(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.max_split_bytes = 100 * MIB, .device_bytes = 400 * MIB});
    uint32_t a = get(&f, 150 * MIB), b = get(&f, 120 * MIB), c = get(&f, 50 * MIB);
    put(&f, a);
    put(&f, b);
    put(&f, c);
    get(&f, 220 * MIB);  // 320 reserved: frees 150, then 120 (220 needed), not the 50
    assert_int_equal(f.a.stats.reserved.now, 270 * MIB);
    assert_int_equal(f.a.stats.retries, 0);
    stop(&f);
}

static void test_garbage_collection_frees_the_oldest(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.gc_threshold_ppm = 500000, .allowed_bytes = 400 * MIB});
    uint32_t old = get(&f, 100 * MIB), young = get(&f, 110 * MIB);
    put(&f, old);
    put(&f, young);
    for (int i = 0; i < 10; i++)
        put(&f, get(&f, 110 * MIB - 1));
    get(&f, 150 * MIB);  // 210 reserved is above 200: the 100 goes, the 110 is younger
    assert_int_equal(f.a.stats.reserved.now, 260 * MIB);
    assert_int_equal(f.a.stats.device_frees, 1);
    stop(&f);
}

static void test_garbage_collection_needs_a_limit(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.gc_threshold_ppm = 1});
    put(&f, get(&f, 100 * MIB));
    get(&f, 150 * MIB);
    assert_int_equal(f.a.stats.reserved.now, 250 * MIB);
    stop(&f);
}

static void test_expandable_segments_grow_by_pages(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.expandable = true});
    get(&f, 512);
    assert_int_equal(f.a.stats.reserved.now, 2 * MIB);
    uint32_t a = get(&f, 30 * MIB);
    assert_int_equal(f.a.stats.reserved.now, 42 * MIB);
    uint32_t b = get(&f, 30 * MIB);  // 10 mapped and free, 20 more: one page
    assert_int_equal(f.a.stats.reserved.now, 62 * MIB);
    assert_int_equal(address(&f, b), address(&f, a) + 30 * MIB);
    assert_int_equal(f.a.stats.segments.now, 0);
    stop(&f);
}

// A block that can grow is left alone while another one fits, though that one is larger.
static void test_expandable_prefers_what_cannot_grow(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.expandable = true});
    uint32_t hole = get(&f, 15 * MIB);
    get(&f, 17 * MIB);  // up to 32 of 40 mapped: the tail has 8
    put(&f, hole);
    uint32_t got = get(&f, 6 * MIB);
    assert_int_equal(address(&f, got), address(&f, hole));
    stop(&f);
}

static void test_expandable_unmaps_to_make_room(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.expandable = true, .device_bytes = 110 * MIB});
    uint32_t low = get(&f, 50 * MIB);
    uint32_t high = get(&f, 30 * MIB);
    put(&f, low);
    assert_int_equal(f.a.stats.reserved.now, 80 * MIB);
    uint32_t small = get(&f, 512);  // another segment, 82 in all
    // 60 more at the end: only once 40 of the hole's 50 are unmapped.
    uint32_t got = get(&f, 52 * MIB);
    assert_int_equal(address(&f, got), address(&f, high) + 30 * MIB);
    assert_int_equal(f.a.stats.retries, 1);
    assert_int_equal(f.a.stats.reserved.now, 2 * MIB + (80 - 40 + 60) * MIB);
    put(&f, small);
    stop(&f);
}

static void test_bad_settings_are_refused(void **state)
{
    (void)state;
    static const struct allocator_config bad[] = {{.max_split_bytes = 20 * MIB},
                                                  {.gc_threshold_ppm = 1000000},
                                                  {.roundup_divisions = 3},
                                                  {.device_bytes = UINT64_MAX},
                                                  {.allowed_bytes = UINT64_MAX}};
    struct fixture f;
    start(&f, DEFAULTS);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(allocator_reset(&f.a, &bad[i]), VRAM_EARG);
    stop(&f);
}

// ---- a full device ----------------------------------------------------------------------------

static void test_full_device_frees_whole_segments_and_retries(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.device_bytes = 100 * MIB});
    uint32_t a = get(&f, 40 * MIB), b = get(&f, 40 * MIB);
    put(&f, a);
    get(&f, 60 * MIB);
    assert_int_equal(f.a.stats.retries, 1);
    assert_int_equal(f.a.stats.reserved.now, 100 * MIB);
    assert_int_equal(f.a.stats.reserved.peak, 100 * MIB);
    put(&f, b);
    stop(&f);
}

static void release_all(void *fixture)
{
    struct fixture *f = fixture;
    allocator_release(&f->a, f->held);
    f->held = 0;
}

// What another stream still uses comes back, too: the device is waited for first.
static void test_full_device_waits_for_other_streams(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, (struct allocator_config){.device_bytes = 100 * MIB});
    f.a.settle = release_all;
    f.a.settled = &f;
    f.held = get(&f, 60 * MIB);
    assert_int_equal(allocator_hold(&f.a, f.held), VRAM_OK);
    get(&f, 60 * MIB);
    assert_int_equal(f.a.stats.retries, 1);
    assert_int_equal(f.a.stats.reserved.now, 60 * MIB);
    stop(&f);
}

// A segment with one block in use cannot be given back: the reason for most surprising errors.
static void test_out_of_memory_with_a_stuck_segment(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t block;
    start(&f, (struct allocator_config){.device_bytes = 100 * MIB});
    uint32_t a = get(&f, 59 * MIB);  // a 60 MiB segment, not split
    put(&f, a);
    uint32_t stuck = get(&f, 2 * MIB);  // cut from it
    assert_int_equal(allocator_malloc(&f.a, 60 * MIB - 1, &block), VRAM_ENOFIT);
    assert_int_equal(block, 0);
    assert_int_equal(f.a.stats.oom_bytes, 60 * MIB);
    assert_int_equal(f.a.stats.ooms, 1);
    assert_int_equal(f.a.stats.retries, 1);
    assert_int_equal(f.a.stats.reserved.now, 60 * MIB);
    put(&f, stuck);
    get(&f, 60 * MIB);  // a caught error leaves the allocator in order
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_to_512),
        cmocka_unit_test(test_rounds_to_power_of_two_divisions),
        cmocka_unit_test(test_segment_sizes),
        cmocka_unit_test(test_zero_bytes_are_nothing),
        cmocka_unit_test(test_too_much_is_an_overflow),
        cmocka_unit_test(test_one_mib_is_small_and_a_byte_more_is_large),
        cmocka_unit_test(test_small_pool_splits_down_to_512),
        cmocka_unit_test(test_large_pool_keeps_a_rest_of_one_mib),
        cmocka_unit_test(test_best_fit_takes_the_smallest_then_the_lowest),
        cmocka_unit_test(test_numbers_go_to_the_other_pool),
        cmocka_unit_test(test_falling_addresses_give_the_newest),
        cmocka_unit_test(test_free_neighbours_coalesce),
        cmocka_unit_test(test_free_blocks_serve_their_stream),
        cmocka_unit_test(test_segments_do_not_coalesce),
        cmocka_unit_test(test_wrong_frees_are_refused),
        cmocka_unit_test(test_max_split_size),
        cmocka_unit_test(test_max_split_size_makes_room),
        cmocka_unit_test(test_garbage_collection_frees_the_oldest),
        cmocka_unit_test(test_garbage_collection_needs_a_limit),
        cmocka_unit_test(test_expandable_segments_grow_by_pages),
        cmocka_unit_test(test_expandable_prefers_what_cannot_grow),
        cmocka_unit_test(test_expandable_unmaps_to_make_room),
        cmocka_unit_test(test_bad_settings_are_refused),
        cmocka_unit_test(test_full_device_frees_whole_segments_and_retries),
        cmocka_unit_test(test_full_device_waits_for_other_streams),
        cmocka_unit_test(test_out_of_memory_with_a_stuck_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
