// Gemma 4's own parts of a layer.

#ifndef CALC_BLOCK_GEMMA4_H
#define CALC_BLOCK_GEMMA4_H

#include "calc/trace/graph.h"

#ifndef __wasm__

// Queries, keys and values of a layer, normalized and turned. repeats: keys and values get one copy
// for every query head.
void gemma4_heads(struct graph *g, struct value x, bool repeats, struct value *q, struct value *k,
                  struct value *v);

#endif

#endif
