// nanotron's decoder layer and loss: fused norms and rotations, a loss over divided logits.

#ifndef CALC_BLOCK_NANOTRON_H
#define CALC_BLOCK_NANOTRON_H

#include "calc/trace/graph.h"

// A norm by one kernel; number is that of its weight in layout.h.
struct value nanotron_norm(struct graph *g, struct value x, bool global, uint16_t number);

// The embedding of the token ids; with tensor_parallel each GPU has a part of the vocabulary.
struct value nanotron_embedding(struct graph *g, uint32_t ids);

// What the embedding's backward makes the weight's gradient of: the caller's to drop; TAPE_NONE:
// what arrived.
uint32_t nanotron_embedding_gradient(struct graph *g, const struct node *n);

block_fn block_nanotron;

// The loss of the last hidden state; x stays the caller's.
struct value loss_nanotron(struct graph *g, struct value x, uint32_t targets);

node_fn node_rms_norm, node_sharded_loss;

#endif
