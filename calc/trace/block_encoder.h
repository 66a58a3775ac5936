// BERT: its embeddings, its layer and its head, as their forward functions issue operations.

#ifndef CALC_BLOCK_ENCODER_H
#define CALC_BLOCK_ENCODER_H

#include "calc/trace/graph.h"

// local[0] gets what the encoder's caller holds until it returns.
struct value encoder_embedding(struct graph *g, uint32_t ids, struct value local[3]);
struct value block_encoder(struct graph *g, struct value x);

// The head over the last hidden states and the loss of every token.
struct value encoder_loss(struct graph *g, struct value x, uint32_t targets, struct value *logits);

#endif
