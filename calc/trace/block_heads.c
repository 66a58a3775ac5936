// Owns queries, keys and values of the rotary families' layers: projections, norms, rotation, and
// in which form attention gets them. SRC: transformers
// src/transformers/models/{llama,qwen3,gemma2,gpt_neox,phi}/modeling_*.py, Attention.forward.

#include "calc/trace/block_heads.h"

#include "calc/trace/attention.h"
#include "calc/trace/block_gemma4.h"
#include "calc/trace/block_delta.h"
#include "calc/trace/block_llama4.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_fused.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora_fused.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/linear.h"

static bool has(const struct graph *g, uint64_t feature)
{
    return g->m->features & feature;
}

// The norm over each head, or over all of them, where the family has one. Uses x up.
static struct value llama_head_norm(struct graph *g, struct value x, uint16_t number,
                                    shape_id stats)
{
    if (!has(g, HAS_HEAD_NORM) && !has(g, HAS_WIDE_NORM))
        return x;
    struct value normed =
        has(g, HAS_CENTERED_NORM)
            ? layer_centered_norm(g, x, false, number, stats)
            : layer_rms_norm(g, x, false, number, has(g, HAS_WIDE_NORM) ? SHAPE_TOKENS : stats);
    graph_drop(g, x);
    return normed;
}

static bool llama_grouped(const struct graph *g)
{
    return g->m->c.n_kv_head != g->m->c.n_head;
}

// The layer gets a mask. SRC: transformers layer_types of configuration_*.py.
bool heads_have_window(const struct graph *g)
{
    uint64_t pattern = g->m->c.sliding_window_pattern;
    if (attention_is_traced(g))
        return true;  // masks are tensors while a model is traced
    if (model_masks_rows(g->m) || model_gets_mask(g->m))
        return true;
    return model_masks_windows(g->m) &&
           (pattern == 0 || (graph_layer(g) + !model_opens_whole(g->m)) % pattern != 0);
}

// One key and value for all queries are repeated as views of themselves.
bool heads_spread_one(const struct graph *g)
{
#ifndef VRAM_SMALL
    if (model_layer_is_global(g->m, graph_layer(g)))
        return model_global_keys(&g->m->c) == 1 && g->m->c.n_head > 1;
#endif
    return heads_have_window(g) && g->m->c.n_kv_head == 1 && llama_grouped(g);
}

// The kernel takes grouped keys and values as they are, or gets one of each for every query head.
bool heads_repeat(const struct graph *g)
{
#ifndef VRAM_SMALL
    bool wide = model_layer_is_global(g->m, graph_layer(g)) && g->m->c.global_head_dim > 256;
    if (wide)  // no kernel with groups has heads as wide
        return model_global_keys(&g->m->c) != g->m->c.n_head && !heads_spread_one(g);
#endif
    if (graph_has(g, TRAIT_RESHAPED_HEADS) && has(g, HAS_FUSED_QKV))
        return false;          // before the rotation
    if (heads_have_window(g))  // SRC: transformers integrations/sdpa_attention.py, use_gqa_in_sdpa
        return llama_grouped(g) && !heads_spread_one(g);
    if (g->m->c.attention == ATTENTION_FLASH_2)
        return llama_grouped(g) && graph_has(g, TRAIT_FLASH_2_REPEATS) &&
               has(g, HAS_REPEATED_FLASH);
    bool handed = graph_has(g, TRAIT_ENABLE_GQA) || graph_has(g, TRAIT_GROUPED_HEADS);
    return llama_grouped(g) &&
           !(handed && g->m->c.attention != ATTENTION_MATH && !g->m->repeats_groups);
}

// scaled_dot_product_attention gets contiguous copies.
bool heads_are_copied(const struct graph *g)
{
    return graph_has(g, TRAIT_CONTIGUOUS_QKV) && g->m->c.attention != ATTENTION_FLASH_2;
}

// .view(...).transpose(1, 2) before the rotation, and of values that are copied by head: gradients
// come back by head, and are copied. Uses x up.
static struct value llama_by_head(struct graph *g, struct value x)
{
    return graph_has(g, TRAIT_INNER_MODEL) ? layer_view(g, x, NODE_VIEW) : x;
}

