// What layers of Qwen3.5 and Qwen3-Next have in place of attention, and beside it.

#ifndef CALC_BLOCK_DELTA_H
#define CALC_BLOCK_DELTA_H

#include "calc/trace/graph.h"

struct value layer_delta(struct graph *g, struct value x);

// Of the other layers: queries out of their projection, of which *gate gets the rest; y times the
// gate's sigmoid, which uses y up.
struct value layer_gated_queries(struct graph *g, struct value x, struct value *gate);
struct value layer_opened(struct graph *g, struct value y, struct value gate);

#endif
