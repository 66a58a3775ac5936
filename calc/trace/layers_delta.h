// The gated delta rule that layers of Qwen3.5 have in place of attention.

#ifndef CALC_LAYERS_DELTA_H
#define CALC_LAYERS_DELTA_H

#include "calc/trace/graph.h"

struct value layer_delta(struct graph *g, struct value x);

// Of the other layers: queries out of their projection, of which *gate gets the rest; y times the
// gate's sigmoid, which uses y up.
struct value layer_gated_queries(struct graph *g, struct value x, struct value *gate);
struct value layer_opened(struct graph *g, struct value y, struct value gate);

node_fn node_exp, node_cumsum, node_solve, node_expand, node_turned, node_delta_bmm, node_conv;

#endif
