// Presets by the names that the Hub, checkpoints' folders and frameworks have for models.

#ifndef CALC_PRESET_IDS_H
#define CALC_PRESET_IDS_H

#include "calc/base/span.h"

// The preset whose name an id says, or NULL: "meta-llama/Llama-3.2-1B-Instruct" is llama-3.2-1b.
const char *preset_of_id(struct span id);

#endif
