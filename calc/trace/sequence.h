// Tensor and sequence parallelism by DTensor: what it gathers is kept, where Megatron-LM gathers
// again; a loss over divided logits in plain operations. vramcalc alone.

#ifndef CALC_SEQUENCE_H
#define CALC_SEQUENCE_H

#include "calc/trace/graph.h"

bool sequence_is_gathered(const struct graph *g);
bool sequence_loss_is_divided(const struct graph *g);

// Whether parts of a sequence lie one after the other as they are gathered: there is one alone.
bool sequence_in_order(const struct model *m);

// The input of column-parallel layers: each GPU's part of the sequence, together.
struct value sequence_gather(struct graph *g, struct value x);

// The same as a plain tensor, whose gradient each GPU has whole and takes its part of.
struct value sequence_gather_local(struct graph *g, struct value x);

// The result of a row-parallel layer: each GPU's part of the sum.
struct value sequence_scatter(struct graph *g, struct value x);

// What the embedding holds: the rows of this GPU's words, and their copy. The caller's to drop.
void sequence_rows(struct graph *g, uint32_t held[2]);

// The embedding's gradient over all words, of which this GPU's are copied: the caller's to drop.
uint32_t sequence_words(struct graph *g, uint8_t role, uint8_t dtype);

// What log_softmax makes on its way: the caller's to drop.
struct value sequence_log_softmax(struct graph *g, struct value logits);

// One kernel each way over this GPU's words: the logarithms of four bytes are kept, not the logits.
struct value sequence_loss_compiled(struct graph *g, struct value logits);
uint32_t sequence_nll_gradient(struct graph *g, const struct node *n);

node_fn node_sequence, node_sequence_part;

#endif
