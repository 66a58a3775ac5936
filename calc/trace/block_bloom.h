// BLOOM: its embeddings, its layer and its own GELU.

#ifndef CALC_BLOCK_BLOOM_H
#define CALC_BLOCK_BLOOM_H

#include "calc/trace/graph.h"

// local[0] gets what the model's forward function holds until it returns.
struct value bloom_embedding(struct graph *g, uint32_t ids, struct value local[3]);
struct value block_bloom(struct graph *g, struct value x);

node_fn node_baddbmm, node_gelu_function;

#endif
