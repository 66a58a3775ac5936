// A compiled model of transformers.

#ifndef CALC_PASS_COMPILE_WHOLE_H
#define CALC_PASS_COMPILE_WHOLE_H

#include "calc/trace/graph.h"

struct value compile_whole_forward(struct graph *g, uint32_t ids, uint32_t targets,
                                   struct value *logits);
void compile_whole_backward(struct graph *g);

#endif
