// Cross-entropy by one kernel that leaves the gradient in the place of the logits.

#ifndef CALC_LOSS_INPLACE_H
#define CALC_LOSS_INPLACE_H

#include "calc/trace/graph.h"

// The mean loss of logits, which are float32 or not; rows: the shape of one number for each row;
// labels stay the caller's.
struct value loss_inplace(struct graph *g, struct value logits, uint32_t labels, shape_id rows);
node_fn node_inplace;
// Whether the head is compiled with the loss, which writes the gradient of the logits over them and
// hands on gradients of the weight that are no views. SRC: trace tune_linear_compiled.
bool loss_inplace_has_head(const struct graph *g);

#endif
