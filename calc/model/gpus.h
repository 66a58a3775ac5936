// Cards by number and by name, for the core: config.gpu is an index into gpus.def.

#ifndef CALC_GPUS_H
#define CALC_GPUS_H

#include <stddef.h>
#include <stdint.h>

#include "calc/base/writer.h"
#include "calc/model/model.h"
#include "calc/vram.h"

// Index of a card by name, or -1. Case, blanks, '-' and '_' do not matter, nor do the maker's words
// ("NVIDIA GeForce RTX 4070" is "4070").
int gpu_index(const char *name, size_t len);

// The name nearest to an unknown one, or NULL.
const char *gpu_nearest(const char *name, size_t len);

// Other cards whose names begin as an ambiguous one ("A100"), ", " between; writes nothing for a name of its own.
void gpu_write_others(struct writer *w, const char *name, size_t len, int index);

// What a configuration's card has for this process, and its name; 0 and NULL without one.
uint64_t gpu_bytes(const struct vram_config *c);
const char *gpu_name(const struct vram_config *c);

// What vram_gpu does not say. Texts are "" where sources are left out.
struct gpu_more {
    const char *architecture;
    bool memory_reported;  // seen as a driver's report; else the advertised size
    const char *memory_source, *memory_note;
    const char *source_note;
};
struct gpu_more gpu_more_at(size_t index);

#endif
