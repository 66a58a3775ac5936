// Attention over a sequence that several GPUs share, each with two pieces of it.

#ifndef CALC_ATTENTION_RING_H
#define CALC_ATTENTION_RING_H

#include "calc/trace/graph.h"

#ifndef VRAM_SMALL
// Whether attention runs so here. torchtitan's does in compiled blocks (block_compiled.c).
bool attention_is_ring(const struct graph *g);
// scaled_dot_product_attention of this GPU's queries with the keys and values of all.
struct value layer_attention_ring(struct graph *g, struct value q, struct value k, struct value v);
// What the autograd node of that allocates.
void node_sdpa_ring(struct graph *g, const struct node *n, uint32_t results[]);
#endif

#endif
