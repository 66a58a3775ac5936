// Gemma 3n's streams: how they are made, mixed around each layer, and become one again.

#ifndef CALC_BLOCK_GEMMA3N_H
#define CALC_BLOCK_GEMMA3N_H

#include "calc/trace/graph.h"

// All streams out of the embedding, which is used up.
struct value gemma3n_open(struct graph *g, struct value x);

// A layer.
struct value gemma3n_layer(struct graph *g, struct value x, block_fn *attention);

// The streams as one. Uses x up.
struct value gemma3n_join(struct graph *g, struct value x);

// The model has returned.
void gemma3n_return(struct graph *g);

#endif
