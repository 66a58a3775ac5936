// Attention with a sink for each head.

#ifndef CALC_ATTENTION_SINKS_H
#define CALC_ATTENTION_SINKS_H

#include "calc/trace/graph.h"

// q for every position, k and v for every query head, all contiguous by head. They stay the
// caller's. The layer holds the attention's second result, the shares, to its end: g->shares.
struct value layer_attention_sinks(struct graph *g, struct value q, struct value k, struct value v);

#endif
