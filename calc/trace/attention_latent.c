// Owns attention whose queries, keys and values come out of narrow latents: one rotated key for all
// heads, values narrower than keys. SRC: transformers
// src/transformers/models/deepseek_v3/modeling_deepseek_v3.py (DeepseekV3Attention); torchtitan's,
// below: traces titan_ds_* of tests/calc/truth/frameworks.

#include "calc/trace/attention_latent.h"

#include "calc/trace/attention.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/linear.h"

static struct value latent_queries(struct graph *g, struct value x)
{
    if (!layout_find(&g->layout, true, P_Q_A))
        return layer_linear(g, x, P_Q, SHAPE_Q);
    struct value narrow = layer_linear(g, x, P_Q_A, SHAPE_Q_LATENT);
    struct value normed = layer_rms_norm(g, narrow, false, P_Q_A_NORM, SHAPE_TOKENS);
    graph_drop(g, narrow);
    struct value q = layer_linear(g, normed, P_Q, SHAPE_Q);
    graph_drop(g, normed);
    return q;
}

// split(x, [n, m], dim=-1): views.
static void latent_split(struct graph *g, struct value x, shape_id first, shape_id second,
                         struct value out[2])
{
    layer_split2(g, x, first, out);
    out[1].shape = second;
}

// cat((q_pass, q_rot), dim=-1)
static struct value latent_join(struct graph *g, struct value rest, struct value turned)
{
    uint8_t dtype = rest.dtype == DT_F32 || turned.dtype == DT_F32 ? DT_F32 : rest.dtype;
    struct value out = graph_make(g, OP_CAT, ROLE_Q, PART_COPY, dtype, SHAPE_Q);
    graph_follow_both(g, NODE_JOIN, &out, rest, turned);
    return out;
}

// Keys and values of every head out of the latent; the rotated key is the same for all.
static void latent_expand(struct graph *g, struct value core, struct value turned,
                          struct value out[2])
{
    struct value part[2],
        wide = layer_view(g, layer_linear(g, core, P_KV_B, SHAPE_KV_WIDE), NODE_VIEW);
    latent_split(g, wide, SHAPE_KEYS, SHAPE_VALUES, part);
    struct value all = layer_view(g, graph_copy(g, turned), NODE_REPEAT);
    all.shape = SHAPE_Q_ROT;
    struct value key = graph_make(g, OP_NEW_EMPTY, ROLE_K, PART_COPY, wide.dtype, SHAPE_Q);
    key = layer_put(g, key, part[0]);
    out[0] = layer_put(g, key, all);
    out[1] = part[1];
    graph_drop(g, all);
    graph_drop(g, part[0]);
    graph_drop(g, wide);
}

static struct value latent_attend(struct graph *g, struct value query, struct value key,
                                  struct value value)
{
    static const uint8_t roles[3] = {ROLE_Q, ROLE_K, ROLE_V};
    const struct value in[3] = {query, key, value};
    struct value cast[3];
    for (unsigned i = 3; i-- > 0;)
        cast[i] = graph_input_cast(g, in[i], roles[i], PART_INPUT_CAST);
#ifndef VRAM_SMALL
    struct value y = layer_attention_by_head(g, cast[0], cast[1], cast[2]);
#else
    struct value y = layer_attention(g, cast[0], cast[1], cast[2]);
#endif
    for (unsigned i = 0; i < 3; i++)
        graph_drop(g, cast[i]);
    return y;
}

#ifndef VRAM_SMALL
// One part turned as complex numbers. Uses x up.
static struct value titan_turned(struct graph *g, struct value x)
{
    struct value wide = graph_to(g, x, DT_F32, PART_UPCAST);
    struct value product = layer_mul(g, wide, g->cos, wide.role, PART_SCALED);
    struct value out = graph_to(g, product, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, product);
    graph_drop(g, wide);
    graph_drop(g, x);
    return out;
}

// A view of the latent's wider rows, which the fused kernel has in a row for a moment.
static struct value titan_core(struct graph *g, struct value x)
{
    uint32_t rows = graph_scratch(g, OP_CLONE, x.role, PART_COPY, x.dtype, SHAPE_KV_CORE);
    struct value out = layer_rms_norm(g, x, false, P_KV_A_NORM, SHAPE_TOKENS);
    tape_unref(g->t, rows);
    return out;
}

// cat((k_nope, k_pe.expand(heads)), dim=-1)
static struct value titan_keys(struct graph *g, struct value part, struct value turned)
{
    struct value all = layer_view(g, graph_copy(g, turned), NODE_REPEAT);
    all.shape = SHAPE_Q_ROT;
    struct value out = graph_make(g, OP_CAT, ROLE_K, PART_COPY, part.dtype, SHAPE_Q);
    graph_follow_both(g, NODE_JOIN, &out, part, all);
    graph_drop(g, all);
    return out;
}

