// The backward pass: nodes in the order of PyTorch's engine.

#ifndef CALC_BACKWARD_H
#define CALC_BACKWARD_H

#include "calc/trace/graph.h"

// Runs the nodes from the root on. The gradient's reference is used up; nodes from `base` on take
// part.
void backward_run(struct graph *g, int32_t root, uint32_t gradient, int32_t base);

// AccumulateGrad: the first gradient becomes the parameter's .grad, later ones are added to it.
void backward_accumulate(struct graph *g, struct node *n);

#endif
