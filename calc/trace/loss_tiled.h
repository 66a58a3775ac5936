// TRL's loss from 1.15 on: the head in tiles of tokens and vocabulary, forward and backward.

#ifndef CALC_LOSS_TILED_H
#define CALC_LOSS_TILED_H

#include "calc/trace/graph.h"

struct value loss_tiled(struct graph *g, struct value x);
node_fn node_tiled;

#endif
