// Owns what layers of Qwen3.5 and Qwen3-Next have around their gated delta rule: projections, a
// convolution, decays, a gated norm; and the gate of the other layers' attention. SRC: transformers
// 5.23 src/transformers/models/{qwen3_5,qwen3_next}/modeling_*.py (GatedDeltaNet.forward,
// causal_conv1d_fn, RMSNormGated, Attention.forward); traces qwen3_5_* and qwen3_next_* of
// tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/trace/block_delta.h"

#include "calc/trace/layers.h"
#include "calc/trace/layers_delta.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

// silu(conv1d(x)[:, :, :seq]), whose weight is seen without its middle dimension.
static struct value delta_convolved(struct graph *g, struct value x)
{
    struct value w = graph_param(g, false, P_DELTA_CONV),
                 by = graph_weight_cast(g, false, P_DELTA_CONV, w);
    uint32_t flat = graph_scratch(g, OP_CLONE, ROLE_DELTA_CONV, PART_COPY, x.dtype, x.shape);
    struct value wide =
        graph_make(g, OP_CONV, ROLE_DELTA_CONV, PART_OUTPUT, x.dtype, SHAPE_DELTA_CONV);
    if (graph_needs(g, x) || graph_needs(g, by)) {
        int32_t n = graph_node(g, NODE_CONV, &wide, 0);
        graph_save(g, n, x.storage);
        graph_save(g, n, by.storage);
        graph_edge(g, n, x);
        graph_edge(g, n, by);
    }
    tape_unref(g->t, flat);
    struct value cut = delta_view(g, wide, NODE_SLICE, SHAPE_DELTA_QKV);
    struct value out = layer_unary(g, cut, OP_SILU, NODE_SILU, ROLE_DELTA_CONV, PART_SCALED,
                                   SHAPE_DELTA_QKV, SAVES_INPUT);
    graph_drop(g, cut);
    graph_drop(g, wide);
    graph_drop(g, by);
    graph_drop(g, w);
    return out;
}

// -exp(A_log.float()) * softplus(a.float() + dt_bias)
static struct value delta_decay(struct graph *g, struct value a)
{
    struct value log = graph_param(g, false, P_DELTA_LOG), bias = graph_param(g, false, P_DELTA_DT);
    struct value factor = graph_to(g, log, DT_F32, PART_UPCAST);
    factor = delta_then(g, factor, OP_EXP, NODE_EXP, SHAPE_DELTA_HEADS, SAVES_RESULT);
    factor = delta_then(g, factor, OP_NEG, NODE_NEG, SHAPE_DELTA_HEADS, SAVES_NOTHING);
    struct value wide = graph_to(g, a, DT_F32, PART_UPCAST),
                 moved = layer_add(g, wide, bias, ROLE_DELTA_DECAY);
    graph_drop(g, wide);
    struct value soft =
        delta_then(g, moved, OP_SOFTPLUS, NODE_SOFTPLUS, SHAPE_DELTA_H, SAVES_INPUT);
    struct value out = delta_mul(g, soft, factor);
    graph_drop(g, soft);
    graph_drop(g, factor);
    graph_drop(g, bias);
    graph_drop(g, log);
    return out;
}

// weight * normalized x in its format, times silu(z.float()); back in x's format. Uses x up.
static struct value delta_gated(struct graph *g, struct value x, struct value z)
{
    struct value w = graph_param(g, false, P_DELTA_NORM),
                 wide = graph_to(g, x, DT_F32, PART_UPCAST);
    struct value square = delta_unary(g, wide, OP_POW, NODE_POW, SHAPE_DELTA_V, SAVES_INPUT);
    struct value variance = delta_then(g, square, OP_MEAN, NODE_MEAN, SHAPE_DELTA_H, SAVES_NOTHING);
    struct value moved = delta_unary(g, variance, OP_ADD, NODE_PASS, SHAPE_DELTA_H, SAVES_NOTHING);
    struct value factor = delta_then(g, moved, OP_RSQRT, NODE_RSQRT, SHAPE_DELTA_H, SAVES_RESULT);
    struct value hat = delta_mul(g, wide, factor);
    graph_drop(g, factor);
    graph_drop(g, wide);
    struct value low = graph_to(g, hat, x.dtype, PART_OUTPUT_CAST);
    struct value weighted = delta_mul(g, low, w);
    graph_drop(g, low);
    graph_drop(g, hat);
    struct value gate = graph_to(g, z, DT_F32, PART_UPCAST);
    struct value open = delta_then(g, gate, OP_SILU, NODE_SILU, SHAPE_DELTA_V, SAVES_INPUT);
    struct value product = delta_mul(g, weighted, open);
    graph_drop(g, open);
    graph_drop(g, weighted);
    struct value out = graph_to(g, product, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, product);
    graph_drop(g, variance);
    graph_drop(g, w);
    graph_drop(g, x);
    return out;
}

// What comes out of the projections: what the convolution takes, the norm's gates, rates, decays,
// and in `held` what is a variable to the end.
struct delta_inputs {
    struct value mixed, z, b, a, held[2];
};

