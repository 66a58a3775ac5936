// Owns OPT: which variable of which function holds what, and until when.
// SRC: transformers src/transformers/models/opt/modeling_opt.py (OPTDecoder.forward,
// OPTLearnedPositionalEmbedding, OPTDecoderLayer, OPTAttention); traces opt_* of
// tests/calc/truth/frameworks.

#include "calc/trace/block_opt.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_exact.h"
#include "calc/trace/attention_eager.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/linear.h"

#ifndef VRAM_SMALL
// Positions are counted along a mask of ones: (cumsum(mask) * mask - 1).long(). They are an
// argument of every layer, which takes no notice of them.
static uint32_t opt_positions(struct graph *g, struct value *mask)
{
    *mask = graph_make(g, OP_ONES_LIKE, ROLE_POSITIONS, PART_MASK, DT_F32, SHAPE_TOKENS);
    uint32_t counted = graph_scratch(g, OP_SUM, ROLE_POSITIONS, PART_SELF, DT_F32, SHAPE_TOKENS);
    uint32_t times = graph_scratch(g, OP_MUL, ROLE_POSITIONS, PART_SCALED, DT_F32, SHAPE_TOKENS);
    uint32_t less = graph_scratch(g, OP_SUB, ROLE_POSITIONS, PART_SELF, DT_F32, SHAPE_TOKENS);
    tape_unref(g->t, times);
    g->masks[0] = graph_scratch(g, OP_TO_COPY, ROLE_POSITIONS, PART_SELF, DT_I64, SHAPE_TOKENS);
    tape_unref(g->t, less);
    tape_unref(g->t, counted);
    return graph_scratch(g, OP_ADD, ROLE_POSITIONS, PART_SELF, DT_I64, SHAPE_TOKENS);
}

static bool opt_projects(const struct graph *g)
{
    return layout_find(&g->layout, false, P_PROJECT_IN) != NULL ||
           layout_find(&g->layout, false, P_PROJECT_OUT) != NULL;
}

// inputs_embeds = project_in(inputs_embeds). Uses x up.
static struct value opt_projected(struct graph *g, struct value x)
{
    if (!opt_projects(g))
        return x;
    struct value out = layer_project(g, x, P_PROJECT_IN, SHAPE_U);
    graph_drop(g, x);
    return out;
}

// In place of a last norm: project_out(hidden_states), or nothing. Uses x up.
struct value opt_last(struct graph *g, struct value x)
{
    if (!opt_projects(g))
        return x;
    struct value out = layer_project(g, x, P_PROJECT_OUT, SHAPE_EMBED);
    graph_drop(g, x);
    return out;
}

// embed_tokens(ids) + embed_positions(positions + 2), of each sequence.
struct value opt_embedding(struct graph *g, uint32_t ids, struct value local[3])
{
    shape_id shape = opt_projects(g) ? SHAPE_EMBED : SHAPE_U;
    local[0] = lora_embed(g, ids, layer_embedding(g, ids, P_WTE, shape));
    uint32_t places = opt_positions(g, &local[1]);
    if (g->m->c.attention == ATTENTION_MATH)
        g->masks[1] = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, g->residual, SHAPE_MASKS);
    local[2] = layer_embedding(g, places, P_WPE, SHAPE_U);
    tape_unref(g->t, places);
    local[0] = opt_projected(g, local[0]);
    return layer_add(g, local[0], local[2], ROLE_EMBED);
}

// Queries are scaled before the kernel, whose own factor is 1.
static struct value opt_attention(struct graph *g, struct value x)
{
    struct value raw = layer_linear(g, x, P_Q, SHAPE_Q), q = layer_scale(g, raw, ROLE_Q);
    graph_drop(g, raw);
    struct value k = layer_linear(g, x, P_K, SHAPE_KV), v = layer_linear(g, x, P_V, SHAPE_KV);
    cache_keep(g, &k, &v);
    const struct eager_forms forms = {EAGER_PROJECTION, EAGER_PROJECTION, EAGER_PROJECTION};
    struct value y = g->m->c.attention == ATTENTION_MATH ? layer_attention_eager(g, q, k, v, &forms)
                                                         : card_attention(g, q, k, v);
    struct value out = layer_linear(g, y, P_O, SHAPE_U);
    graph_drop(g, y);
    graph_drop(g, q);
    graph_drop(g, k);
    graph_drop(g, v);
    return out;
}

static struct value opt_relu(struct graph *g, struct value x)
{
    return layer_unary(g, x, OP_RELU, NODE_RELU, ROLE_ACT, PART_OUTPUT, x.shape, SAVES_RESULT);
}

// One variable takes each result in turn. Uses x up.
static struct value opt_mlp(struct graph *g, struct value x)
{
    struct value wide = layer_linear(g, x, P_UP, SHAPE_FF);
    graph_drop(g, x);
    struct value active = opt_relu(g, wide);
    graph_drop(g, wide);
    struct value out = layer_linear(g, active, P_DOWN, SHAPE_U);
    graph_drop(g, active);
    return out;
}

// x + dropout(branch). Uses branch up.
static struct value opt_residual(struct graph *g, struct value x, struct value branch,
                                 uint8_t dropout, uint8_t role)
{
    struct value dropped = layer_dropout(g, branch, dropout);
    graph_drop(g, branch);
    struct value sum = layer_add(g, x, dropped, role);
    graph_drop(g, dropped);
    return sum;
}

// norm(x). Uses x up.
static struct value opt_normed(struct graph *g, struct value x, uint16_t norm)
{
    struct value out = layer_norm(g, x, false, norm);
    graph_drop(g, x);
    return out;
}

// Norms behind the sums (do_layer_norm_before=False).
static struct value opt_late(struct graph *g, struct value x)
{
    struct value attended = opt_attention(g, x);
    struct value middle =
        opt_normed(g, opt_residual(g, x, attended, ROLE_ATTN_DROP, ROLE_RESID1), P_LN1);
    struct value fed = opt_mlp(g, graph_copy(g, middle));
    struct value sum = opt_residual(g, middle, fed, ROLE_MLP_DROP, ROLE_RESID2);
    graph_drop(g, middle);
    return opt_normed(g, sum, P_LN2);
}

static struct value opt_early(struct graph *g, struct value x)
{
    struct value normed = layer_norm(g, x, false, P_LN1);
    struct value attended = opt_attention(g, normed);
    graph_drop(g, normed);
    struct value middle = opt_residual(g, x, attended, ROLE_ATTN_DROP, ROLE_RESID1);
    struct value fed = opt_mlp(g, layer_norm(g, middle, false, P_LN2));
    struct value out = opt_residual(g, middle, fed, ROLE_MLP_DROP, ROLE_RESID2);
    graph_drop(g, middle);
    return out;
}

struct value block_opt(struct graph *g, struct value x)
{
    bool late = g->m->features & HAS_NARROW_EMBEDDING;
    struct value out = late ? opt_late(g, x) : opt_early(g, x);
    graph_drop(g, g->shares);
    g->shares = graph_none();
    return out;
}
#endif
