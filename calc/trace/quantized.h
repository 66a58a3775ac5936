// Products with weights that are stored quantized.

#ifndef CALC_QUANTIZED_H
#define CALC_QUANTIZED_H

#include "calc/trace/graph.h"

bool quantized_is(const struct graph *g, uint16_t weight);
bool quantized_by_bitsandbytes(const struct graph *g, uint16_t weight);
bool quantized_copies(const struct graph *g);  // PEFT copies the result before it adds to it

shape_id quantized_scales(shape_id weight_shape);  // shape of one number for 64 weights

struct value quantized_linear(struct graph *g, struct value x, bool global, uint16_t weight,
                              shape_id out_shape);
// The weight in two bytes, or in float32 as bitsandbytes expands eight bits for others than itself.
struct value quantized_whole(struct graph *g, uint16_t weight);
bool quantized_is_head(const struct graph *g);
#ifndef VRAM_SMALL
bool quantized_is_outside(const struct graph *g, uint16_t weight);  // of the layers, and no head
#endif
// A product without gradients and its result's memory: what there is beside them.
void quantized_head_once(struct graph *g);
node_fn node_quantized;

#endif
