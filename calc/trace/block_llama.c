// Owns the decoder layers of the rotary families: which variable of which function holds what, and
// until when. SRC: transformers
// src/transformers/models/{llama,qwen3,gemma2,gpt_neox,phi}/modeling_*.py, DecoderLayer.forward.

#include "calc/trace/block_llama.h"

#include "calc/model/experts.h"
#include "calc/trace/attention.h"
#include "calc/trace/attention_exact.h"
#include "calc/trace/attention_eager.h"
#include "calc/trace/attention_latent.h"
#include "calc/trace/attention_ring.h"
#include "calc/trace/attention_sinks.h"
#include "calc/trace/block_delta.h"
#include "calc/trace/block_gemma3n.h"
#include "calc/trace/block_gemma4.h"
#include "calc/trace/block_heads.h"
#include "calc/trace/block_mlp.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_fused.h"
#include "calc/trace/layers_inputs.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora_fused.h"
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

// Of every query head as wide as those that x has.
static shape_id llama_all_heads(struct value x)
{
#ifndef VRAM_SMALL
    if (x.shape == SHAPE_G_KV)
        return SHAPE_G_Q;
#endif
    (void)x;
    return SHAPE_Q;
}

// repeat_kv: hidden_states[:, :, None, :, :].expand(...).reshape(...)
static struct value llama_repeat(struct graph *g, struct value x)
{
    enum { SLICES = 4 };
    struct value sliced = graph_copy(g, x);
    for (unsigned i = 0; i < SLICES && graph_has(g, TRAIT_SLICE_NODES); i++)
        sliced = layer_view(g, sliced, NODE_SLICE);
    struct value out = layer_repeat(g, sliced, llama_all_heads(sliced));
    graph_drop(g, sliced);
    return out;
}

// What attention takes for a key or value (i < 2) or a query.
static struct value llama_operand(struct graph *g, struct value x, unsigned i)
{
    bool joined = heads_turn_in_part(g);
    if (i < 2 && heads_repeat(g))
        return llama_repeat(g, x);
    if (i < 2 && heads_spread_one(g)) {
        struct value spread = layer_view(g, graph_copy(g, x), NODE_REPEAT);
        spread.shape = llama_all_heads(x);
        return spread;
    }
    return heads_are_copied(g) && !(joined && i != 1) ? layer_copy(g, x) : graph_copy(g, x);
}

