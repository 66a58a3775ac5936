// Losses that do not hold all logits, forward and backward.

#ifndef CALC_LOSS_CHUNKED_H
#define CALC_LOSS_CHUNKED_H

#include "calc/trace/graph.h"

// Whether all tokens of the model's pass are one chunk of loss_chunked: its tape is shorter then.
bool loss_is_one_chunk(const struct model *m);
struct value loss_chunked(struct graph *g, struct value x);
struct value loss_cut(struct graph *g, struct value x, uint32_t targets);
node_fn node_fused_loss, node_cut_loss;

#endif
