// Owns the families whose layers return their shares beside the hidden states: GPT-Neo, GPT-J,
// CodeGen, MPT. Scores are tensors. SRC: transformers
// src/transformers/models/{gpt_neo,gptj,codegen,mpt}/modeling_*.py (Model.forward, Block.forward,
// Attention._attn); traces gpt_neo_*, gptj_*, codegen_* and mpt_* of tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/block_shares.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_eager.h"
#include "calc/trace/cache.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/linear.h"

static bool is(const struct graph *g, enum family_value family)
{
    return g->m->c.family == family;
}

// MPT's biases are of all positions that the model knows.
struct value shares_embedding(struct graph *g, uint32_t ids, struct value local[3])
{
    local[0] = lora_embed(g, ids, layer_embedding(g, ids, P_WTE, SHAPE_U));
    if (is(g, FAMILY_MPT)) {
        g->masks[1] = graph_scratch(g, OP_MUL, ROLE_SCORES, PART_BIAS, DT_F32, SHAPE_ALIBI);
        g->masks[0] = graph_scratch(g, OP_EQ, ROLE_SCORES, PART_MASK, DT_BYTE, SHAPE_MASKS);
        return graph_copy(g, local[0]);
    }
    local[2] = graph_make(g, OP_ADD, ROLE_POSITIONS, PART_SELF, DT_I64, SHAPE_T);
    g->masks[0] = graph_scratch(g, OP_WHERE, ROLE_SCORES, PART_MASK, g->residual, SHAPE_MASKS);
    if (!is(g, FAMILY_GPT_NEO))
        return layer_dropout(g, local[0], ROLE_EMBED);
    local[1] = layer_embedding(g, local[2].storage, P_WPE, SHAPE_TC);
    struct value sum = layer_add(g, local[0], local[1], ROLE_EMBED);
    struct value x = layer_dropout(g, sum, ROLE_EMBED);
    graph_drop(g, sum);
    return x;
}

// Queries, keys and values, and the projection of all that CodeGen's function holds.
struct parts {
    struct value q, k, v, whole;
};

// A view by head. Uses x up.
static struct value shares_view(struct graph *g, struct value x)
{
    return layer_view(g, x, NODE_VIEW);
}

static struct parts shares_project(struct graph *g, struct value x)
{
    struct parts p = {.whole = graph_none()};
    if (!(g->m->features & HAS_FUSED_QKV)) {
        p.q = layer_linear(g, x, P_Q, SHAPE_Q);
        p.k = layer_linear(g, x, P_K, SHAPE_KV);
        p.v = layer_linear(g, x, P_V, SHAPE_KV);
        return p;
    }
    static const shape_id shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};
    struct value part[3], qkv = layer_linear(g, x, P_QKV, SHAPE_QKV);
    layer_split(g, qkv, 3, shapes, part);
    for (unsigned i = 0; i < 3 && is(g, FAMILY_CODEGEN); i++) {  // heads are not next to each other
        struct value own = layer_copy(g, part[i]);
        graph_drop(g, part[i]);
        part[i] = own;
    }
    p.q = part[0];
    p.k = part[1];
    p.v = part[2];
    p.whole = qkv;
    return p;
}

// A cache makes copies of keys and values by head: of CodeGen's turned keys in the values' format.
static void shares_cache(struct graph *g, struct parts *p)
{
    if (g->caches) {
        struct value low = graph_to(g, p->k, p->v.dtype, PART_OUTPUT_CAST);
        graph_drop(g, p->k);
        p->k = low;
    }
    struct value *const both[2] = {&p->k, &p->v};
    for (unsigned i = 0; i < 2 && g->caches; i++) {
        struct value copy = layer_copy(g, *both[i]);
        graph_drop(g, *both[i]);
        *both[i] = copy;
    }
    cache_keep(g, &p->k, &p->v);
}

// As a product takes it: in the compute format, contiguous by head.
static struct value shares_operand(struct graph *g, struct value x, bool contiguous)
{
    struct value cast = graph_input_cast(g, x, x.role, PART_INPUT_CAST);
    if (contiguous)
        return cast;
    struct value out = layer_copy(g, cast);
    graph_drop(g, cast);
    return out;
}

// Scores after one more operation: a mask, a factor, biases. Uses x up.
static struct value shares_step(struct graph *g, struct value x, enum op op, enum node_kind kind,
                                uint8_t dtype)
{
    struct value out = graph_make(g, op, ROLE_SCORES, PART_SCALED, dtype, SHAPE_SCORES);
    graph_follow(g, kind, &out, x);
    graph_drop(g, x);
    return out;
}

