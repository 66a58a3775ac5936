// The caching allocator under any order of requests: its sums must stay true.

#include "calc/replay/allocator.h"
#include "tests/fuzz/calc_fuzz.h"

enum { LIVE_MAX = 64 };

static void check_stats(const struct allocator *a)
{
    const struct allocator_stats *s = &a->stats;
    calc_fuzz_check(s->requested.now <= s->allocated.now, "more requested than allocated");
    calc_fuzz_check(s->allocated.now <= s->reserved.now, "more allocated than reserved");
    calc_fuzz_check(s->reserved.now <= s->reserved.peak, "reserved is above its peak");
    calc_fuzz_check(s->reserved.now % ALLOCATOR_SMALL_BUFFER == 0, "reserved is not whole pages");
    if (a->config.device_bytes)
        calc_fuzz_check(s->reserved.peak <= a->config.device_bytes, "more reserved than there is");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t divisions[] = {0, 2, 8, 64};
    if (size < 4)
        return 0;
    struct calc_fuzz_heap h = {0};
    struct vram_mem mem = {calc_fuzz_alloc, calc_fuzz_free, &h};
    struct allocator_config config = {.expandable = data[0] & 1,
                                      .device_bytes = (uint64_t)data[1] << 24,
                                      .max_split_bytes =
                                          data[0] & 2 ? (uint64_t)(21 + data[2]) << 20 : 0,
                                      .allowed_bytes = data[0] & 4 ? (uint64_t)data[3] << 24 : 0,
                                      .gc_threshold_ppm = data[0] & 8 ? 500000 : 0,
                                      .roundup_divisions = divisions[data[0] >> 6]};
    struct allocator a;
    uint32_t live[LIVE_MAX];
    size_t count = 0;
    calc_fuzz_check(allocator_init(&a, &mem, &config) == VRAM_OK, "good settings are refused");
    for (size_t i = 4; i + 3 <= size; i += 3) {
        uint64_t bytes = (uint64_t)(data[i + 1] << 8 | data[i + 2]) << data[i] % 20;
        if (data[i] & 128 && count) {
            size_t which = data[i + 1] % count;
            calc_fuzz_check(allocator_free(&a, live[which]) == VRAM_OK, "a free is refused");
            live[which] = live[--count];
        } else if (count < LIVE_MAX && allocator_malloc(&a, bytes, &live[count]) == VRAM_OK) {
            count++;
        }
        check_stats(&a);
    }
    while (count)
        allocator_free(&a, live[--count]);
    calc_fuzz_check(a.stats.allocated.now == 0 && a.stats.requested.now == 0,
                    "something stays allocated");
    calc_fuzz_check(allocator_empty_cache(&a) == VRAM_OK, "empty_cache fails");
    calc_fuzz_check(a.stats.reserved.now == 0, "something stays reserved");
    allocator_done(&a);
    calc_fuzz_check(h.live == 0, "memory was not given back");
    return 0;
}
