// Owns the choice of a block, and that of GPT-2 as nanoGPT writes it: which variable of which
// function holds what, and until when. SRC: nanoGPT model.py, CausalSelfAttention.forward,
// MLP.forward, Block.forward.

#include "calc/trace/block.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_exact.h"
#include "calc/trace/block_bloom.h"
#include "calc/trace/block_encoder.h"
#include "calc/trace/block_falcon.h"
#include "calc/trace/block_llama.h"
#include "calc/trace/block_nanotron.h"
#include "calc/trace/block_opt.h"
#include "calc/trace/block_shares.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

static struct value gpt_attention(struct graph *g, struct value x)
{
    static const shape_id shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};
    struct value part[3];
    struct value qkv = layer_linear(g, x, P_QKV, SHAPE_QKV);
    layer_split(g, qkv, 3, shapes, part);
    graph_drop(g, qkv);
    if (graph_has(g, TRAIT_CACHE_IN_TRAINING) && g->m->c.family == FAMILY_GPT_BIGCODE &&
        g->training && !g->recompute)
        graph_keep(g, part[1].storage, g->t->unit, g->t->sub);
    for (unsigned k = 1; k < 3 && cache_copies(g); k++)
        part[k] = layer_view(g, part[k], NODE_VIEW);
    cache_keep(g, &part[1], &part[2]);
    struct value y = attention_is_traced(g) ? layer_attention_masked(g, part[0], part[1], part[2])
                                            : card_attention(g, part[0], part[1], part[2]);
    struct value projected = layer_linear(g, y, P_O, SHAPE_U);
    struct value out = layer_dropout(g, projected, ROLE_ATTN_DROP);
    graph_drop(g, projected);
    graph_drop(g, y);
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, part[k]);
    return out;
}

static struct value gpt_mlp(struct graph *g, struct value x)
{
    struct value wide = layer_linear(g, x, P_UP, SHAPE_FF);
    bool steps = graph_has(g, TRAIT_INNER_MODEL) && g->m->c.family == FAMILY_GPT2;
    struct value active = steps ? layer_gelu_new(g, wide) : layer_gelu(g, wide);
    graph_drop(g, wide);
    struct value narrow = layer_linear(g, active, P_DOWN, SHAPE_U);
    graph_drop(g, active);
    struct value out = layer_dropout(g, narrow, ROLE_MLP_DROP);
    graph_drop(g, narrow);
    return out;
}

// x + branch(norm(x)): the norm's result is an argument until the branch returns.
static struct value gpt_residual(struct graph *g, struct value x, uint16_t norm, block_fn *branch,
                                 uint8_t role)
{
    struct value normed = layer_norm(g, x, false, norm);
    struct value y = branch(g, normed);
    graph_drop(g, normed);
    struct value sum = layer_add(g, x, y, role);
    graph_drop(g, y);
    return sum;
}

static struct value block_gpt(struct graph *g, struct value x)
{
    struct value middle = gpt_residual(g, x, P_LN1, gpt_attention, ROLE_RESID1);
    struct value out = gpt_residual(g, middle, P_LN2, gpt_mlp, ROLE_RESID2);
    graph_drop(g, middle);
    return out;
}

struct value block_forward(struct graph *g, struct value x)
{
    if (graph_is_nanotron(g))
        return block_nanotron(g, x);
    if (g->m->features & HAS_ENCODER)
        return block_encoder(g, x);
    if (g->m->features & HAS_PICKED_KEYS)
        return block_falcon(g, x);
    if (g->m->features & HAS_ALIBI)
        return block_bloom(g, x);
    if (g->m->features & HAS_COUNTED_POSITIONS)
        return block_opt(g, x);
    if (g->m->features & HAS_RETURNED_SHARES)
        return block_shares(g, x);
    return (g->m->features & HAS_GATE) || (g->m->features & HAS_ROTARY) ? block_llama(g, x)
                                                                        : block_gpt(g, x);
}
