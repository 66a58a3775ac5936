// The parser of nanoGPT's Python files: no crash, and what it accepts can be written and read
// again.

#include "tests/fuzz/calc_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return calc_fuzz_parse(VRAM_KIND_NANOGPT, data, size);
}
