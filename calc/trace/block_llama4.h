// What of a layer of Llama 4 is its own.

#ifndef CALC_BLOCK_LLAMA4_H
#define CALC_BLOCK_LLAMA4_H

#include "calc/trace/graph.h"

// Positions and norms of queries and keys, or a temperature in a layer without positions. Uses *q
// and *k up, and makes the new ones.
void llama4_heads(struct graph *g, struct value *q, struct value *k, bool plain);

// Router and experts on x, which stays the caller's; shared: the expert that is added.
struct value llama4_experts(struct graph *g, struct value x, block_fn *shared);

node_fn node_experts_bmm, node_gather_shares;

#endif