// The mask is a tensor of numbers in the residual stream's format.
static struct value shares_masked(struct graph *g, struct value x)
{
    uint8_t dtype = g->residual == DT_F32 ? DT_F32 : x.dtype;
    return shares_step(g, x, OP_ADD, NODE_ADD, dtype);
}

// q k' in float32, which autocast takes back; then what comes before the softmax, by family.
static struct value shares_scores(struct graph *g, struct value q, struct value k)
{
    struct value by[2] = {shares_operand(g, q, false), shares_operand(g, k, g->caches)};
    struct value raw = attention_product(g, by[0], by[1], ROLE_SCORES, SHAPE_SCORES);
    graph_drop(g, by[0]);
    graph_drop(g, by[1]);
    if (is(g, FAMILY_GPT_NEO))
        return shares_masked(g, shares_step(g, raw, OP_WHERE, NODE_WHERE, raw.dtype));
    if (is(g, FAMILY_GPTJ))
        return shares_masked(g, shares_step(g, raw, OP_DIV, NODE_DIV, raw.dtype));
    struct value masked = shares_masked(g, raw);
    return shares_step(g, masked, OP_DIV, NODE_DIV, masked.dtype);
}

// In float32, and its shares in the values' format. SRC: GPTNeoSelfAttention._attn.
static struct value shares_wide(struct graph *g, const struct parts *p, struct value *shares)
{
    struct value q = graph_to(g, p->q, DT_F32, PART_UPCAST),
                 k = graph_to(g, p->k, DT_F32, PART_UPCAST);
    struct value scores = shares_scores(g, q, k);
    struct value sure = layer_softmax(g, scores, ROLE_SCORES);
    graph_drop(g, scores);
    *shares = graph_to(g, sure, p->v.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sure);
    struct value values = shares_operand(g, p->v, g->caches);
    struct value y = attention_product(g, *shares, values, ROLE_ATTENTION, SHAPE_Q);
    graph_drop(g, values);
    graph_drop(g, q);
    graph_drop(g, k);
    return y;
}

// scores * scale + bias, those masked, float(): the last is a variable to the function's end. SRC:
// MptAttention.forward.
static struct value shares_biased(struct graph *g, const struct parts *p, struct value *shares,
                                  struct value *scores)
{
    struct value by[2] = {shares_operand(g, p->q, false), shares_operand(g, p->k, g->caches)};
    struct value raw = attention_product(g, by[0], by[1], ROLE_SCORES, SHAPE_SCORES);
    graph_drop(g, by[0]);
    graph_drop(g, by[1]);
    struct value scaled = shares_step(g, raw, OP_MUL, NODE_SCALE, raw.dtype);
    struct value biased = shares_step(g, scaled, OP_ADD, NODE_ADD, DT_F32);
    *scores = graph_make(g, OP_MASKED_FILL, ROLE_SCORES, PART_SELF, DT_F32, SHAPE_SCORES);
    if (graph_needs(g, biased)) {
        int32_t n = graph_node(g, NODE_MASKED_FILL, scores, 0);
        graph_save(g, n, g->masks[0]);
        graph_edge(g, n, biased);
    }
    graph_drop(g, biased);
    struct value sure = layer_softmax(g, *scores, ROLE_SCORES);
    *shares = graph_to(g, sure, p->v.dtype, PART_OUTPUT_CAST);
    graph_drop(g, sure);
    struct value values = shares_operand(g, p->v, g->caches);
    struct value y = attention_product(g, *shares, values, ROLE_ATTENTION, SHAPE_Q);
    graph_drop(g, values);
    return y;
}

// What turning leaves as variables of attention's function.
struct turning {
    struct value parts[4];
    uint32_t all, places;
};

// Sines and cosines of the positions, gathered in each layer: GPT-J's in the keys' format.
static struct turning shares_turn(struct graph *g, struct parts *p)
{
    struct turning t = {.all = TAPE_NONE, .places = TAPE_NONE};
    bool copies = is(g, FAMILY_GPTJ);
    if (copies) {
        t.all = graph_scratch(g, OP_CLONE, ROLE_ROTARY, PART_COPY, DT_F32, SHAPE_ROPE_ALL);
        t.places = graph_scratch(g, OP_CLONE, ROLE_ROTARY, PART_MASK, DT_I64, SHAPE_ROPE);
    }
    struct value wide = graph_make(g, OP_INDEX, ROLE_ROTARY, PART_SCALED, DT_F32, SHAPE_ROPE);
    g->cos = graph_to(g, wide, copies ? p->k.dtype : DT_F32, PART_SELF);
    g->sin = graph_copy(g, g->cos);
    graph_drop(g, wide);
    layer_rotary_apart(g, &p->q, &p->k, t.parts);
    return t;
}

