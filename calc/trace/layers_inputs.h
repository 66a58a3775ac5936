// The embedding of tokens that each layer has of its own.

#ifndef CALC_LAYERS_INPUTS_H
#define CALC_LAYERS_INPUTS_H

#include "calc/trace/graph.h"

// Makes what all layers get, out of the tokens and of their embedding x.
void inputs_open(struct graph *g, uint32_t ids, struct value x);

// The part of the layer that comes, as an argument of its block, and its end.
void inputs_choose(struct graph *g);
void inputs_left(struct graph *g);

// What a layer's own input makes of x, which is used up.
struct value inputs_branch(struct graph *g, struct value x);

// x and what the layer's own input adds to it. Uses x up.
struct value inputs_add(struct graph *g, struct value x);

// The model has returned: these go, and what layers have given to others.
void inputs_close(struct graph *g);

#endif
