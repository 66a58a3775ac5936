// Memory snapshots: pickles and JSON, alone and beside an estimate.

#include "tests/fuzz/calc_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calc_fuzz_heap h = {0};
    vram *v = calc_fuzz_open(&h);
    const struct vram_snapshot *s;
    if (size == 0) {
        calc_fuzz_close(&h, v);
        return 0;
    }
    vram_set(v, "n_layer", "2");
    vram_set(v, "n_embd", "64");
    vram_set(v, "n_head", "2");
    vram_set(v, "vocab_size", "256");
    if (data[0] & 4)
        h.fail_from = h.calls + 1 + data[0] / 8;
    int code = vram_read_snapshot(v, data + 1, size - 1, "fuzz", data[0] & 1, &s);
    h.fail_from = 0;
    calc_fuzz_check_error(v, code);
    calc_fuzz_check(code || s->requested_bytes <= s->allocated_bytes ||
                        s->allocated_bytes > UINT32_MAX,
                    "more was asked for than is there");
    if (code == VRAM_OK) {
        code = vram_write(v, VRAM_ANSWER_SNAPSHOT,
                          data[0] & 2 ? VRAM_FORMAT_JSON : VRAM_FORMAT_TEXT, 0);
        calc_fuzz_check_error(v, code);
    }
    calc_fuzz_close(&h, v);
    return 0;
}
