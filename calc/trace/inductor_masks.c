// Owns the masks of checkpointed blocks in a compiled model's backward graph, which attention's
// gradient takes as wide as the scores.
//
// A mask that is computed again is no buffer yet where attention's gradient takes it, and is
// written out for every head. Without the attention_mask of a collator rows of positions make it,
// which are read often enough to be one buffer for all. SRC: pytorch torch/_inductor/lowering.py
// (sdpa_constraint), ir.py (StorageBox.should_realize_on_reuse), scheduler.py
// (are_long_distant_nodes); transformers masking_utils.py, _preprocess_mask_arguments; traces
// *_trainer_fsdp2_compiled_ckpt, llama_sft_compiled*, llama_whole_ckpt.

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

bool inductor_is_wide_mask(const struct inductor *d, const struct node *n, uint32_t value)
{
    bool collated = d->block || d->g->m->c.keep_logits == KEEP_LOGITS_NO;  // a Trainer's
    return collated && n->kind == NODE_SDPA && inductor_checkpoints(d, d->layer) &&
           value != TAPE_NONE && inductor_is_mask(inductor_storage(d, value));
}

uint32_t inductor_make_wide_mask(struct inductor *d, const struct node *n)
{
    size_t begin = d->use_count;
    uint32_t b = inductor_gradient_buffer(d, OP_TRITON, n->role, PART_MASK, n->dtype, SHAPE_SCORES);
    inductor_use(d, b | INDUCTOR_MADE);
    inductor_kernel_end(d, begin, true);
    return b;
}

// The wide mask that a kernel makes, or 0.
static uint32_t mask_at(const struct inductor *d, uint32_t k)
{
    const struct inductor_kernel *kernel = &d->kernels[k];
    uint32_t b = inductor_used(d->uses[kernel->begin]);
    bool one = kernel->end == kernel->begin + 1;
    return one && d->buffers[b].shape == SHAPE_SCORES && d->buffers[b].part == PART_MASK ? b : 0;
}

static uint32_t made_between(const struct inductor *d, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t u = d->kernels[from].begin; u < d->kernels[to].begin; u++)
        count += (d->uses[u] & INDUCTOR_MADE) != 0;
    return count;
}

static void remove_kernel(struct inductor *d, uint32_t k)
{
    d->kernel_count--;
    for (; k < d->kernel_count; k++)
        d->kernels[k] = d->kernels[k + 1];
}

// Two that are near are one kernel: the later block's runs with it, long before it is wanted.
void inductor_pair_masks(struct inductor *d)
{
    enum { FAR = 64 };
    uint32_t open = 0, mask;
    for (uint32_t k = d->backward; k < d->kernel_count && !d->failed; k++) {
        if (!(mask = mask_at(d, k)))
            continue;
        if (!open || made_between(d, open, k) > FAR) {
            open = k;
            continue;
        }
        size_t begin = d->use_count;
        inductor_use(d, mask_at(d, open) | INDUCTOR_MADE);
        inductor_use(d, mask | INDUCTOR_MADE);
        d->kernels[open].begin = (uint32_t)begin;
        d->kernels[open].end = (uint32_t)d->use_count;
        remove_kernel(d, k--);
        open = 0;
    }
}
#endif
