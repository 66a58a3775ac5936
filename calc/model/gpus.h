// Cards by number and by name, for the core: config.gpu is an index into gpus.def.

#ifndef CALC_GPUS_H
#define CALC_GPUS_H

#include <stddef.h>
#include <stdint.h>

#include "calc/base/writer.h"
#include "calc/model/config.h"
#include "calc/vram.h"

// Index of a card by name, or -1. Case, blanks, '-' and '_' do not matter, nor do the maker's words
// ("NVIDIA GeForce RTX 4070" is "4070").
int gpu_index(const char *name, size_t len);

// Chooses a card: by name, by its memory ("12 GB"), or "none". Errors: VRAM_EGPU with a suggestion.
int gpu_choose(struct vram_config *c, struct message *e, struct err_pos pos, const char *value,
               size_t len);

// Other cards whose names begin as an ambiguous one ("A100"), ", " between; writes nothing for a
// name of its own.
void gpu_write_others(struct writer *w, const char *name, size_t len, int index);

// The name of a configuration's card, "card" for one without a name; NULL without a card.
const char *gpu_name(const struct vram_config *c);

#endif
