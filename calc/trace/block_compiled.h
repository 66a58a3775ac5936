// A block that torch.compile has made two graphs of.

#ifndef CALC_BLOCK_COMPILED_H
#define CALC_BLOCK_COMPILED_H

#include "calc/trace/graph.h"

// The block of the current layer as it is, and as the configuration checkpoints it.
struct value block_compiled(struct graph *g, struct value x);
struct value block_compiled_checkpointed(struct graph *g, struct value x);

node_fn node_compiled_block;

#endif
