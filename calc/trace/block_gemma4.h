// Gemma 4's own parts of a layer.

#ifndef CALC_BLOCK_GEMMA4_H
#define CALC_BLOCK_GEMMA4_H

#include "calc/trace/graph.h"

#ifndef VRAM_SMALL

// Queries, keys and values of a layer, normalized and turned. repeats: keys and values get one copy
// for every query head.
void gemma4_heads(struct graph *g, struct value x, bool repeats, struct value *q, struct value *k,
                  struct value *v);

// What experts beside a dense part, whose result is used up, and that make together of the stream.
// The variables of the layer's forward function stay until it ends.
struct value gemma4_beside(struct graph *g, struct value stream, struct value dense);
void gemma4_beside_go(struct graph *g);

#endif

#endif
