// Kernels that take the place of several operations of a transformers model: kernels=foak,
// kernels=liger.

#ifndef CALC_LAYERS_FUSED_H
#define CALC_LAYERS_FUSED_H

#include "calc/trace/graph.h"

// RMSNorm in one kernel: the input and a number a row are kept. stats: the shape of these.
struct value fused_norm(struct graph *g, struct value x, bool global, uint16_t weight,
                        shape_id stats);

// Rotary positions in place. copied: the gradient comes back in another order of heads. Uses x up.
struct value fused_rotary(struct graph *g, struct value x, bool copied);

// Whether both are tensors of their own, and these.
bool fused_rotates_apart(const struct graph *g);
void fused_rotary_apart(struct graph *g, struct value *q, struct value *k);

// silu(gate) * up.
struct value fused_swiglu(struct graph *g, struct value gate, struct value up);

// Whether query, key and value (number P_Q) or the output projection (P_O) with their adapters are
// one function.
bool fused_has_lora(const struct graph *g, uint16_t weight);
void fused_qkv(struct graph *g, struct value x, struct value out[3]);
struct value fused_output(struct graph *g, struct value x);

node_fn node_fused_norm, node_fused_swiglu, node_fused_qkv, node_fused_output;

#endif
