// Data parallel schemes: what each GPU keeps whole, what in parts, and when weights are gathered.

#ifndef CALC_PARALLEL_H
#define CALC_PARALLEL_H

#include "calc/trace/graph.h"

// A whole gradient becomes this GPU's part of it.
void parallel_divide(struct graph *g, struct node *n, uint32_t gradient);

// Around a pass: the weights outside of layers are gathered as long as it lasts.
void parallel_open(struct graph *g);
void parallel_close(struct graph *g);

// Around a layer. Both give a new variable for the same tensor.
struct value parallel_enter(struct graph *g, struct value x);
struct value parallel_leave(struct graph *g, struct value x);
node_fn node_gather, node_reshard;

#endif
