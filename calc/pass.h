// Passes: what a training loop, an evaluation or a generation does with the model once, written to a tape.

#ifndef CALC_PASS_H
#define CALC_PASS_H

#include "calc/graph.h"

struct pass {
    bool train;          // with backward
    bool has_gradients;  // of an earlier micro-step
    bool has_logits;     // the loop's variables hold logits and loss of an earlier pass
};

// Writes the pass to g->t; g must be fresh from graph_reset. saved is called at the end of forward (may be NULL).
void pass_write(struct graph *g, const struct pass *p, graph_saved_fn *saved, void *ctx);

// A block of the current layer. The caller's x stays the caller's.
typedef struct value block_fn(struct graph *g, struct value x);
block_fn block_gpt;
block_fn block_llama;

// The block of the configured family.
struct value block_forward(struct graph *g, struct value x);

// As the configuration checkpoints it: the block without gradients and one node that keeps its input.
struct value checkpoint_block(struct graph *g, struct value x);

// How many layers make a unit of which all others are copies.
uint32_t pass_period(const struct model *m);

// The loss from the last hidden state; *logits gets a variable, graph_none() where they are not handed out.
struct value loss_forward(struct graph *g, struct value x, uint32_t targets, struct value *logits);

// A compiled model: the whole forward pass, and the whole backward pass up to the parameters' .grad.
struct value compile_forward(struct graph *g, uint32_t ids, uint32_t targets, struct value *logits);
void compile_backward(struct graph *g);

#endif
