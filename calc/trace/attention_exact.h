// Attention as the card's kernels allow: on cards that have none for bfloat16 by single operations.

#ifndef CALC_ATTENTION_EXACT_H
#define CALC_ATTENTION_EXACT_H

#include "calc/trace/attention.h"

// layer_attention, layer_attention_by_head and layer_attention_masked, or what takes their place.
#ifdef VRAM_SMALL

static inline struct value card_attention(struct graph *g, struct value q, struct value k,
                                          struct value v)
{
    return layer_attention(g, q, k, v);
}

static inline struct value card_attention_by_head(struct graph *g, struct value q, struct value k,
                                                  struct value v)
{
    return layer_attention_by_head(g, q, k, v);
}

static inline struct value card_attention_masked(struct graph *g, struct value q, struct value k,
                                                 struct value v)
{
    return layer_attention_masked(g, q, k, v);
}

#else

struct value card_attention(struct graph *g, struct value q, struct value k, struct value v);
struct value card_attention_by_head(struct graph *g, struct value q, struct value k,
                                    struct value v);
struct value card_attention_masked(struct graph *g, struct value q, struct value k, struct value v);

#endif
#endif
