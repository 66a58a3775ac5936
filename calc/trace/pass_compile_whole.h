// A compiled model of transformers.

#ifndef CALC_PASS_COMPILE_WHOLE_H
#define CALC_PASS_COMPILE_WHOLE_H

#include "calc/trace/graph.h"

struct value compile_whole_forward(struct graph *g, uint32_t ids, uint32_t targets,
                                   struct value *logits);
void compile_whole_backward(struct graph *g);
void compile_whole_end(struct graph *g);  // the pass has ended

node_fn node_compiled_whole;  // the backward graph alone: the loss is not compiled

#endif
