// What of a model is compiled: all of it, or each block.

#ifndef CALC_COMPILED_H
#define CALC_COMPILED_H

#include "calc/trace/graph.h"

// Whether the model is compiled as one, or its blocks each by itself.
static inline bool compile_is_whole(const struct graph *g)
{
    return g->m->c.compile && !framework_goes(&g->m->c, BY_BLOCKS);
}

// Such a model out of the code of transformers: its buffers wait for layers far away. nanoGPT's has
// rules of its own.
static inline bool compile_is_traced(const struct model *m)
{
    return MODEL_IS_WHOLE && m->c.compile && framework_goes(&m->c, BY_TRANSFORMERS) &&
           m->c.transformers >= 5000 && m->c.torch >= 2009;
}

static inline bool compile_is_of_blocks(const struct graph *g)
{
    return g->m->c.compile && framework_goes(&g->m->c, BY_BLOCKS);
}

#endif
