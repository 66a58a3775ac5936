// Owns the decoder layers of the rotary families: which variable of which function holds what, and
// until when. SRC: transformers
// src/transformers/models/{llama,qwen3,gemma2,gpt_neox,phi}/modeling_*.py, DecoderLayer.forward.

#include "calc/trace/block_llama.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_eager.h"
#include "calc/trace/attention_latent.h"
#include "calc/trace/attention_sinks.h"
#include "calc/trace/block_delta.h"
#include "calc/trace/block_llama4.h"
#include "calc/trace/block_mlp.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_fused.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora_fused.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/linear.h"
#include "calc/trace/sequence.h"

static bool has(const struct graph *g, uint64_t feature)
{
    return g->m->features & feature;
}

static struct value llama_norm(struct graph *g, struct value x, uint16_t number)
{
    if (has(g, HAS_CENTERED_NORM))
        return layer_centered_norm(g, x, false, number, SHAPE_TOKENS);
    return has(g, HAS_RMS_NORM) ? layer_rms_norm(g, x, false, number, SHAPE_TOKENS_SHARE)
                                : layer_norm(g, x, false, number);
}

// The norm over each head, or over all of them, where the family has one. Uses x up.
static struct value llama_head_norm(struct graph *g, struct value x, uint16_t number, uint8_t stats)
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
static bool llama_has_window(const struct graph *g)
{
    uint64_t pattern = g->m->c.sliding_window_pattern;
    return model_masks_windows(g->m) &&
           (pattern == 0 || (graph_layer(g) + !model_opens_whole(g->m)) % pattern != 0);
}

// One key and value for all queries are repeated as views of themselves.
static bool llama_spreads_one(const struct graph *g)
{
    return llama_has_window(g) && g->m->c.n_kv_head == 1 && llama_grouped(g);
}

// The kernel takes grouped keys and values as they are, or gets one of each for every query head.
bool block_llama_repeats(const struct graph *g)
{
    if (graph_has(g, TRAIT_RESHAPED_HEADS) && has(g, HAS_FUSED_QKV))
        return false;         // before the rotation
    if (llama_has_window(g))  // SRC: transformers integrations/sdpa_attention.py, use_gqa_in_sdpa
        return llama_grouped(g) && !llama_spreads_one(g);
    if (g->m->c.attention == ATTENTION_FLASH_2)
        return llama_grouped(g) && graph_has(g, TRAIT_FLASH_2_REPEATS) &&
               has(g, HAS_REPEATED_FLASH);
    return llama_grouped(g) &&
           !((graph_has(g, TRAIT_ENABLE_GQA) || graph_has(g, TRAIT_GROUPED_HEADS)) &&
             g->m->c.attention != ATTENTION_MATH);
}

// scaled_dot_product_attention gets contiguous copies.
static bool llama_copies(const struct graph *g)
{
    return graph_has(g, TRAIT_CONTIGUOUS_QKV) && g->m->c.attention != ATTENTION_FLASH_2;
}

struct heads {
    struct value q, k, v;
#ifndef __wasm__
    struct value gate;  // of attention's result, where the family has one
#endif
};

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
        g->m->c.kernels || has(g, HAS_EVERY_TOKEN) || (llama_is_plain(g) && !llama_copies(g));
    return as_it_is ? x : llama_by_head(g, x);
}

// qkv[..., :n]: each slice's gradient is put into zeros of the whole. Uses qkv up.
static struct heads llama_slices(struct graph *g, struct value qkv)
{
    static const uint8_t shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};
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
static struct value llama_head(struct graph *g, struct value x, uint16_t norm, uint8_t stats)
{
    bool later = has(g, HAS_TURNED_NORM);
    return llama_turnable(g, later ? x : llama_head_norm(g, x, norm, stats));
}

