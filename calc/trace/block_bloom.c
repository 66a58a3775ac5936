// Owns BLOOM: which variable of which function holds what, and until when.
// SRC: transformers src/transformers/models/bloom/modeling_bloom.py (BloomModel.forward,
// BloomBlock, BloomAttention, BloomMLP, bloom_gelu_forward, bloom_gelu_back); traces bloom_* of
// tests/calc/truth/frameworks.

#include "calc/trace/block_bloom.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_eager.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/linear.h"

#ifndef VRAM_SMALL
// The embedding has a norm. Mask and ALiBi's biases, a row of each sequence and head, are arguments
// of every layer.
struct value bloom_embedding(struct graph *g, uint32_t ids, struct value local[3])
{
    local[0] = lora_embed(g, ids, layer_embedding(g, ids, P_WTE, SHAPE_U));
    struct value x = layer_norm(g, local[0], true, P_EMBED_NORM);
    struct value wide = graph_make(g, OP_MUL, ROLE_SCORES, PART_BIAS, DT_F32, SHAPE_LSE),
                 bias = graph_to(g, wide, g->residual, PART_BIAS);
    graph_drop(g, wide);
    g->masks[1] = bias.storage;
    g->masks[0] = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, g->residual, SHAPE_MASKS);
    return x;
}

// fused_qkv[..., n, :].transpose(1, 2).reshape(...): a copy; the gradient is put into zeros of the
// whole.
static struct value bloom_part(struct graph *g, struct value qkv, uint8_t role)
{
    struct value view = layer_view(g, graph_copy(g, qkv), NODE_SLICE);
    view.shape = role == ROLE_Q ? SHAPE_Q : SHAPE_KV;
    view.role = role;
    return view;
}

// Uses x up.
static struct value bloom_flat(struct graph *g, struct value x)
{
    struct value out = layer_copy(g, x);
    graph_drop(g, x);
    return out;
}

// alibi.baddbmm(q, k'): autocast makes a copy of the biases.
static struct value bloom_scores(struct graph *g, struct value q, struct value k)
{
    uint32_t bias =
        g->autocast ? graph_scratch(g, OP_TO_COPY, ROLE_SCORES, PART_BIAS_CAST, q.dtype, SHAPE_LSE)
                    : TAPE_NONE;
    struct value out = graph_make(g, OP_BMM, ROLE_SCORES, PART_OUTPUT, q.dtype, SHAPE_SCORES);
    if (graph_needs(g, q) || graph_needs(g, k)) {
        int32_t n = graph_node(g, NODE_BADDBMM, &out, 0);
        graph_save(g, n, q.storage);
        graph_save(g, n, k.storage);
        graph_edge(g, n, q);
        graph_edge(g, n, k);
    }
    tape_unref(g->t, bias);
    return out;
}

// softmax(scores + mask, dtype=float32).to(query.dtype) @ v, back in the order of positions.
// *scores and *masked stay variables of the function, *shares one of the layer.
static struct value bloom_attend(struct graph *g, const struct value part[3], struct value *scores,
                                 struct value *masked, struct value *shares)
{
    *scores = bloom_scores(g, part[0], part[1]);
    *masked = graph_make(g, OP_ADD, ROLE_SCORES, PART_SELF, g->residual, SHAPE_SCORES);
    if (graph_needs(g, *scores))
        graph_edge(g, graph_node(g, NODE_ADD, masked, 0), *scores);
    struct value wide = graph_to(g, *masked, DT_F32, PART_UPCAST),
                 sure = layer_softmax(g, wide, ROLE_SCORES);
    graph_drop(g, wide);
    *shares = graph_to(g, sure, part[0].dtype, PART_OUTPUT_CAST);
    graph_drop(g, sure);
    struct value y = attention_product(g, *shares, part[2], ROLE_ATTENTION, SHAPE_Q);
    return bloom_flat(g, layer_view(g, y, NODE_VIEW));
}

// x + dropout(branch). Uses branch up.
static struct value bloom_residual(struct graph *g, struct value x, struct value branch,
                                   uint8_t dropout, uint8_t role)
{
    struct value dropped = layer_dropout(g, branch, dropout);
    struct value sum = layer_add(g, x, dropped, role);
    graph_drop(g, dropped);
    graph_drop(g, branch);
    return sum;
}

// Keys and values that a cache joins to what it has are contiguous already.
static void bloom_parts(struct graph *g, struct value qkv, struct value part[3])
{
    static const uint8_t roles[3] = {ROLE_Q, ROLE_K, ROLE_V};
    bool joined = cache_copies(g);
    for (unsigned i = 0; i < 3; i++)
        part[i] = bloom_part(g, qkv, roles[i]);
    if (joined)
        cache_keep(g, &part[1], &part[2]);
    for (unsigned i = 0; i < (joined ? 1 : 3); i++)
        part[i] = bloom_flat(g, part[i]);
    if (!joined)
        cache_keep(g, &part[1], &part[2]);
}

static struct value bloom_attention(struct graph *g, struct value x, struct value residual,
                                    struct value *shares)
{
    struct value part[3], scores, masked, qkv = layer_linear(g, x, P_QKV, SHAPE_QKV);
    bloom_parts(g, qkv, part);
    struct value y = bloom_attend(g, part, &scores, &masked, shares);
    struct value out =
        bloom_residual(g, residual, layer_linear(g, y, P_O, SHAPE_U), ROLE_ATTN_DROP, ROLE_RESID1);
    graph_drop(g, y);
    for (unsigned i = 0; i < 3; i++)
        graph_drop(g, part[i]);
    graph_drop(g, qkv);
    graph_drop(g, scores);
    graph_drop(g, masked);
    return out;
}

