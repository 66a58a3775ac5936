// Passes: what a training loop, an evaluation or a generation does with the model once, written to
// a tape.

#ifndef CALC_PASS_H
#define CALC_PASS_H

#include "calc/step/graph.h"

enum pass_kind { PASS_TRAINING, PASS_PROMPT, PASS_FIRST_TOKEN, PASS_TOKEN };

struct pass {
    bool train;          // with backward
    bool has_gradients;  // of an earlier micro-step
    bool has_logits;     // the loop's variables hold logits and loss of an earlier pass
    uint8_t kind;        // enum pass_kind; what is not TRAINING is a part of a generation
};

// Writes the pass to g->t; g must be fresh from graph_reset. saved is called at the end of forward
// (may be NULL).
void pass_write(struct graph *g, const struct pass *p, graph_saved_fn *saved, void *ctx);

// Parts of a pass. Embedding: local gets the variables of forward() that live until it returns.
// Layers and head use x up; normed stays a variable of forward().
struct value pass_embed(struct graph *g, uint32_t ids, struct value local[3]);
struct value pass_layers(struct graph *g, struct value x);
struct value pass_head(struct graph *g, struct value x, uint32_t targets, struct value *normed,
                       struct value *logits);

// The pass of one stage of a pipeline.
void pass_stage(struct graph *g, graph_saved_fn *saved, void *ctx);

// A block of the current layer. The caller's x stays the caller's.
typedef struct value block_fn(struct graph *g, struct value x);
block_fn block_gpt;
block_fn block_llama;

// The block of the configured family.
struct value block_forward(struct graph *g, struct value x);

// As the configuration checkpoints it: the block without gradients and one node that keeps its
// input.
struct value checkpoint_block(struct graph *g, struct value x);

// How many layers make a unit of which all others are copies.
uint32_t pass_period(const struct model *m);

// The loss from the last hidden state; *logits gets a variable, graph_none() where they are not
// handed out.
struct value loss_forward(struct graph *g, struct value x, uint32_t targets, struct value *logits);

// Embedding, layers, last norm: the hidden states that the head takes. Without gradients.
struct value pass_hidden(struct graph *g, uint32_t ids);

// The passes of a generation, and the place where a block hands over its keys and values.
void pass_infer(struct graph *g, const struct pass *p);
void cache_keep(struct graph *g, struct value k, struct value v);

// A compiled model: the whole forward pass, and the whole backward pass up to the parameters'
// .grad.
struct value compile_forward(struct graph *g, uint32_t ids, uint32_t targets, struct value *logits);
void compile_backward(struct graph *g);

#endif
