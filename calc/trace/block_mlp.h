// The feed-forward part of a layer.

#ifndef CALC_BLOCK_MLP_H
#define CALC_BLOCK_MLP_H

#include "calc/trace/graph.h"

struct value block_mlp(struct graph *g, struct value x);

#endif
