// Out-of-memory messages, with and without a configuration. The answer about one has advice in it,
// which tries some thirty changes: the models are as small as can be, and most of the first bytes
// ask for a generation, which has few changes.

#include "tests/fuzz/calc_fuzz.h"
#include "tests/unit/calc_answers.h"

enum { WITH_CONFIG = 1, JSON = 4, TRAINS = 0x70, TRAINED = 0x20 };

static void configure(vram *v, bool trains)
{
    static const char *const small[][2] = {{"n_layer", "1"},     {"n_embd", "64"},
                                           {"n_head", "2"},      {"vocab_size", "512"},
                                           {"block_size", "64"}, {"evaluation", "false"}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        calc_fuzz_check(vram_set(v, small[i][0], small[i][1]) == VRAM_OK, "a field is refused");
    vram_set(v, "task", trains ? "train" : "inference");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calc_fuzz_heap h = {0};
    vram *v = calc_fuzz_open(&h);
    if (size == 0) {
        calc_fuzz_close(&h, v);
        return 0;
    }
    const char *text = (const char *)data + 1;
    if (data[0] & WITH_CONFIG)
        configure(v, (data[0] & TRAINS) == TRAINED);
    calc_fuzz_check_error(v, write_oom(v, text, size - 1, data[0] & WITH_CONFIG,
                                       data[0] & JSON ? VRAM_FORMAT_JSON : VRAM_FORMAT_TEXT));
    calc_fuzz_close(&h, v);
    return 0;
}
