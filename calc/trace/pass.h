// Passes: what a training loop, an evaluation or a generation does with the model once, written to
// a tape. The loop's variables hold logits and loss of an earlier pass: the first pass is without.

#ifndef CALC_PASS_H
#define CALC_PASS_H

#include "calc/trace/pass_infer.h"

struct pass {
    bool train;          // with backward
    bool has_gradients;  // of an earlier micro-step
    bool between;        // an evaluation of transformers' Trainer, between steps
    uint8_t kind;        // enum pass_kind; what is not TRAINING is a part of a generation
};

// Writes the pass to g->t; g must be fresh from graph_reset. saved is called at the end of forward
// (may be NULL).
void pass_write(struct graph *g, const struct pass *p, graph_saved_fn *saved, void *ctx);

#ifndef VRAM_SMALL
// What a batch's targets stand for. Of a batch that is divided everything stays whole beside the
// parts: token ids, labels, the same shifted, positions, a mask. SRC: pytorch
// torch/distributed/tensor/experimental/_context_parallel/_attention.py, context_parallel (resize_
// leaves the memory); transformers trainer.py, _prepare_context_parallel_inputs; traces llama_cp8.
shape_id pass_rows(const struct model *m);
#endif

// The model's layers in units of which all others are copies. Those before them differ, or are left
// over.
struct tape_stack pass_stack(const struct model *m);

#endif
