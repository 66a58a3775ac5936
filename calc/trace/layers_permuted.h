// Experts whose rows are permuted, and sent to the GPUs that have them. vramcalc alone.

#ifndef CALC_LAYERS_PERMUTED_H
#define CALC_LAYERS_PERMUTED_H

#include "calc/trace/graph.h"

// Router and experts on x, which stays the caller's; shared: the experts that every token visits,
// or NULL.
struct value layer_experts_permuted(struct graph *g, struct value x, block_fn *shared);

// The expert for all tokens, of which each GPU of tensor_parallel has a part, and gives that of the
// result.
struct value layer_shared_divided(struct graph *g, struct value x);

node_fn node_all_reduce, node_all_to_all, node_narrowed, node_index_put;

#endif
