// Attention with a sink for each head.

#ifndef CALC_ATTENTION_SINKS_H
#define CALC_ATTENTION_SINKS_H

#include "calc/trace/graph.h"

// The masks of full and of windowed attention: made once a forward pass, arguments of every layer.
void attention_masks_open(struct graph *g);

// q for every position, k and v for every query head, all contiguous by head. They stay the
// caller's. The layer holds the attention's second result, the shares, to its end: g->shares.
struct value layer_attention_sinks(struct graph *g, struct value q, struct value k, struct value v);

#endif
