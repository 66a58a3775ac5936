// Parts of adapters, for layers_lora.c, layers_dora.c and linear.c. global: the layer lies outside
// of the blocks.

#ifndef CALC_ADAPTER_H
#define CALC_ADAPTER_H

#include "calc/trace/graph.h"

// x times one of the adapter's matrices (LAYOUT_A, LAYOUT_B).
struct value adapter_half(struct graph *g, struct value x, bool global, uint16_t number,
                          shape_id out_shape);
struct value adapter_dropout(struct graph *g, struct value x);  // x again where lora_dropout is 0
struct value adapter_scaling(struct graph *g, struct value x,
                             uint8_t role);  // times a Python number

#endif
