// What a run keeps in which number format: the rows of precision.def.

#ifndef CALC_PRECISION_H
#define CALC_PRECISION_H

#include "calc/model/config.h"

struct precision {
    uint8_t weight, frozen, compute;  // DT_F32 or DT_LOW
    bool autocast, scaler;
    uint8_t copies;  // of weights in float32, held by the optimizer: precision.def
};

// The row of a configuration whose dtype has been resolved.
const struct precision *precision_of(const struct vram_config *c);

// Whether accelerate's FSDP divides the weights, under its mixed precision.
bool precision_is_accelerate(const struct vram_config *c);

// Whether the two bytes of a number are float16's.
bool precision_is_float16(const struct vram_config *c);

// Whether weights are loaded in two bytes for a generation: in every format but float32 and
// LitGPT's autocast (bf16-mixed), which casts weights in float32, and keeps what it has cast while
// a pass lasts. SRC: litgpt generate/base.py (fabric.init_module, no conversion); lightning
// fabric/plugins/precision/amp.py.
bool precision_generates_narrow(const struct vram_config *c);

#endif
