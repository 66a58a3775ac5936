// Owns attention: the fused kernels, and the T x T scores of attention=math.
// SRC: flash-attention csrc/flash_attn/flash_api.cpp; pytorch attention.cu and
// mem_eff_attention/kernel_forward.h (kNeedsOutputAccumulatorBuffer) for mem_efficient;
// nanoGPT model.py.

#include "calc/trace/attention.h"

#include "calc/model/precision.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"

// Seeds and offsets of the kernels' random numbers, kept for backward.
struct random_state {
    uint32_t storage[2];
};

static struct random_state attention_state(struct graph *g, bool flash)
{
    struct random_state s = {{TAPE_NONE, TAPE_NONE}};
    bool reference = g->m->c.mode == MODE_REFERENCE;
    bool kept = graph_has(g, flash ? TRAIT_FLASH_STATE : TRAIT_EFFICIENT_STATE);
    if (reference || kept)
        s.storage[0] = graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_RNG, DT_I64,
                                     reference || flash ? SHAPE_RNG : SHAPE_ONE);
    if (kept)
        s.storage[1] = graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_RNG, DT_I64, SHAPE_ONE);
    return s;
}

#ifndef VRAM_SMALL
void attention_random(struct graph *g, uint32_t random[2])
{
    struct random_state s = attention_state(g, true);
    random[0] = s.storage[0];
    random[1] = s.storage[1];
}
#endif

static void attention_save(struct graph *g, struct value *out, const struct value *in, uint32_t lse,
                           const struct random_state *state, shape_id extra)
{
    int32_t n = graph_node(g, NODE_SDPA, out, extra);
    for (unsigned k = 0; k < 3; k++)
        graph_save(g, n, in[k].storage);
    graph_save(g, n, out->storage);
    graph_save(g, n, lse);
    graph_save(g, n, state->storage[0]);
    if (state->storage[1] != TAPE_NONE)
        graph_save(g, n, state->storage[1]);
    for (unsigned k = 0; k < 3; k++)
        graph_edge(g, n, in[k]);
}

static uint64_t attention_head(const struct graph *g)
{
#ifndef VRAM_SMALL
    if (model_layer_is_global(g->m, graph_layer(g)))
        return g->m->c.global_head_dim;
#endif
    return g->m->c.head_dim;
}

#ifndef VRAM_SMALL
bool attention_sums(const struct model *m, uint32_t layer)
{
    bool global = model_layer_is_global(m, layer);
    return (m->features & HAS_LATENT) || (global ? m->c.global_head_dim : m->c.head_dim) > 128;
}
#endif

bool attention_is_flash(const struct graph *g, uint8_t dtype)
{
    bool chosen = g->m->c.attention == ATTENTION_FLASH || g->m->c.attention == ATTENTION_FLASH_2;
    return chosen && dtype == DT_LOW && attention_head(g) <= 256;
}

// Memory-efficient attention makes its sums for gradients alone, which shows in prompts of latents:
// trace youtu_decode. SRC: pytorch aten/src/ATen/native/transformers/attention.cpp
// (should_compute_logsumexp).
static bool attention_is_latent_answer(const struct graph *g)
{
    return MODEL_IS_WHOLE && (g->m->features & HAS_LATENT) && g->m->c.task == TASK_INFERENCE;
}

// heads_first: query is contiguous by head, and so is flash's result.
static struct value attention_fused(struct graph *g, struct value q, struct value k, struct value v,
                                    bool heads_first, bool masked)
{
    bool latent = g->m->features & HAS_LATENT, flash = !masked && attention_is_flash(g, q.dtype);
    bool sums = !flash && q.dtype == DT_LOW && (latent || attention_head(g) > 128);
    shape_id shape = latent ? SHAPE_VALUES : q.shape;
    struct random_state state = {{TAPE_NONE, TAPE_NONE}};
    const struct value in[3] = {q, k, v};
    if (!flash && g->m->c.mode != MODE_REFERENCE)
        state = attention_state(g, false);
    struct value out = graph_make(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_OUTPUT, q.dtype, shape);
    uint32_t lse = TAPE_NONE;
    if (flash || !attention_is_latent_answer(g))
        lse = graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_LSE, DT_F32,
                            flash ? SHAPE_LSE : SHAPE_LSE32);
    if (sums)  // of the output in float32: a head's values do not fit in registers
        tape_unref(g->t,
                   graph_scratch(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_SCRATCH, DT_F32, shape));
    if (flash || g->m->c.mode == MODE_REFERENCE)
        state = attention_state(g, flash);
    if (graph_needs(g, q) || graph_needs(g, k) || graph_needs(g, v))
        attention_save(g, &out, in, lse, &state,
                       (uint8_t)((flash ? ATTENTION_FLASH : ATTENTION_MEM_EFFICIENT) |
                                 (flash && heads_first ? ATTENTION_HEADS_FIRST : 0)));
    tape_unref(g->t, lse);
    tape_unref(g->t, state.storage[0]);
    tape_unref(g->t, state.storage[1]);
    return out;
}

