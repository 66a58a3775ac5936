// What the two modules share.

#ifndef CALC_WASM_H
#define CALC_WASM_H

#include "calc/vram.h"

#define EXPORT(name) __attribute__((export_name(#name))) extern

// The module's one handle, made at the first call. NULL without memory.
vram *wasm_handle(void);

// The first len bytes of the input as a text; NULL if there are fewer.
const char *wasm_input_text(size_t len);

// Passes a code on; where it is an error the text becomes that, as JSON.
int wasm_finish(vram *v, int code);

#endif
