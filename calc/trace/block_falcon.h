// Falcon's layer.

#ifndef CALC_BLOCK_FALCON_H
#define CALC_BLOCK_FALCON_H

#include "calc/trace/graph.h"

struct value block_falcon(struct graph *g, struct value x);

#endif