// Of a family with layers that know no positions, one of those.
static bool llama_is_plain(const struct graph *g)
{
    return has(g, HAS_FOURTH_PLAIN) && graph_layer(g) % 4 == 3;
}

// What is to be rotated: a fused kernel works on it as it is.
static struct value llama_turnable(struct graph *g, struct value x)
{
    bool as_it_is =
        g->m->c.kernels || has(g, HAS_EVERY_TOKEN) || (llama_is_plain(g) && !heads_are_copied(g));
    return as_it_is ? x : llama_by_head(g, x);
}

// qkv[..., :n]: each slice's gradient is put into zeros of the whole. Uses qkv up.
static struct heads llama_slices(struct graph *g, struct value qkv)
{
    static const shape_id shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};
    struct value part[3];
    for (unsigned k = 0; k < 3; k++) {
        part[k] = layer_view(g, graph_copy(g, qkv), NODE_SLICE);
        part[k].shape = shapes[k];
    }
    graph_drop(g, qkv);
    if (cache_copies(g))
        part[2] = llama_by_head(g, part[2]);
    return (struct heads){.q = part[0], .k = part[1], .v = part[2]};
}

// q.reshape(...), k.expand(...).reshape(...) and v likewise: copies where a group has several
// queries. Uses the parts up.
static struct heads llama_reshaped(struct graph *g, struct value part[3])
{
    if (!llama_grouped(g) || !graph_has(g, TRAIT_RESHAPED_HEADS))
        return (struct heads){.q = part[0], .k = part[1], .v = part[2]};
    struct heads h = {.q = layer_copy(g, part[0]),
                      .k = layer_repeat(g, part[1], SHAPE_Q),
                      .v = layer_repeat(g, part[2], SHAPE_Q)};
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, part[k]);
    return h;
}

// A query or key as it goes to the rotation. Uses x up.
static struct value llama_head(struct graph *g, struct value x, uint16_t norm, shape_id stats)
{
    bool later = has(g, HAS_TURNED_NORM);
    return llama_turnable(g, later ? x : llama_head_norm(g, x, norm, stats));
}

static struct value llama_values(struct graph *g, struct value x)
{
    return heads_repeat(g) || heads_are_copied(g) || cache_copies(g) ? llama_by_head(g, x) : x;
}

// Of all three projections, where the norms come behind them.
static struct heads llama_heads(struct graph *g, const struct value out[3])
{
    struct heads h;
    h.q = llama_head(g, out[0], P_Q_NORM, SHAPE_Q_STATS);
    h.k = llama_head(g, out[1], P_K_NORM, SHAPE_KV_STATS);
    h.v = llama_values(g, out[2]);
    return h;
}

static struct heads llama_project_fused(struct graph *g, struct value x)
{
    struct value out[3];
    if (lora_fused_has(g, P_Q))
        lora_fused(g, P_Q, x, out);
    else
        fused_qkv(g, x, out);
    return llama_heads(g, out);
}

static struct value llama_queries(struct graph *g, struct value x, struct heads *h)
{
#ifndef VRAM_SMALL
    h->gate = graph_none();
    if (has(g, HAS_DELTA_RULE))
        return layer_gated_queries(g, x, &h->gate);
#endif
    (void)h;
    return layer_linear(g, x, P_Q, SHAPE_Q);
}

// Projections; GPT-NeoX and Phi-3 have one for all three.
static struct heads llama_project(struct graph *g, struct value x)
{
    struct heads h;
    if (!has(g, HAS_FUSED_QKV) && (lora_fused_has(g, P_Q) || fused_has_lora(g, P_Q)))
        return llama_project_fused(g, x);
    if (has(g, HAS_FUSED_QKV)) {
        static const shape_id shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};
        struct value part[3], qkv = layer_linear(g, x, P_QKV, SHAPE_QKV);
        if (has(g, HAS_SLICED_QKV))
            return llama_slices(g, qkv);
        layer_split(g, qkv, 3, shapes, part);
        graph_drop(g, qkv);
        return llama_reshaped(g, part);
    }
    if (has(g, HAS_LATE_NORM)) {
        struct value out[3] = {layer_linear(g, x, P_Q, SHAPE_Q), layer_linear(g, x, P_K, SHAPE_KV),
                               layer_linear(g, x, P_V, SHAPE_KV)};
#ifndef VRAM_SMALL
        for (unsigned i = 0; i < 3 && g->m->c.family == FAMILY_OLMO_CLIP; i++)
            out[i] = layer_clipped(g, out[i]);
#endif
        return llama_heads(g, out);
    }
    h.q = llama_head(g, llama_queries(g, x, &h), P_Q_NORM, SHAPE_Q_STATS);
    h.k = llama_head(g, layer_linear(g, x, P_K, SHAPE_KV), P_K_NORM, SHAPE_KV_STATS);
    h.v = llama_values(g, layer_linear(g, x, P_V, SHAPE_KV));
    return h;
}

