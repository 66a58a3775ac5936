// GPT-Neo, GPT-J, CodeGen and MPT: their embeddings and layers.

#ifndef CALC_BLOCK_SHARES_H
#define CALC_BLOCK_SHARES_H

#include "calc/trace/graph.h"

// local gets the variables of the model's forward function.
struct value shares_embedding(struct graph *g, uint32_t ids, struct value local[3]);
struct value block_shares(struct graph *g, struct value x);

#endif