static void shares_turned(struct graph *g, const struct turning *t)
{
    for (unsigned i = 0; i < 4; i++)
        graph_drop(g, t->parts[i]);
    tape_unref(g->t, t->all);
    tape_unref(g->t, t->places);
    graph_drop(g, g->cos);
    graph_drop(g, g->sin);
    g->cos = g->sin = graph_none();
}

static struct value shares_project_back(struct graph *g, struct value y)
{
    struct value view = shares_view(g, y), flat = layer_copy(g, view);
    graph_drop(g, view);
    struct value out = layer_linear(g, flat, P_O, SHAPE_U);
    graph_drop(g, flat);
    struct value dropped = layer_dropout(g, out, ROLE_ATTN_DROP);
    graph_drop(g, out);
    return dropped;
}

static struct value shares_attention(struct graph *g, struct value x, struct value *shares)
{
    struct parts p = shares_project(g, x);
    struct value scores = graph_none();
    bool rotates = g->m->features & HAS_PART_ROTARY;
    struct turning turning = {{graph_none()}, TAPE_NONE, TAPE_NONE};
    if (rotates)
        turning = shares_turn(g, &p);
    p.q = shares_view(g, p.q);
    p.k = shares_view(g, p.k);
    p.v = shares_view(g, p.v);
    shares_cache(g, &p);
    struct value y =
        is(g, FAMILY_MPT) ? shares_biased(g, &p, shares, &scores) : shares_wide(g, &p, shares);
    struct value out = shares_project_back(g, y);
    graph_drop(g, scores);
    graph_drop(g, p.q);
    graph_drop(g, p.k);
    graph_drop(g, p.v);
    graph_drop(g, p.whole);
    if (rotates)
        shares_turned(g, &turning);
    return out;
}

static struct value shares_mlp(struct graph *g, struct value x)
{
    struct value wide = layer_linear(g, x, P_UP, SHAPE_FF);
    struct value active = is(g, FAMILY_MPT) ? layer_gelu(g, wide) : layer_gelu_new(g, wide);
    graph_drop(g, wide);
    struct value narrow = layer_linear(g, active, P_DOWN, SHAPE_U);
    graph_drop(g, active);
    struct value out = layer_dropout(g, narrow, ROLE_MLP_DROP);
    graph_drop(g, narrow);
    return out;
}

// One norm for both branches, whose sum meets the stream.
static struct value shares_parallel(struct graph *g, struct value x, struct value *shares)
{
    struct value normed = layer_norm(g, x, false, P_LN1);
    struct value attention = shares_attention(g, normed, shares), fed = shares_mlp(g, normed);
    struct value both = layer_add(g, attention, fed, ROLE_RESID1);
    struct value out = layer_add(g, both, x, ROLE_RESID2);
    graph_drop(g, both);
    graph_drop(g, fed);
    graph_drop(g, attention);
    graph_drop(g, normed);
    return out;
}

static struct value shares_serial(struct graph *g, struct value x, struct value *shares)
{
    struct value first = layer_norm(g, x, false, P_LN1);
    struct value attention = shares_attention(g, first, shares);
    struct value middle = layer_add(g, attention, x, ROLE_RESID1);
    bool held = is(g, FAMILY_MPT);  // the next norm takes the name
    if (!held)
        graph_drop(g, first);
    struct value second = layer_norm(g, middle, false, P_LN2);
    if (held)
        graph_drop(g, first);
    struct value fed = shares_mlp(g, second), out = layer_add(g, middle, fed, ROLE_RESID2);
    graph_drop(g, fed);
    graph_drop(g, second);
    graph_drop(g, middle);
    graph_drop(g, attention);
    return out;
}

struct value block_shares(struct graph *g, struct value x)
{
    struct value shares;
    struct value out = g->m->features & HAS_SHARED_NORM ? shares_parallel(g, x, &shares)
                                                        : shares_serial(g, x, &shares);
    graph_drop(g, g->shares);
    g->shares = shares;
    return out;
}
#endif
