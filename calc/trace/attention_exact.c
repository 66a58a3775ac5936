// Owns scaled_dot_product_attention where a card has no kernel for bfloat16: single operations on
// all T x T scores, in float32 since PyTorch 2.5. SRC: pytorch
// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp (less_than_sm80_mem_efficient_dtypes: half
// and float), attention.cpp (_scaled_dot_product_attention_math, convert_boolean_attn_mask;
// _safe_softmax in SoftMax.cpp); traces of llama_t4.

#include "calc/trace/attention_exact.h"

#ifndef VRAM_SMALL

#include "calc/model/kernels_of_card.h"
#include "calc/trace/attention.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"

// What the operands are: contiguous by head, and with a mask beside them.
struct exact_form {
    bool by_head, masked;
};

static bool attention_is_exact(const struct graph *g, uint8_t dtype)
{
    return dtype == DT_LOW && card_lacks_attention(&g->m->c);
}

// With no mask beside them: then transformers repeats keys and values itself.
static bool attention_of_groups(const struct graph *g, uint8_t dtype)
{
    return (dtype == DT_LOW || dtype == DT_F32) && g->m->lacks_groups[dtype == DT_LOW];
}

static bool exact_in_float(const struct graph *g)
{
    return g->m->c.torch >= 2005;
}

// ones(T, T).tril(), then numbers to add; a mask that is given is of them already.
static uint32_t exact_mask(struct graph *g, uint8_t dtype)
{
    uint32_t ones = graph_scratch(g, OP_ONES_LIKE, ROLE_SCORES, PART_MASK, DT_BYTE, SHAPE_MASK);
    uint32_t lower = graph_scratch(g, OP_TRIL, ROLE_SCORES, PART_MASK, DT_BYTE, SHAPE_MASK);
    tape_unref(g->t, ones);
    uint32_t mask = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, dtype, SHAPE_MASK);
    tape_unref(g->t, lower);
    return mask;
}

// What matmul takes of an operand: batch and heads in one, of a view by head a copy.
static struct value exact_operand(struct graph *g, struct value x, bool by_head)
{
    return by_head ? graph_copy(g, x) : layer_copy(g, x);
}

// q k', each of them scaled.
static struct value exact_scores(struct graph *g, struct value query, struct value keys,
                                 bool by_head, bool copied)
{
    struct value right = layer_scale(g, keys, ROLE_K), left = exact_operand(g, query, by_head);
    struct value ready = exact_operand(g, right, copied);
    struct value out = attention_product(g, left, ready, ROLE_SCORES, SHAPE_SCORES);
    graph_drop(g, left);
    graph_drop(g, ready);
    graph_drop(g, right);
    return out;
}

// softmax, then zeros where a row of scores has nothing but minus infinity. Uses scores up.
static struct value exact_softmax(struct graph *g, struct value scores)
{
    struct value out = layer_softmax(g, scores, ROLE_SCORES);
    if (exact_in_float(g))
        tape_unref(g->t, graph_scratch(g, OP_EQ, ROLE_SCORES, PART_MASK, DT_BYTE, SHAPE_SCORES));
    graph_drop(g, scores);
    return out;
}

static struct value attention_exact(struct graph *g, struct value q, struct value k, struct value v,
                                    const struct exact_form *form)
{
    uint8_t dtype = exact_in_float(g) ? DT_F32 : q.dtype;
    bool grouped = k.shape != q.shape;
    bool copied = form->by_head || g->m->c.n_kv_head != g->m->c.n_head;  // repeated, here or before
    struct value wide[3] = {graph_to(g, q, dtype, PART_UPCAST), graph_to(g, k, dtype, PART_UPCAST),
                            graph_to(g, v, dtype, PART_UPCAST)};
    struct value query = layer_scale(g, wide[0], ROLE_Q);
    uint32_t mask = form->masked ? TAPE_NONE : exact_mask(g, dtype);
    struct value keys = grouped ? layer_repeat(g, wide[1], q.shape) : graph_copy(g, wide[1]);
    struct value values = grouped ? layer_repeat(g, wide[2], q.shape) : graph_copy(g, wide[2]);
    struct value scores = exact_scores(g, query, keys, form->by_head, copied);
    struct value shares = exact_softmax(g, scores);
    struct value dropped = g->m->c.family == FAMILY_OPT  // whose dropout is of blocks alone
                               ? graph_copy(g, shares)
                               : layer_dropout(g, shares, ROLE_SCORES);
    graph_drop(g, shares);
    uint32_t low = TAPE_NONE;  // the shares are returned, too
    if (dtype != q.dtype)
        low = graph_scratch(g, OP_TO_COPY, ROLE_SCORES, PART_OUTPUT_CAST, q.dtype, SHAPE_SCORES);
    struct value ready = exact_operand(g, values, copied);
    struct value y = attention_product(g, dropped, ready, ROLE_ATTENTION, q.shape);
    graph_drop(g, ready);
    struct value narrow = graph_to(g, y, q.dtype, PART_OUTPUT_CAST);
    const struct value done[] = {y, dropped, query, keys, values, wide[0], wide[1], wide[2]};
    for (unsigned i = 0; i < sizeof done / sizeof *done; i++)
        graph_drop(g, done[i]);
    tape_unref(g->t, mask);
    tape_unref(g->t, low);
    struct value out = layer_copy(g, narrow);  // transpose(1, 2).contiguous()
    graph_drop(g, narrow);
    return out;
}

struct value card_attention(struct graph *g, struct value q, struct value k, struct value v)
{
    const struct exact_form form = {.masked = g->m->features & HAS_ENCODER};
    return attention_is_exact(g, q.dtype) || attention_of_groups(g, q.dtype)
               ? attention_exact(g, q, k, v, &form)
               : layer_attention(g, q, k, v);
}

struct value card_attention_by_head(struct graph *g, struct value q, struct value k, struct value v)
{
    const struct exact_form form = {.by_head = true};
    return attention_is_exact(g, q.dtype) || attention_of_groups(g, q.dtype)
               ? attention_exact(g, q, k, v, &form)
               : layer_attention_by_head(g, q, k, v);
}

struct value card_attention_masked(struct graph *g, struct value q, struct value k, struct value v)
{
    if (!attention_is_exact(g, q.dtype))
        return layer_attention_masked(g, q, k, v);
    const struct exact_form form = {.by_head = graph_has(g, TRAIT_CONTIGUOUS_QKV), .masked = true};
    uint32_t mask = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, q.dtype, SHAPE_MASKS);
    struct value out = attention_exact(g, q, k, v, &form);
    tape_unref(g->t, mask);
    return out;
}

#endif
