// Parts of a model of transformers that torch.compile has made two graphs of each.

#ifndef CALC_BLOCK_TRACED_H
#define CALC_BLOCK_TRACED_H

#include "calc/trace/graph.h"

// The masks that such blocks get.
void traced_open(struct graph *g);

// The block of the current layer.
struct value block_traced(struct graph *g, struct value x);

// The last norm. Uses x up.
struct value traced_last_norm(struct graph *g, struct value x);

// What an embedding's gradient is summed in: `other`, or where the embedding is compiled float32.
uint32_t traced_words(struct graph *g, const struct node *n, uint32_t other);

void traced_close(struct graph *g);  // the pass has ended

node_fn node_traced_block;

#endif
