// Falcon's layer.

#ifndef CALC_BLOCK_FALCON_H
#define CALC_BLOCK_FALCON_H

#include "calc/trace/graph.h"

void falcon_mask_open(struct graph *g);  // once a forward pass: g->masks
struct value block_falcon(struct graph *g, struct value x);

#endif
