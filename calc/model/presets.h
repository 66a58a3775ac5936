// Named configurations.

#ifndef CALC_PRESETS_H
#define CALC_PRESETS_H

#include <stddef.h>

#include "calc/model/config.h"

// Puts every field but mode and card back to its default and sets those that the preset names: so
// it comes first, and what is set afterwards stays. With mode=reference a preset's compile is left
// out: the reference values are eager. Errors: VRAM_EPRESET with a suggestion.
int preset_apply(struct vram_config *c, struct message *e, struct err_pos pos, const char *name,
                 size_t len);

// Sets fields from "a=1 b=2"; used for presets and for the defaults of formats.
int preset_fields(struct vram_config *c, struct message *e, const char *fields);

#endif
