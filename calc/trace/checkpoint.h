// Activation checkpointing of a block.

#ifndef CALC_CHECKPOINT_H
#define CALC_CHECKPOINT_H

#include "calc/trace/graph.h"

// As the configuration checkpoints it: the block without gradients and one node that keeps its
// input.
struct value checkpoint_block(struct graph *g, struct value x);

void checkpoint_end(struct graph *g);  // after the pass: frames that nothing came back to

extern const struct graph_calls checkpoint_calls;

#endif
