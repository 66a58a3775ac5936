// What Unsloth's patches of transformers' models do by its version: kernels=unsloth. Never in the
// small module.

#ifndef CALC_UNSLOTH_H
#define CALC_UNSLOTH_H

#include "calc/model/model.h"

#ifdef VRAM_SMALL
static inline bool unsloth_patches(const struct vram_config *c)
{
    (void)c;
    return false;
}
#else
static inline bool unsloth_patches(const struct vram_config *c)
{
    return c->kernels == KERNELS_UNSLOTH;
}
#endif

// RMSNorm that gives its weight no gradient: Unsloth's, and fms-acceleration's copy of it.
static inline bool unsloth_norms(const struct vram_config *c)
{
    return c->kernels == KERNELS_FOAK || unsloth_patches(c);
}

// Embedding and head among the layers that get adapters are trained whole.
void unsloth_saves(struct vram_config *c);

// What kernels=unsloth means where nothing else is said: its loss, its checkpoints.
void unsloth_resolve(struct vram_config *c);

// Whether its Trainer's evaluation makes whole logits; kept: for compute_metrics.
bool unsloth_evaluates_whole(const struct vram_config *c, bool kept);

// Rows of a chunk of head and loss, of N rows in all.
uint64_t unsloth_chunk(const struct model *m, uint64_t rows);

// Whether products expand four-bit weights into one buffer for all.
bool unsloth_has_buffer(const struct model *m);

// Bytes beside the model that last for the whole run: the buffer for expanded weights, the largest
// of which has this number of elements; buffers for inputs of blocks; cosines and sines.
uint64_t unsloth_buffers(const struct model *m, uint64_t largest);

#endif
