// Attention: fused kernels, or scores as tensors.

#ifndef CALC_ATTENTION_H
#define CALC_ATTENTION_H

#include "calc/trace/graph.h"

// Of a NODE_SDPA's extra, beside the kernel: its result is contiguous by head.
enum { ATTENTION_HEADS_FIRST = 16 };
#ifndef VRAM_SMALL
// Seeds and offsets of flash attention's random numbers, each TAPE_NONE where a version keeps none.
void attention_random(struct graph *g, uint32_t random[2]);
#endif

// Whether PyTorch takes flash attention for operands of a format; else memory-efficient attention.
#ifndef VRAM_SMALL
// Whether memory-efficient attention sums a layer's output in float32 first.
bool attention_sums(const struct model *m, uint32_t layer);
#endif
bool attention_is_flash(const struct graph *g, uint8_t dtype);

// scaled_dot_product_attention on transposed views of (batch, sequence, head, width), or on
// contiguous copies by head.
struct value layer_attention(struct graph *g, struct value q, struct value k, struct value v);
// Masks are tensors while a model is traced.
static inline bool attention_is_traced(const struct graph *g)
{
    return graph_is_traced(g) && g->m->c.attention != ATTENTION_FLASH_2;
}

// True where a position sees another: one for all sequences and layers, made once a forward pass
// (g->masks).
void attention_mask_open(struct graph *g);
void attention_masks_close(struct graph *g);
// With a mask beside them, which the kernel takes in the format of the operands. They stay the
// caller's.
struct value layer_attention_masked(struct graph *g, struct value q, struct value k,
                                    struct value v);
struct value layer_attention_by_head(struct graph *g, struct value q, struct value k,
                                     struct value v);

// a @ b
struct value attention_product(struct graph *g, struct value a, struct value b, uint8_t role,
                               shape_id shape);

#endif
