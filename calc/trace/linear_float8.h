// Products in float8 that run eagerly.

#ifndef CALC_LINEAR_FLOAT8_H
#define CALC_LINEAR_FLOAT8_H

#include "calc/trace/graph.h"

// A block's linear layers are torchao's, and run as they are written.
static inline bool float8_is_eager(const struct graph *g)
{
    return MODEL_IS_WHOLE && g->m->c.float8 && !g->m->c.compile;
}

#ifndef VRAM_SMALL
struct value float8_linear(struct graph *g, struct value x, uint16_t weight, shape_id out_shape);
node_fn node_float8;
#endif

#endif
