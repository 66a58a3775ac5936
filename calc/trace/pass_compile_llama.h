// A compiled model of Llama's form.

#ifndef CALC_PASS_COMPILE_LLAMA_H
#define CALC_PASS_COMPILE_LLAMA_H

#include "calc/trace/graph.h"

struct value compile_llama_forward(struct graph *g, uint32_t ids, uint32_t targets,
                                   struct value *logits);
void compile_llama_backward(struct graph *g);

#endif
