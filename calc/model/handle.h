// What a vram handle holds, for the files of the core and of its edges (emit, advise, parsers).

#ifndef CALC_HANDLE_H
#define CALC_HANDLE_H

#include "calc/base/err.h"
#include "calc/base/mem.h"
#include "calc/model/model.h"
#include "calc/vram.h"
#include "calc/base/writer.h"

struct engine;  // tapes, player and replay; engine.h

// Where a field got its value: line 0 means that nothing set it, HANDLE_BY_CALL that no text did.
#define HANDLE_BY_CALL UINT32_MAX
struct handle_place {
    uint32_t line, col;
};

struct vram {
    struct vram_mem mem;
    struct vram_config config;
    struct err err;
    struct writer text;   // what vram_text gives
    struct writer notes;  // remarks of the last parse, one a line
    struct handle_place places[CONFIG_FIELD_COUNT];
    struct handle_place last;          // of the key that was set last
    char place_file[ERR_FILE_MAX];     // the text that lines are of; "" for a text without a name
    struct vram_result result;
    bool has_result;
    struct engine *engine;  // made at the first run
};

// The recorded error is about the configuration as a whole: gives it the place of the key that it names, or else of the
// key that was set last, where that came from a text. Returns the error's code.
int vram_locate(struct vram *v);

// The position of a value that nobody wrote: a preset's, a family's default.
#define HANDLE_IMPLIED ((struct err_pos){NULL, 0, 1})

// vram_set for parsers: with a position, and without forgetting the last error. "preset" and "gpu"
// too.
int vram_set_at(struct vram *v, struct err_pos pos, const char *key, size_t key_len,
                const char *value, size_t value_len);

#endif