// OLMo 2's angles are in float32.
static bool llama_turns_wide(const struct graph *g)
{
    return has(g, HAS_WIDE_ANGLES) && graph_has(g, TRAIT_LATE_CAST);
}

// A part of each head is turned.
bool heads_turn_in_part(const struct graph *g)
{
    bool always = !has(g, HAS_SLICED_QKV);
    return has(g, HAS_PART_ROTARY) && (always || graph_has(g, TRAIT_JOINED_ROTARY));
}

// q, k = apply_rotary_pos_emb(q, k, cos, sin): the old ones live until both new ones are there.
static void llama_rotate(struct graph *g, struct heads *h)
{
    if (MODEL_IS_WHOLE && has(g, HAS_EVERY_TOKEN)) {
        llama4_heads(g, &h->q, &h->k, llama_is_plain(g));
        return;
    }
    if (llama_is_plain(g))
        return;
    if (MODEL_IS_WHOLE && framework_goes(&g->m->c, BY_COMPLEX_ANGLES) && !has(g, HAS_HEAD_NORM)) {
        layer_rotary_complex(g, &h->q, &h->k);
        return;
    }
    if (heads_turn_in_part(g)) {
        layer_rotary_part(g, &h->q, &h->k);
        return;
    }
    if (has(g, HAS_CENTERED_NORM)) {
        layer_rotary_wide(g, &h->q, &h->k);
        return;
    }
    if (MODEL_IS_WHOLE && has(g, HAS_PAIR_ROTARY)) {
        layer_rotary_pairs(g, &h->q, &h->k);
        return;
    }
    if (MODEL_IS_WHOLE && fused_rotates_apart(g)) {
        fused_rotary_apart(g, &h->q, &h->k);
        return;
    }
    if (g->m->c.kernels) {
        h->q = fused_rotary(g, h->q, heads_are_copied(g));
        h->k = fused_rotary(g, h->k, heads_are_copied(g) || heads_repeat(g));
        return;
    }
    struct value q = layer_rotary(g, h->q, SHAPE_Q_HALF);
    struct value k = layer_rotary(g, h->k, h->k.shape == SHAPE_Q ? SHAPE_Q_HALF : SHAPE_KV_HALF);
    if (llama_turns_wide(g)) {
        struct value wide[2] = {q, k};
        q = graph_to(g, q, h->q.dtype, PART_OUTPUT_CAST);
        k = graph_to(g, k, h->k.dtype, PART_OUTPUT_CAST);
        graph_drop(g, wide[0]);
        graph_drop(g, wide[1]);
    }
    graph_drop(g, h->q);
    graph_drop(g, h->k);
    h->q = q;
    h->k = k;
}

// Queries, keys and values as attention takes them.
struct heads heads_make(struct graph *g, struct value x)
{
    struct heads h;
#ifndef VRAM_SMALL
    if (has(g, HAS_GLOBAL_HEADS)) {
        gemma4_heads(g, x, heads_repeat(g), &h.q, &h.k, &h.v);
        return h;
    }
#endif
    h = llama_project(g, x);
    llama_rotate(g, &h);
    if (has(g, HAS_TURNED_NORM)) {
        h.q = llama_head_norm(g, h.q, P_Q_NORM, SHAPE_Q_STATS);
        h.k = llama_head_norm(g, h.k, P_K_NORM, SHAPE_KV_STATS);
    }
    return h;
}
