// Scaled dot-product attention.

#ifndef CALC_ATTENTION_H
#define CALC_ATTENTION_H

#include "calc/trace/graph.h"

// softmax(q k') v by the kernel of the configuration.
struct value layer_attention(struct graph *g, struct value q, struct value k, struct value v);

#endif