static struct value llama_attend_to(struct graph *g, const struct value cast[3])
{
#ifndef VRAM_SMALL
    if (attention_is_ring(g))
        return layer_attention_ring(g, cast[2], cast[0], cast[1]);
#endif
    bool contiguous = heads_are_copied(g) || heads_turn_in_part(g);  // cat's results are contiguous
    if (heads_have_window(g))
        return card_attention_masked(g, cast[2], cast[0], cast[1]);
    return contiguous || graph_has(g, TRAIT_RESHAPED_HEADS)
               ? card_attention_by_head(g, cast[2], cast[0], cast[1])
               : card_attention(g, cast[2], cast[0], cast[1]);
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

// repeat_kv: nothing for keys of every query head, and of one key views of itself.
static struct value llama_repeat_eager(struct graph *g, struct value x)
{
#ifdef VRAM_SMALL  // its families have groups
    return llama_repeat(g, x);
#else
    if (g->m->c.n_kv_head == g->m->c.n_head)
        return graph_copy(g, x);
    if (g->m->c.n_kv_head > 1)
        return llama_repeat(g, x);
    struct value spread = layer_view(g, graph_copy(g, x), NODE_REPEAT);
    spread.shape = llama_all_heads(x);
    return spread;
#endif
}

#ifndef VRAM_SMALL
static bool llama_is_one_row(const struct vram_config *c)
{
    return c->batch_size == 1 || c->attention_mask == ATTENTION_MASK_PACKED;
}

// Rotated queries are views by head, but where a rotation has joined parts; so are keys and values
// that are not repeated. Those of one sequence are a batch of products as they are. SRC: pytorch
// aten/src/ATen/native/LinearAlgebra.cpp, _matmul_impl (expand, reshape); trace llama_eager_one.
static struct eager_forms llama_forms(const struct graph *g)
{
    const struct vram_config *c = &g->m->c;
    bool repeated = c->n_kv_head > 1 && c->n_kv_head != c->n_head;
    enum eager_form view = llama_is_one_row(c) ? EAGER_CONTIGUOUS : EAGER_BY_HEAD;
    enum eager_form turned = heads_turn_in_part(g) ? EAGER_CONTIGUOUS : view;
    return (struct eager_forms){turned, repeated ? EAGER_CONTIGUOUS : turned,
                                repeated ? EAGER_CONTIGUOUS : view};
}
#endif

// Keys and values of every query head, as attention without a kernel takes them.
static struct value llama_attend_eager(struct graph *g, const struct heads *h)
{
    struct value k = llama_repeat_eager(g, h->k), v = llama_repeat_eager(g, h->v);
    struct eager_forms forms = {EAGER_CONTIGUOUS, EAGER_CONTIGUOUS, EAGER_CONTIGUOUS};
#ifndef VRAM_SMALL
    forms = llama_forms(g);
#endif
    struct value y = has(g, HAS_SINKS) ? layer_attention_sinks(g, h->q, k, v)
                                       : layer_attention_eager(g, h->q, k, v, &forms);
    graph_drop(g, k);
    graph_drop(g, v);
    return y;
}

static uint16_t llama_output(const struct graph *g)
{
#ifndef VRAM_SMALL
    if (model_layer_is_global(g->m, graph_layer(g)))
        return P_GLOBAL_O;
#endif
    (void)g;
    return P_O;
}

static struct value llama_attention(struct graph *g, struct value x)
{
    if (has(g, HAS_LATENT))
        return layer_attention_latent(g, x);
    if (MODEL_IS_WHOLE && model_layer_is_delta(g->m, graph_layer(g)))
        return layer_delta(g, x);
    struct heads h = heads_make(g, x);
    cache_keep(g, &h.k, &h.v);
    struct value y = model_has_eager_scores(g->m) ? llama_attend_eager(g, &h) : llama_attend(g, &h);
#ifndef VRAM_SMALL
    if (has(g, HAS_DELTA_RULE))
        y = layer_opened(g, y, h.gate);
#endif
    struct value out[LORA_FUSED_OUTPUTS];
    if (lora_fused_has(g, P_O))
        lora_fused(g, P_O, y, out);
    else
        out[0] = fused_has_lora(g, P_O) ? fused_output(g, y)
                                        : layer_linear(g, y, llama_output(g), SHAPE_U);
    graph_drop(g, y);
    graph_drop(g, h.q);
    graph_drop(g, h.k);
    graph_drop(g, h.v);
#ifndef VRAM_SMALL
    if (has(g, HAS_DELTA_RULE))
        graph_drop(g, h.gate);
#endif
    return out[0];
}

static struct value llama_gathered(struct graph *g, struct value normed, block_fn *branch)
{
    bool feeds = branch != llama_attention && model_permutes_experts(g->m) &&
                 !model_layer_is_dense(g->m, graph_layer(g));
    struct value whole = feeds ? sequence_gather_local(g, normed) : sequence_gather(g, normed);
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
#ifndef VRAM_SMALL
    if (norm == P_LN2 && has(g, HAS_GLOBAL_HEADS) && g->m->c.n_expert)
        y = gemma4_beside(g, x, y);
#endif
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

static struct value llama_layer(struct graph *g, struct value x)
{
#ifndef VRAM_SMALL
    if (model_has_streams(g->m))
        return gemma3n_layer(g, x, llama_attention);
#endif
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
#ifndef VRAM_SMALL
    if (has(g, HAS_GLOBAL_HEADS) && g->m->c.n_expert)
        gemma4_beside_go(g);
    if (has(g, HAS_GLOBAL_HEADS))
        out = layer_view(g, inputs_add(g, out), NODE_SCALE);  // in place, by a buffer
#endif
    return out;
}

struct value block_llama(struct graph *g, struct value x)
{
    struct value out = llama_layer(g, x);
    graph_drop(g, g->shares);
    g->shares = graph_none();
    return out;
}