// One operation of GELU's formulas: its result takes a slot, what was in two others or in the same
// goes when it is there. Slot 0 is none.
struct gelu_step {
    uint8_t op, slot, gone[2];
};
enum { GELU_SLOTS = 5 };

// x * 0.5 * (1 + tanh(0.79788456 * x * (1 + 0.044715 * x * x))), but for the last product
static const struct gelu_step gelu_forward[] = {
    {OP_MUL, 1, {0, 0}},  // x / 2
    {OP_MUL, 2, {0, 0}},  // 0.8 x
    {OP_MUL, 3, {0, 0}},  // 0.04 x
    {OP_MUL, 3, {3, 0}},  // times x
    {OP_ADD, 3, {3, 0}},  // and 1
    {OP_MUL, 2, {2, 3}},  // the angle
    {OP_TANH, 2, {2, 0}}, {OP_ADD, 2, {2, 0}},
};

// 0.5 * x * ((1 - t * t) * (0.79788456 + 0.1070322243 * x * x)) + 0.5 * (1 + t), t as above; but
// for the product with the gradient
static const struct gelu_step gelu_backward[] = {
    {OP_MUL, 1, {0, 0}}, {OP_MUL, 2, {0, 0}}, {OP_MUL, 2, {2, 0}},
    {OP_ADD, 2, {2, 0}}, {OP_MUL, 1, {1, 2}}, {OP_TANH, 1, {1, 0}},  // t
    {OP_MUL, 2, {0, 0}},                                             // x / 2
    {OP_MUL, 3, {0, 0}}, {OP_SUB, 3, {3, 0}},                        // 1 - t t
    {OP_MUL, 4, {0, 0}}, {OP_MUL, 4, {4, 0}}, {OP_ADD, 4, {4, 0}},   // 0.8 + 0.1 x x
    {OP_MUL, 3, {3, 4}}, {OP_MUL, 2, {2, 3}},                        // of those three
    {OP_ADD, 3, {0, 0}}, {OP_MUL, 3, {3, 0}}, {OP_ADD, 2, {2, 3}},
};

// What is left is in slots 1 and 2.
static void gelu_run(struct graph *g, const struct gelu_step *steps, size_t count, uint8_t dtype,
                     uint32_t slots[GELU_SLOTS])
{
    for (size_t i = 0; i < count; i++) {
        uint32_t made = graph_scratch(g, steps[i].op, ROLE_ACT, PART_TEMP, dtype, SHAPE_FF);
        tape_unref(g->t, slots[steps[i].gone[0]]);
        tape_unref(g->t, slots[steps[i].gone[1]]);
        slots[steps[i].slot] = made;
    }
}

static struct value bloom_gelu(struct graph *g, struct value x)
{
    uint32_t slots[GELU_SLOTS] = {TAPE_NONE};
    gelu_run(g, gelu_forward, sizeof gelu_forward / sizeof *gelu_forward, x.dtype, slots);
    struct value out =
        layer_unary(g, x, OP_MUL, NODE_GELU_FUNCTION, ROLE_ACT, PART_OUTPUT, x.shape, SAVES_INPUT);
    tape_unref(g->t, slots[1]);
    tape_unref(g->t, slots[2]);
    return out;
}

void node_gelu_function(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t slots[GELU_SLOTS] = {TAPE_NONE};
    gelu_run(g, gelu_backward, sizeof gelu_backward / sizeof *gelu_backward, n->dtype, slots);
    results[0] = graph_scratch(g, OP_MUL, n->edges[0].role, PART_GRAD, n->dtype, n->shape);
    tape_unref(g->t, slots[1]);
    tape_unref(g->t, slots[2]);
}

// alpha * bmm(...), for keys and for queries.
void node_baddbmm(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 2; k-- > 0;) {
        const struct edge *e = &n->edges[k];
        if (e->to == GRAPH_NO_NODE)
            continue;
        uint32_t product = graph_scratch(g, OP_BMM, e->role, PART_SCRATCH, n->dtype, e->shape);
        results[k] = graph_scratch(g, OP_MUL, e->role, PART_GRAD, n->dtype, e->shape);
        tape_unref(g->t, product);
    }
}

static struct value bloom_mlp(struct graph *g, struct value x, struct value residual)
{
    struct value wide = layer_linear(g, x, P_UP, SHAPE_FF), active = bloom_gelu(g, wide);
    graph_drop(g, wide);
    struct value out = bloom_residual(g, residual, layer_linear(g, active, P_DOWN, SHAPE_U),
                                      ROLE_MLP_DROP, ROLE_RESID2);
    graph_drop(g, active);
    return out;
}

// It returns its shares, too, which the model holds until the next layer has returned.
struct value block_bloom(struct graph *g, struct value x)
{
    struct value shares, first = layer_norm(g, x, false, P_LN1);
    struct value middle = bloom_attention(g, first, x, &shares);
    struct value second = layer_norm(g, middle, false, P_LN2);
    graph_drop(g, first);
    struct value out = bloom_mlp(g, second, middle);
    graph_drop(g, second);
    graph_drop(g, middle);
    graph_drop(g, g->shares);
    g->shares = shares;
    return out;
}
#endif
