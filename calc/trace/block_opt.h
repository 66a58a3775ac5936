// OPT: its embeddings and its layer.

#ifndef CALC_BLOCK_OPT_H
#define CALC_BLOCK_OPT_H

#include "calc/trace/graph.h"

// local gets the variables of the decoder's forward function.
struct value opt_embedding(struct graph *g, uint32_t ids, struct value local[3]);
struct value opt_last(struct graph *g, struct value x);
struct value block_opt(struct graph *g, struct value x);

#endif
