// What a vram handle holds, for the files of the core and of its edges (emit, advise, parsers).

#ifndef CALC_HANDLE_H
#define CALC_HANDLE_H

#include "calc/base/err.h"
#include "calc/base/mem.h"
#include "calc/model/model.h"
#include "calc/vram.h"
#include "calc/base/writer.h"

struct engine;  // tapes, player and replay; engine.h

struct vram {
    struct vram_mem mem;
    struct vram_config config;
    struct err err;
    struct writer text;   // what vram_text gives
    struct writer notes;  // remarks of the last parse, one a line
    struct vram_result result;
    bool has_result;
    struct engine *engine;  // made at the first run
};

// vram_set for parsers: with a position, and without forgetting the last error. "preset" and "gpu"
// too.
int vram_set_at(struct vram *v, struct err_pos pos, const char *key, size_t key_len,
                const char *value, size_t value_len);

#endif
