// What a second module adds for a page that is asked for it: every format of every answer.
//
// It is the first module's whole interface and this one more function: a page that writes a trace or a picture loads it
// then, and hands it the configuration as flat lines.

#include "calc/wasm/wasm.h"

// Writes an answer of the configuration as it is now; answers and formats by their positions in VRAM_ANSWERS and
// VRAM_FORMATS. An answer that is not there yet is an error.
EXPORT(write) int wasm_write(uint32_t answer, uint32_t format)
{
    vram *v = wasm_handle();
    if (!v)
        return VRAM_ENOMEM;
    return wasm_finish(v, vram_write(v, (enum vram_answer)answer, (enum vram_format)format, 0));
}

// The words for the numbers above: answers, formats, one group a line.
EXPORT(write_names) const char *wasm_write_names(void)
{
    return ""
#define X(id, name) name " "
        VRAM_ANSWERS(X)
#undef X
        "\n"
#define X(id, name) name " "
        VRAM_FORMATS(X)
#undef X
        "\n";
}
