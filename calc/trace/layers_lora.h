// Low-rank adapters and quantized weights, for layer_linear alone.

#ifndef CALC_LAYERS_LORA_H
#define CALC_LAYERS_LORA_H

#include "calc/trace/graph.h"

bool lora_is_adapted(const struct graph *g, uint16_t weight);
bool lora_is_quantized(const struct graph *g, uint16_t weight);

struct value lora_add(struct graph *g, struct value x, struct value base, uint16_t weight);
struct value lora_quantized(struct graph *g, struct value x, uint16_t weight, uint8_t out_shape);

#endif
