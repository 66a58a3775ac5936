// Experts whose products are one operation.

#ifndef CALC_LAYERS_GROUPED_H
#define CALC_LAYERS_GROUPED_H

#include "calc/trace/graph.h"

// Router and experts on x, which stays the caller's; shared: the experts that every token visits,
// or NULL.
struct value layer_experts_grouped(struct graph *g, struct value x, block_fn *shared);

#ifndef VRAM_SMALL
// Its parts: the best of all shares, with their numbers; these over their sum (uses best up);
// experts by what a router has chosen.
struct value layer_route_topk(struct graph *g, struct value x, uint32_t *chosen);
struct value layer_route_normalized(struct graph *g, struct value best);
struct value layer_experts_routed(struct graph *g, struct value x, struct value weights);

// A product of rows with their experts' weights; offsets: where each expert's rows end.
struct value layer_grouped_mm(struct graph *g, struct value x, uint16_t number, uint32_t offsets,
                              shape_id shape);
#endif

node_fn node_route, node_grouped_mm, node_clamp, node_sigmoid, node_spread;

#endif