void attention_mask_open(struct graph *g)
{
    bool rows = model_masks_rows(g->m);
    for (unsigned i = 0; i < (MODEL_IS_WHOLE && rows ? model_mask_kinds(g->m) : 1); i++)
        g->masks[i] = graph_scratch(g, OP_EQ, ROLE_SCORES, PART_MASK, DT_BYTE,
                                    rows ? SHAPE_MASKS : SHAPE_MASK);
}

void attention_masks_close(struct graph *g)
{
    for (unsigned i = 0; i < 2; i++) {
        tape_unref(g->t, g->masks[i]);
        g->masks[i] = TAPE_NONE;
    }
}

// SRC: pytorch aten/src/ATen/native/transformers/attention.cpp, convert_boolean_attn_mask;
// pad_bias: rows of a length that eight does not divide.
static uint32_t attention_numbers(struct graph *g, uint8_t dtype)
{
    uint32_t mask = g->masks[0];
    if (model_gets_mask(g->m))
        tape_ref(g->t, mask);
    else
        mask = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, dtype, SHAPE_MASKS);
#ifndef VRAM_SMALL
    enum { ALIGNMENT = 8 };
    bool packed = g->m->c.attention_mask == ATTENTION_MASK_PACKED;
    if ((packed ? g->m->tokens : g->m->c.seq_len) % ALIGNMENT) {
        uint32_t plain = mask;
        mask = graph_scratch(g, OP_PAD, ROLE_SCORES, PART_MASK, dtype, SHAPE_MASKS_ALIGNED);
        tape_unref(g->t, plain);
    }
#endif
    return mask;
}

struct value layer_attention_masked(struct graph *g, struct value q, struct value k, struct value v)
{
    uint32_t mask = attention_numbers(g, q.dtype);
    struct value out = attention_fused(g, q, k, v, false, true);
    if (graph_needs(g, out))
        graph_save(g, out.node, mask);
    tape_unref(g->t, mask);
    return out;
}

// a @ b on contiguous copies: matmul flattens batch and heads, which views of one projection do not
// allow.
struct value attention_product(struct graph *g, struct value a, struct value b, uint8_t role,
                               shape_id shape)
{
    struct value out = graph_make(g, OP_BMM, role, PART_OUTPUT, a.dtype, shape);
    if (graph_needs(g, a) || graph_needs(g, b)) {
        int32_t n = graph_node(g, NODE_BMM, &out, 0);
        graph_save(g, n, a.storage);
        graph_save(g, n, b.storage);
        graph_edge(g, n, a);
        graph_edge(g, n, b);
    }
    return out;
}

// q k' / sqrt(D): the Python number becomes a float64 that autograd keeps on the CPU.
static struct value attention_scores(struct graph *g, struct value q, struct value k)
{
    struct value qc = layer_copy(g, q), kc = layer_copy(g, k);
    struct value att = attention_product(g, qc, kc, ROLE_SCORES, SHAPE_SCORES);
    graph_drop(g, qc);
    graph_drop(g, kc);
    struct value scaled = graph_make(g, OP_MUL, ROLE_SCORES, PART_SCALED, att.dtype, att.shape);
    if (graph_needs(g, att)) {
        int32_t n = graph_node(g, NODE_SCALE, &scaled, 0);
        graph_save_cpu(g, n, DT_F64);
        graph_edge(g, n, att);
    }
    graph_drop(g, att);
    return scaled;
}

#ifndef VRAM_SMALL
// The mask of transformers' eager_attention_forward is one for all layers, of numbers.
static struct value attention_added(struct graph *g, struct value att)
{
    struct value out = graph_make(g, OP_ADD, ROLE_SCORES, PART_SELF, g->residual, att.shape);
    graph_follow(g, NODE_ADD, &out, att);
    return out;
}
#endif

static struct value attention_masked(struct graph *g, struct value att)
{
#ifndef VRAM_SMALL
    if (g->masks[0] != TAPE_NONE)
        return attention_added(g, att);
#endif
    uint32_t mask = graph_scratch(g, OP_EQ, ROLE_SCORES, PART_MASK, DT_BYTE, SHAPE_MASK);
    struct value out = graph_make(g, OP_MASKED_FILL, ROLE_SCORES, PART_SELF, att.dtype, att.shape);
    graph_follow_saving(g, NODE_MASKED_FILL, &out, att, mask);
    tape_unref(g->t, mask);
    return out;
}

