// The passes of a model that is compiled as a whole.

#ifndef CALC_PASS_COMPILE_H
#define CALC_PASS_COMPILE_H

#include "calc/trace/graph.h"

// The whole forward pass, and the whole backward pass up to the parameters' .grad.
struct value compile_forward(struct graph *g, uint32_t ids, uint32_t targets, struct value *logits);
void compile_backward(struct graph *g);

#endif
