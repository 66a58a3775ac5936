// What a data parallel scheme gathers together: the weights of a layer, and those outside of
// layers.

#ifndef CALC_UNITS_H
#define CALC_UNITS_H

#include "calc/model/layout.h"

// Fills SHAPE_LAYER and SHAPE_ROOT* from the other shapes: elements in the format of matrix
// products; two bytes of a quantized weight's codes count as one. Errors: VRAM_EOVERFLOW.
int units_sums(const struct model *m, const struct layout *l, uint64_t elements[SHAPE_COUNT]);

// Whether FSDP1 has all weights in one unit: no layer is gathered by itself. transformers' Trainer
// wraps adapters by PEFT's policy whatever is asked for. SRC: transformers trainer.py,
// _fsdp_qlora_plugin_updates; peft utils/other.py, fsdp_auto_wrap_policy.
bool units_are_one(const struct model *m);

// Whether FSDP1 wraps adapters as units of their own, beside the frozen weights of a layer.
bool units_apart(const struct model *m);

#ifndef VRAM_SMALL
// Whether a weight is one of all experts, which may be a unit by themselves.
bool units_are_experts(const struct layout_param *p);
#endif

#endif