// softmax runs in float32 under autocast. From float16 the kernel converts on its way, from
// bfloat16 a copy is made. SRC: pytorch aten/src/ATen/native/SoftMax.cpp, softmax(dtype):
// half_to_float for CUDA half only.
static struct value attention_softmax(struct graph *g, struct value att, bool wide)
{
    bool convert = wide && !precision_is_float16(&g->m->c);
    struct value in = convert ? graph_to(g, att, DT_F32, PART_UPCAST) : graph_copy(g, att);
    struct value out =
        graph_make(g, OP_SOFTMAX, ROLE_SCORES, PART_SOFTMAX, wide ? DT_F32 : att.dtype, att.shape);
    graph_follow_saving(g, NODE_SOFTMAX, &out, in, out.storage);
    graph_drop(g, in);
    return out;
}

static struct value attention_math(struct graph *g, struct value q, struct value k, struct value v)
{
    struct value att = attention_scores(g, q, k);
    struct value masked = attention_masked(g, att);
    graph_drop(g, att);
    att = attention_softmax(g, masked, g->autocast);
    graph_drop(g, masked);
    struct value dropped = layer_dropout(g, att, ROLE_SCORES);
    graph_drop(g, att);
    struct value low = graph_input_cast(g, dropped, ROLE_SCORES, PART_OUTPUT_CAST);
    struct value vc = layer_copy(g, v);
    struct value y = attention_product(g, low, vc, ROLE_ATTENTION, q.shape);
    graph_drop(g, low);
    graph_drop(g, vc);
    struct value out = layer_copy(g, y);  // transpose(1, 2).contiguous()
    graph_drop(g, y);
    graph_drop(g, dropped);
    return out;
}

// Scores with a soft cap, whatever kernel is chosen: scaled, capped, a mask of numbers added,
// softmax in float32. SRC: litgpt/model.py, CausalSelfAttention.scaled_dot_product_attention
// (attention_logit_softcapping).
static struct value attention_capped(struct graph *g, struct value q, struct value k,
                                     struct value v)
{
    struct value raw = attention_product(g, q, k, ROLE_SCORES, SHAPE_SCORES);
    struct value scaled = layer_scale(g, raw, ROLE_SCORES);
    graph_drop(g, raw);
    struct value capped = layer_soft_cap(g, graph_copy(g, scaled));
    graph_drop(g, scaled);
    uint32_t mask = graph_scratch(g, OP_ONES_LIKE, ROLE_SCORES, PART_MASK, q.dtype, SHAPE_MASK);
    struct value masked = layer_unary(g, capped, OP_ADD, NODE_PASS, ROLE_SCORES, PART_SELF,
                                      SHAPE_SCORES, SAVES_NOTHING);
    graph_drop(g, capped);
    struct value wide = attention_softmax(g, masked, true);
    graph_drop(g, masked);
    struct value low = graph_to(g, wide, v.dtype, PART_OUTPUT_CAST);
    graph_drop(g, wide);
    struct value y = attention_product(g, low, v, ROLE_ATTENTION, q.shape);
    graph_drop(g, low);
    tape_unref(g->t, mask);
    struct value out = layer_copy(g, y);  // y.transpose(1, 2), then reshape
    graph_drop(g, y);
    return out;
}

static bool attention_is_capped(const struct graph *g)
{
    return (g->m->features & HAS_SOFT_CAP) && graph_has(g, TRAIT_ONE_PROJECTION);
}

struct value layer_attention(struct graph *g, struct value q, struct value k, struct value v)
{
    if (attention_is_capped(g))
        return attention_capped(g, q, k, v);
    return g->m->c.attention == ATTENTION_MATH ? attention_math(g, q, k, v)
                                               : attention_fused(g, q, k, v, false, false);
}

// attn_output.transpose(1, 2).contiguous(): what memory-efficient attention makes is in that order
// already.
struct value layer_attention_by_head(struct graph *g, struct value q, struct value k,
                                     struct value v)
{
    if (attention_is_capped(g))
        return attention_capped(g, q, k, v);
    if (g->m->c.attention == ATTENTION_MATH)
        return attention_math(g, q, k, v);
    struct value y = attention_fused(g, q, k, v, true, false);
    if (!attention_is_flash(g, q.dtype))
        return y;
    struct value out = layer_copy(g, y);
    graph_drop(g, y);
    return out;
}
