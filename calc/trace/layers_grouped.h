// Experts whose products are one operation.

#ifndef CALC_LAYERS_GROUPED_H
#define CALC_LAYERS_GROUPED_H

#include "calc/trace/graph.h"

// Router and experts on x, which stays the caller's; shared: the experts that every token visits,
// or NULL.
struct value layer_experts_grouped(struct graph *g, struct value x, block_fn *shared);

node_fn node_route, node_grouped_mm, node_clamp, node_sigmoid, node_spread;

#endif
