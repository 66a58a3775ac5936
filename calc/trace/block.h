// A block of the current layer. The caller's x stays the caller's.

#ifndef CALC_BLOCK_H
#define CALC_BLOCK_H

#include "calc/trace/graph.h"

// The block of the configured family.
struct value block_forward(struct graph *g, struct value x);

#endif