static struct delta_inputs delta_apart(struct graph *g, struct value x)
{
    struct delta_inputs d = {.held = {graph_none(), graph_none()}};
    d.mixed = layer_view(g, layer_linear(g, x, P_DELTA_QKV, SHAPE_DELTA_QKV), NODE_VIEW);
    d.z = layer_linear(g, x, P_DELTA_Z, SHAPE_DELTA_V);
    d.b = layer_view(g, layer_linear(g, x, P_DELTA_B, SHAPE_DELTA_H), NODE_VIEW);
    d.a = layer_view(g, layer_linear(g, x, P_DELTA_A, SHAPE_DELTA_H), NODE_VIEW);
    return d;
}

// A copy of a part that lies between others. Uses part up.
static struct value delta_reshaped(struct graph *g, struct value part)
{
    struct value out = layer_copy(g, part);
    graph_drop(g, part);
    return out;
}

static struct value delta_joined(struct graph *g, const struct value part[3])
{
    struct value out =
        graph_make(g, OP_CAT, ROLE_ATTN_QKV, PART_COPY, part[0].dtype, SHAPE_DELTA_QKV);
    if (graph_needs(g, part[0])) {
        int32_t n = graph_node(g, NODE_JOIN, &out, 0);
        for (unsigned i = 0; i < 3; i++)
            graph_edge(g, n, part[i]);
    }
    return out;
}

// Each key's head has its queries, values and gates side by side. SRC: Qwen3NextGatedDeltaNet
// (fix_query_key_value_ordering).
static struct delta_inputs delta_by_groups(struct graph *g, struct value x)
{
    static const shape_id shapes[4] = {SHAPE_DELTA_K, SHAPE_DELTA_K, SHAPE_DELTA_V, SHAPE_DELTA_V};
    struct delta_inputs d;
    struct value part[4], rate[2];
    d.held[0] = layer_linear(g, x, P_DELTA_QKV, SHAPE_DELTA_QKVZ);
    d.held[1] = layer_linear(g, x, P_DELTA_B, SHAPE_DELTA_BA);
    layer_split(g, d.held[0], 4, shapes, part);
    layer_split2(g, d.held[1], SHAPE_DELTA_H, rate);
    part[2] = delta_reshaped(g, part[2]);
    d.z = delta_reshaped(g, part[3]);
    d.b = delta_reshaped(g, rate[0]);
    d.a = delta_reshaped(g, rate[1]);
    for (unsigned i = 0; i < 2; i++)
        part[i] = delta_reshaped(g, part[i]);
    d.mixed = delta_joined(g, part);
    for (unsigned i = 0; i < 3; i++)
        graph_drop(g, part[i]);
    return d;
}

struct value layer_delta(struct graph *g, struct value x)
{
    static const shape_id shapes[3] = {SHAPE_DELTA_K, SHAPE_DELTA_K, SHAPE_DELTA_V};
    struct value part[3];
    struct delta_inputs d = model_joins_delta(g->m) ? delta_by_groups(g, x) : delta_apart(g, x);
    struct value short_range = delta_convolved(g, d.mixed);
    graph_drop(g, d.mixed);
    layer_split(g, short_range, 3, shapes, part);
    struct value beta = delta_unary(g, d.b, OP_SIGMOID, NODE_SIGMOID, SHAPE_DELTA_H, SAVES_RESULT);
    struct value decay = delta_decay(g, d.a);
    struct value ruled = delta_rule(g, part, beta, decay), core = delta_by_head(g, ruled);
    graph_drop(g, ruled);
    core = delta_gated(g, core, d.z);
    struct value out = layer_linear(g, core, P_DELTA_OUT, SHAPE_U);
    const struct value held[] = {core,    decay, beta, short_range, part[0],   part[1],
                                 part[2], d.a,   d.b,  d.z,         d.held[0], d.held[1]};
    for (unsigned i = 0; i < sizeof held / sizeof *held; i++)
        graph_drop(g, held[i]);
    return out;
}

// query, gate = chunk(q_proj(x), 2): the gate is a copy by token. SRC: Qwen3_5Attention.forward.
struct value layer_gated_queries(struct graph *g, struct value x, struct value *gate)
{
    struct value half[2], both = layer_linear(g, x, P_Q, SHAPE_Q_GATED);
    layer_split2(g, both, SHAPE_Q, half);
    graph_drop(g, both);
    *gate = layer_copy(g, half[1]);
    graph_drop(g, half[1]);
    return half[0];
}

struct value layer_opened(struct graph *g, struct value y, struct value gate)
{
    struct value open = layer_unary(g, gate, OP_SIGMOID, NODE_SIGMOID, ROLE_ATTENTION, PART_SCALED,
                                    SHAPE_Q, SAVES_RESULT);
    struct value out = layer_mul(g, y, open, ROLE_ATTENTION, PART_OUTPUT);
    graph_drop(g, open);
    graph_drop(g, y);
    return out;
}
#endif
