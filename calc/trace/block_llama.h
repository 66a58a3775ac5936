// The block of the families with rotary positions.

#ifndef CALC_BLOCK_LLAMA_H
#define CALC_BLOCK_LLAMA_H

#include "calc/trace/graph.h"

struct value block_llama(struct graph *g, struct value x);

#endif
