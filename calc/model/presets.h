// Named configurations.

#ifndef CALC_PRESETS_H
#define CALC_PRESETS_H

#include <stddef.h>

#include "calc/model/handle.h"

struct preset {
    const char *name, *what;
    const char *run;     // fields of the way it is run, "" if it has none of its own
    const char *fields;  // "n_layer=12 n_head=12 ..."
    const char *source;  // address of the configuration; "" where sources are left out
};

// NULL past the end.
const struct preset *preset_at(size_t index);

// Puts every field but mode and gpu back to its default and sets those that the preset names: so it comes first, and
// what is set afterwards stays. With mode=reference a preset's compile is left out: the reference values are eager.
// Errors: VRAM_EPRESET with a suggestion.
int preset_apply(struct vram *v, struct err_pos pos, const char *name, size_t len);

// Sets fields from "a=1 b=2"; used for presets and for the defaults of formats.
int preset_fields(struct vram *v, const char *fields);

#endif