static struct value llama_values(struct graph *g, struct value x)
{
    return block_llama_repeats(g) || llama_copies(g) || cache_copies(g) ? llama_by_head(g, x) : x;
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
#ifndef __wasm__
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
        static const uint8_t shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};
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
#ifndef __wasm__
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
static bool llama_turns_part(const struct graph *g)
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
    if (llama_turns_part(g)) {
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
    if (g->m->c.kernels) {
        h->q = fused_rotary(g, h->q, llama_copies(g));
        h->k = fused_rotary(g, h->k, llama_copies(g) || block_llama_repeats(g));
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

// repeat_kv: hidden_states[:, :, None, :, :].expand(...).reshape(...)
static struct value llama_repeat(struct graph *g, struct value x)
{
    enum { SLICES = 4 };
    struct value sliced = graph_copy(g, x);
    for (unsigned i = 0; i < SLICES && graph_has(g, TRAIT_SLICE_NODES); i++)
        sliced = layer_view(g, sliced, NODE_SLICE);
    struct value out = layer_repeat(g, sliced, SHAPE_Q);
    graph_drop(g, sliced);
    return out;
}

// What attention takes for a key or value (i < 2) or a query.
static struct value llama_operand(struct graph *g, struct value x, unsigned i)
{
    bool joined = llama_turns_part(g);
    if (i < 2 && block_llama_repeats(g))
        return llama_repeat(g, x);
    if (i < 2 && llama_spreads_one(g)) {
        struct value spread = layer_view(g, graph_copy(g, x), NODE_REPEAT);
        spread.shape = SHAPE_Q;
        return spread;
    }
    return llama_copies(g) && !(joined && i != 1) ? layer_copy(g, x) : graph_copy(g, x);
}

static struct value llama_attend_to(struct graph *g, const struct value cast[3])
{
    bool contiguous = llama_copies(g) || llama_turns_part(g);  // cat's results are contiguous
    if (llama_has_window(g))
        return layer_attention_masked(g, cast[2], cast[0], cast[1]);
    return contiguous || graph_has(g, TRAIT_RESHAPED_HEADS)
               ? layer_attention_by_head(g, cast[2], cast[0], cast[1])
               : layer_attention(g, cast[2], cast[0], cast[1]);
}

// Under autocast the kernels take the compute format, while the rotation has gone to that of the
// angles. What is cast are variables until they return.
static struct value llama_attend(struct graph *g, const struct heads *h)
{
    static const uint8_t roles[3] = {ROLE_K, ROLE_V, ROLE_Q};
    const struct value in[3] = {h->k, h->v, h->q};
    struct value whole[3], cast[3];
    for (unsigned i = 0; i < 3; i++)
        whole[i] = llama_operand(g, in[i], i);
    for (unsigned i = 3; i-- > 0;)
        cast[i] = graph_input_cast(g, whole[i], roles[i], PART_INPUT_CAST);
    struct value y = llama_attend_to(g, cast);
    for (unsigned i = 0; i < 3; i++) {
        graph_drop(g, cast[i]);
        graph_drop(g, whole[i]);
    }
    return y;
}

// Keys and values of every query head, as attention without a kernel takes them.
static struct value llama_attend_eager(struct graph *g, const struct heads *h)
{
    struct value k = llama_repeat(g, h->k), v = llama_repeat(g, h->v);
    struct value y = has(g, HAS_SINKS) ? layer_attention_sinks(g, h->q, k, v)
                                       : layer_attention_eager(g, h->q, k, v);
    graph_drop(g, k);
    graph_drop(g, v);
    return y;
}

static struct value llama_attention(struct graph *g, struct value x)
{
    if (has(g, HAS_LATENT))
        return layer_attention_latent(g, x);
    if (MODEL_IS_WHOLE && model_layer_is_delta(g->m, graph_layer(g)))
        return layer_delta(g, x);
    struct heads h = llama_project(g, x);
    llama_rotate(g, &h);
    if (has(g, HAS_TURNED_NORM)) {
        h.q = llama_head_norm(g, h.q, P_Q_NORM, SHAPE_Q_STATS);
        h.k = llama_head_norm(g, h.k, P_K_NORM, SHAPE_KV_STATS);
    }
    cache_keep(g, &h.k, &h.v);
    struct value y = model_has_eager_scores(g->m) ? llama_attend_eager(g, &h) : llama_attend(g, &h);
#ifndef __wasm__
    if (has(g, HAS_DELTA_RULE))
        y = layer_opened(g, y, h.gate);
#endif
    struct value out[LORA_FUSED_OUTPUTS];
    if (lora_fused_has(g, P_O))
        lora_fused(g, P_O, y, out);
    else
        out[0] = fused_has_lora(g, P_O) ? fused_output(g, y) : layer_linear(g, y, P_O, SHAPE_U);
    graph_drop(g, y);
    graph_drop(g, h.q);
    graph_drop(g, h.k);
    graph_drop(g, h.v);
#ifndef __wasm__
    if (has(g, HAS_DELTA_RULE))
        graph_drop(g, h.gate);
#endif
    return out[0];
}

static struct value llama_gathered(struct graph *g, struct value normed, block_fn *branch)
{
    struct value whole = sequence_gather(g, normed);
    struct value y = branch(g, whole);
    graph_drop(g, whole);
    return y;
}

// post(branch(norm(x))): the norm's result is a variable until the branch has returned.
static struct value llama_branch(struct graph *g, struct value x, uint16_t norm, uint16_t post,
                                 block_fn *branch)
{
    struct value normed = has(g, HAS_NO_PRE_NORM) ? graph_copy(g, x) : llama_norm(g, x, norm);
    bool gathered = MODEL_IS_WHOLE && sequence_is_gathered(g);
    struct value y = gathered ? llama_gathered(g, normed, branch) : branch(g, normed);
    if (has(g, HAS_BRANCH_DROPOUT)) {
        struct value whole = y;
        y = layer_dropout(g, whole, whole.role);
        graph_drop(g, whole);
    }
    graph_drop(g, normed);
    if (has(g, HAS_BRANCH_SCALE)) {
        struct value scaled = layer_scale(g, y, y.role);
        graph_drop(g, y);
        return scaled;
    }
    if (!has(g, HAS_POST_NORM))
        return y;
    struct value out = llama_norm(g, y, post);
    graph_drop(g, y);
    return out;
}

// What the branches give adds up before it meets the stream, and they are variables until then.
static struct value llama_sum(struct graph *g, struct value x, struct value first,
                              struct value second)
{
    struct value both = layer_add(g, first, second, ROLE_RESID1);
    struct value out = layer_add(g, both, x, ROLE_RESID2);
    graph_drop(g, both);
    graph_drop(g, first);
    graph_drop(g, second);
    return out;
}

// SRC: transformers models/phi/modeling_phi.py, PhiDecoderLayer (resid_dropout); litgpt/model.py,
// Block (shared_attention_norm).
static struct value llama_shared_norm(struct graph *g, struct value x)
{
    struct value normed = llama_norm(g, x, P_LN1);
    struct value attention = llama_attention(g, normed);
    struct value attended = layer_dropout(g, attention, ROLE_ATTN_DROP);
    graph_drop(g, attention);
    struct value mlp = block_mlp(g, normed);
    struct value fed = layer_dropout(g, mlp, ROLE_MLP_DROP);
    graph_drop(g, mlp);
    struct value out = llama_sum(g, x, attended, fed);
    graph_drop(g, normed);
    return out;
}

// residual + attention + mlp, out of one norm. SRC: transformers models/cohere/modeling_cohere.py,
// CohereDecoderLayer.forward.
static struct value llama_one_norm(struct graph *g, struct value x)
{
    struct value normed = llama_norm(g, x, P_LN1);
    struct value attention = llama_attention(g, normed), mlp = block_mlp(g, normed);
    struct value middle = layer_add(g, x, attention, ROLE_RESID1);
    struct value out = layer_add(g, middle, mlp, ROLE_RESID2);
    graph_drop(g, middle);
    graph_drop(g, normed);
    graph_drop(g, attention);
    graph_drop(g, mlp);
    return out;
}

static struct value llama_parallel(struct graph *g, struct value x)
{
    struct value attention = llama_branch(g, x, P_LN1, P_POST_ATTN, llama_attention);
    struct value mlp = llama_branch(g, x, P_LN2, P_POST_MLP, block_mlp);
    return llama_sum(g, x, mlp, attention);
}

// SRC: transformers models/{stablelm,llama4}/modeling_*.py, DecoderLayer.forward.
static struct value llama_held_norm(struct graph *g, struct value x)
{
    struct value first = llama_norm(g, x, P_LN1);
    struct value attention = llama_attention(g, first);
    struct value middle = layer_add(g, x, attention, ROLE_RESID1);
    bool rebound = has(g, HAS_EVERY_TOKEN);  // the sum takes the norm's name
    if (rebound)
        graph_drop(g, first);
    struct value mlp = llama_branch(g, middle, P_LN2, P_POST_MLP, block_mlp);
    struct value fed = layer_dropout(g, mlp, ROLE_MLP_DROP);
    graph_drop(g, mlp);
    struct value out = layer_add(g, middle, fed, ROLE_RESID2);
    graph_drop(g, fed);
    graph_drop(g, middle);
    graph_drop(g, attention);
    if (!rebound)
        graph_drop(g, first);
    return out;
}

struct value block_llama(struct graph *g, struct value x)
{
    if (has(g, HAS_HELD_NORM))
        return llama_held_norm(g, x);
    if (has(g, HAS_CENTERED_NORM))
        return llama_one_norm(g, x);
    if (has(g, HAS_PARALLEL_RESIDUAL))
        return has(g, HAS_SHARED_NORM) ? llama_shared_norm(g, x) : llama_parallel(g, x);
    struct value y = llama_branch(g, x, P_LN1, P_POST_ATTN, llama_attention);
    struct value middle = layer_add(g, x, y, ROLE_RESID1);
    graph_drop(g, y);
    y = llama_branch(g, middle, P_LN2, P_POST_MLP, block_mlp);
    struct value out = layer_add(g, middle, y, ROLE_RESID2);
    graph_drop(g, middle);
    graph_drop(g, y);
    graph_drop(g, g->shares);
    g->shares = graph_none();
    return out;
}
