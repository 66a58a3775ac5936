// The loss from the last hidden state.

#ifndef CALC_LOSS_H
#define CALC_LOSS_H

#include "calc/trace/graph.h"

// *logits gets a variable, graph_none() where they are not handed out.
struct value loss_forward(struct graph *g, struct value *normed, uint32_t targets,
                          struct value *logits);

#endif
