// axolotl's functions for adapters and the frozen products beside them: lora_kernels.

#ifndef CALC_LAYERS_LORA_FUSED_H
#define CALC_LAYERS_LORA_FUSED_H

#include "calc/trace/graph.h"

enum { LORA_FUSED_OUTPUTS = 3 };

// Whether the part that begins with a weight is one function: query, key and value (P_Q), the
// output projection (P_O), gate, up and down (P_GATE).
bool lora_fused_has(const struct graph *g, uint16_t weight);

// What that function gives: out[0], or query, key and value.
void lora_fused(struct graph *g, uint16_t weight, struct value x,
                struct value out[LORA_FUSED_OUTPUTS]);

node_fn node_lora_fused;

#endif
