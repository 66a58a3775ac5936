// Products with weights that are stored quantized.

#ifndef CALC_QUANTIZED_H
#define CALC_QUANTIZED_H

#include "calc/trace/graph.h"

bool quantized_is(const struct graph *g, uint16_t weight);
bool quantized_by_bitsandbytes(const struct graph *g, uint16_t weight);
bool quantized_copies(const struct graph *g);  // PEFT copies the result before it adds to it

struct value quantized_linear(struct graph *g, struct value x, uint16_t weight, uint8_t out_shape);
node_fn node_quantized;

#endif
