// Out-of-memory messages, with and without a configuration, and the ranges of a sweep.

#include "tests/fuzz/calc_fuzz.h"
#include "tests/unit/calc_answers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calc_fuzz_heap h = {0};
    vram *v = calc_fuzz_open(&h);
    if (size == 0) {
        calc_fuzz_close(&h, v);
        return 0;
    }
    const char *text = (const char *)data + 1;
    if (data[0] & 2) {
        vram_set(v, "n_layer", "2");
        vram_set(v, "n_embd", "64");
        vram_set(v, "n_head", "2");
    }
    calc_fuzz_check_error(v, write_oom(v, text, size - 1, data[0] & 1,
                                       data[0] & 4 ? VRAM_FORMAT_JSON : VRAM_FORMAT_TEXT));
    calc_fuzz_close(&h, v);
    return 0;
}
