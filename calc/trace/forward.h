// Parts of a model's forward function.

#ifndef CALC_FORWARD_H
#define CALC_FORWARD_H

#include "calc/trace/graph.h"

// Embedding: local gets the variables of forward() that live until it returns.
// Layers and head use x up; normed stays a variable of forward().
struct value forward_embed(struct graph *g, uint32_t ids, struct value local[3]);
struct value forward_layers(struct graph *g, struct value x);
struct value forward_head(struct graph *g, struct value x, uint32_t targets, struct value local[3],
                          struct value *normed, struct value *logits);

struct value forward_last_norm(struct graph *g, struct value x);  // uses x up

// Embedding, layers, last norm: the hidden states that the head takes. Without gradients.
struct value forward_hidden(struct graph *g, uint32_t ids);

#endif
