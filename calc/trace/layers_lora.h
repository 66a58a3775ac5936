// Adapters beside linear layers and embeddings, for linear.c and forward.c alone. A layer is named
// by its weight's number in layout.h; global: it lies outside of the blocks.

#ifndef CALC_LAYERS_LORA_H
#define CALC_LAYERS_LORA_H

#include "calc/trace/graph.h"

bool lora_is_adapted(const struct graph *g, bool global, uint16_t weight);

// base + what the adapters make of x. Uses base up.
struct value lora_add(struct graph *g, struct value x, struct value base, bool global,
                      uint16_t weight);
struct value lora_embed(struct graph *g, uint32_t ids, struct value base);

#endif
