// Losses that do not hold all logits, for loss.c.

#ifndef CALC_LOSS_H
#define CALC_LOSS_H

#include "calc/step/graph.h"

struct value loss_chunked(struct graph *g, struct value x);
struct value loss_cut(struct graph *g, struct value x, uint32_t targets);

#endif
