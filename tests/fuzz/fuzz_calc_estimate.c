// The whole estimate on configurations made of any fields with any values: what a run says must
// hang together, and running out of memory at any point is an error and nothing worse.

#include "tests/fuzz/calc_fuzz.h"

// Values that sit at edges; the rest come from the input as they are.
static uint64_t value_of(const struct vram_field *f, uint8_t how, uint16_t raw)
{
    switch (how % 8) {
    case 0: return f->min;
    case 1: return f->max;
    case 2: return f->initial;
    case 3: return f->min + raw % 4;
    case 4: return (uint64_t)raw * 64;
    case 5: return (uint64_t)1 << raw % 40;
    default: return raw % 64;
    }
}

static void check_result(const struct vram_result *r)
{
    uint64_t sum = 0;
    for (int i = 0; i < VRAM_CAT_COUNT; i++)
        sum += r->by_category[i];
    calc_fuzz_check(sum == r->peak_live.bytes, "the categories do not add up to the peak");
    calc_fuzz_check(r->peak_requested_bytes >= r->peak_live.bytes, "requested is below live");
    calc_fuzz_check(r->peak_allocated.bytes >= r->peak_requested_bytes,
                    "allocated is below requested");
    calc_fuzz_check(r->peak_reserved.bytes >= r->peak_allocated.bytes,
                    "reserved is below allocated");
    calc_fuzz_check(r->process.bytes >= r->peak_reserved.bytes, "the process is below reserved");
    calc_fuzz_check(r->trained_params <= r->params, "more trained parameters than parameters");
    calc_fuzz_check(r->decayed_params + r->nodecay_params >= r->trained_params,
                    "parameters without a group");
}

static void run(vram *v)
{
    uint64_t live = 0;
    int code = vram_run(v);
    calc_fuzz_check_error(v, code);
    if (code)
        return;
    struct vram_result r = *vram_result(v);
    check_result(&r);
    calc_fuzz_check(vram_live_peak(v, &live) == VRAM_OK, "live_peak fails where run does not");
    calc_fuzz_check(live == r.peak_live.bytes, "live_peak says something else than run");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct calc_fuzz_heap h = {.fail_from = data[0] & 1 ? 2 + data[1] : 0};
    vram *v = calc_fuzz_open(&h);
    vram_set(v, "n_layer", "3");
    for (size_t i = 2; i + 4 <= size; i += 4) {
        size_t fields = 0;
        while (vram_field_at(fields))
            fields++;
        const struct vram_field *f = vram_field_at(data[i] % fields);
        uint64_t value = value_of(f, data[i + 1], (uint16_t)(data[i + 2] << 8 | data[i + 3]));
        if (strcmp(f->key, "n_layer") == 0 && value > 40)
            value = 40;
        vram_set_u64(v, f->key, value);
    }
    run(v);
    calc_fuzz_close(&h, v);
    return 0;
}