// SRC: torchtitan models/deepseek_v3/model/model.py, Attention.forward.
static struct value titan_latent(struct graph *g, struct value x)
{
    struct value q = layer_view(g, latent_queries(g, x), NODE_VIEW), q_part[2], kv_part[2], part[2];
    latent_split(g, q, SHAPE_KEYS, SHAPE_Q_ROT, q_part);
    q_part[1] = titan_turned(g, q_part[1]);
    struct value query = latent_join(g, q_part[0], q_part[1]);
    graph_drop(g, q);
    struct value narrow = layer_linear(g, x, P_KV_A, SHAPE_KV_LATENT);
    latent_split(g, narrow, SHAPE_KV_CORE, SHAPE_KV_ROT, kv_part);
    kv_part[1] = titan_turned(g, kv_part[1]);
    struct value core = titan_core(g, kv_part[0]);
    graph_drop(g, narrow);
    graph_drop(g, kv_part[0]);
    struct value wide = layer_view(g, layer_linear(g, core, P_KV_B, SHAPE_KV_WIDE), NODE_VIEW);
    graph_drop(g, core);
    latent_split(g, wide, SHAPE_KEYS, SHAPE_VALUES, part);
    struct value key = titan_keys(g, part[0], kv_part[1]);
    struct value y = latent_attend(g, query, key, part[1]), out = layer_linear(g, y, P_O, SHAPE_U);
    struct value held[] = {y, query, key, wide, part[0], part[1], q_part[0], q_part[1], kv_part[1]};
    for (unsigned i = 0; i < sizeof held / sizeof *held; i++)
        graph_drop(g, held[i]);
    return out;
}
#endif

struct value layer_attention_latent(struct graph *g, struct value x)
{
#ifndef VRAM_SMALL
    if (framework_goes(&g->m->c, BY_COMPLEX_ANGLES))
        return titan_latent(g, x);
#endif
    struct value q = layer_view(g, latent_queries(g, x), NODE_VIEW), q_part[2], kv_part[2], wide[2];
    latent_split(g, q, SHAPE_KEYS, SHAPE_Q_ROT, q_part);
    struct value kv = layer_linear(g, x, P_KV_A, SHAPE_KV_LATENT);
    latent_split(g, kv, SHAPE_KV_CORE, SHAPE_KV_ROT, kv_part);
    struct value core = layer_rms_norm(g, kv_part[0], false, P_KV_A_NORM, SHAPE_TOKENS);
    if (g->m->features & HAS_COMPLEX_ROTARY)
        layer_rotary_complex(g, &q_part[1], &kv_part[1]);
    else
        layer_rotary_latent(g, &q_part[1], &kv_part[1]);
#ifndef VRAM_SMALL
    cache_keep(g, &core, &kv_part[1]);
#endif
    struct value query = latent_join(g, q_part[0], q_part[1]);
    latent_expand(g, core, kv_part[1], wide);
    struct value y = latent_attend(g, query, wide[0], wide[1]),
                 out = layer_linear(g, y, P_O, SHAPE_U);
    graph_drop(g, y);
    graph_drop(g, wide[0]);
    graph_drop(g, wide[1]);
    graph_drop(g, query);
    graph_drop(g, core);
    graph_drop(g, kv);
    graph_drop(g, q);
    for (unsigned i = 0; i < 2; i++) {
        graph_drop(g, q_part[i]);
        graph_drop(g, kv_part[i]);
    }
    return out;
}

// Edges: what was there before, the part that was put in. CopySlices copies the whole gradient and
// its part; an expanded part's own node has zeros of it in hand.
void node_copy_slice(struct graph *g, const struct node *n, uint32_t results[])
{
    bool before = n->edges[0].to != GRAPH_NO_NODE;
    uint32_t whole = graph_scratch(g, OP_CLONE, n->role, PART_GRAD, n->dtype, n->shape);
    if (n->edges[1].to != GRAPH_NO_NODE)
        results[1] = graph_scratch(g, OP_CLONE, n->role, PART_GRAD, n->dtype, n->extra);
    if (before)
        tape_unref(g->t, graph_scratch(g, OP_ZEROS, n->role, PART_SCRATCH, n->dtype, n->extra));
    if (before)
        results[0] = whole;
    else
        tape_unref(g->t, whole);
}

// Values narrower than keys, and keys wider than 128: the kernel makes the sums over do * o itself,
// and has dk and dv in tiles.
void node_sdpa_latent(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 0; k < 3; k++)
        if (n->edges[k].to != GRAPH_NO_NODE)
            results[k] = graph_scratch(g, OP_NEW_EMPTY, n->edges[k].role, PART_GRAD,
                                       n->edges[k].dtype, n->edges[k].shape);
    uint32_t rows = graph_scratch(g, OP_NEW_EMPTY, n->role, PART_SCRATCH, DT_F32, SHAPE_LSE);
    uint32_t tiles =
        graph_scratch(g, OP_NEW_EMPTY, n->role, PART_SCRATCH, DT_F32, SHAPE_WIDE_TILES);
    tape_unref(g->t, tiles);
    tape_unref(g->t, rows);
}
