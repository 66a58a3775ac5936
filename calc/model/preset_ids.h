// Presets by the names that the Hub, checkpoints' folders and frameworks have for models.

#ifndef CALC_PRESET_IDS_H
#define CALC_PRESET_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "calc/base/span.h"
#include "calc/vram.h"

enum { ID_LETTERS = 96 };

// Letters and digits of the last name of an id or a path, small; false where there are none or too
// many.
bool id_letters(struct span id, char out[ID_LETTERS], size_t *len);
// The preset whose name an id says, or NULL: "meta-llama/Llama-3.2-1B-Instruct" is llama-3.2-1b.
// stored: how its weights are, QUANTIZATION_NONE where the id does not say it.
const struct vram_preset *preset_of_id(struct span id, uint8_t *stored);

#endif
