// Owns the forward side of the layers that the llama families add: RMSNorm by single operations,
// gates, repeated keys and values, soft caps.
// SRC: transformers src/transformers/models/llama/modeling_llama.py (LlamaRMSNorm,
// LlamaMLP), integrations/sdpa_attention.py (repeat_kv), models/gemma2/modeling_gemma2.py (soft
// caps).

#include "calc/trace/layers_llama.h"

#include "calc/model/framework.h"
#include "calc/trace/layers_fused.h"

struct value layer_unary(struct graph *g, struct value x, enum op op, enum node_kind kind,
                         uint8_t role, uint8_t part, shape_id shape, enum saves saves)
{
    struct value out = graph_make(g, op, role, part, x.dtype, shape);
    if (!graph_needs(g, x))
        return out;
    int32_t n = graph_node(g, kind, &out, x.shape);
    if (saves != SAVES_NOTHING)
        graph_save(g, n, saves == SAVES_INPUT ? x.storage : out.storage);
    graph_edge(g, n, x);
    return out;
}

// x[rows]
struct value layer_rows(struct graph *g, struct value x, uint32_t rows, uint8_t part,
                        shape_id shape)
{
    struct value out = graph_make(g, OP_INDEX, x.role, part, x.dtype, shape);
    graph_follow_saving(g, NODE_ROUTE, &out, x, rows);
    return out;
}

// Autocast has sums in float32; their gradient is then cast as it is expanded. SRC: pytorch
// aten/src/ATen/autocast_mode.h, AT_FORALL_FP32_SET_OPT_DTYPE.
struct value layer_rows_sum(struct graph *g, struct value x, enum node_kind kind, shape_id shape)
{
    struct value out =
        graph_make(g, OP_SUM, ROLE_EXPERTS, PART_OUTPUT, g->autocast ? DT_F32 : x.dtype, shape);
    graph_follow(g, g->autocast ? NODE_SUM : kind, &out, x);
    return out;
}

// x * rsqrt(x.pow(2).mean(-1) + eps) in float32; *variance stays a variable of the caller until it
// returns.
static struct value rms_normalize(struct graph *g, struct value x, shape_id stats,
                                  struct value *variance)
{
    struct value square =
        layer_unary(g, x, OP_POW, NODE_POW, x.role, PART_SQUARE, x.shape, SAVES_INPUT);
    *variance = layer_unary(g, square, OP_MEAN, NODE_MEAN, x.role, PART_MEAN, stats, SAVES_NOTHING);
    graph_drop(g, square);
    struct value moved =
        layer_unary(g, *variance, OP_ADD, NODE_PASS, x.role, PART_MEAN, stats, SAVES_NOTHING);
    struct value factor =
        layer_unary(g, moved, OP_RSQRT, NODE_RSQRT, x.role, PART_RSTD, stats, SAVES_RESULT);
    graph_drop(g, moved);
    struct value hat = layer_mul(g, x, factor, x.role, PART_NORMALIZED);
    graph_drop(g, factor);
    return hat;
}

// (weight.float() + 1) times the normalized input, both in float32; LitGPT's weight is as it is.
static struct value gemma_scale(struct graph *g, struct value hat, struct value w)
{
    struct value wide = graph_to(g, w, DT_F32, PART_UPCAST);
    struct value plus =
        graph_has(g, TRAIT_NORM_WEIGHT_IN_FLOAT32)
            ? graph_copy(g, wide)
            : layer_unary(g, wide, OP_ADD, NODE_PASS, w.role, PART_SCALED, w.shape, SAVES_NOTHING);
    graph_drop(g, wide);
    struct value out = layer_mul(g, hat, plus, w.role, PART_SCALED);
    graph_drop(g, plus);
    return out;
}

// weight * x
static struct value rms_weighted(struct graph *g, struct value w, struct value x)
{
    uint8_t dtype = w.dtype == DT_F32 ? DT_F32 : x.dtype;
    struct value out = graph_make(g, OP_MUL, w.role, PART_OUTPUT, dtype, x.shape);
    graph_follow_product(g, NODE_MUL, &out, w, x);
    return out;
}

// weight.float() * x. SRC: transformers models/helium/modeling_helium.py, HeliumRMSNorm.forward.
static struct value rms_weighted_wide(struct graph *g, struct value w, struct value x)
{
    struct value wide = graph_to(g, w, DT_F32, PART_UPCAST);
    struct value out = rms_weighted(g, wide, x);
    graph_drop(g, wide);
    return out;
}

static bool norm_casts_late(const struct graph *g)
{
    bool olmo = g->m->features & HAS_WIDE_NORM;
    if (g->m->features & HAS_WIDE_WEIGHT)
        return true;
    return (g->m->features & HAS_WIDE_SCALE) && !framework_goes(&g->m->c, BY_WIDE_SCALE) &&
           (!olmo || graph_has(g, TRAIT_LATE_CAST));
}

#ifndef VRAM_SMALL
// x * pow(x.pow(2).mean(-1) + eps, -0.5); the mean stays a variable to the end.
static struct value norm_powered(struct graph *g, struct value x, shape_id stats)
{
    struct value square =
        layer_unary(g, x, OP_POW, NODE_POW, x.role, PART_SQUARE, x.shape, SAVES_INPUT);
    struct value mean =
        layer_unary(g, square, OP_MEAN, NODE_MEAN, x.role, PART_MEAN, stats, SAVES_NOTHING);
    graph_drop(g, square);
    struct value moved =
        layer_unary(g, mean, OP_ADD, NODE_PASS, x.role, PART_MEAN, stats, SAVES_NOTHING);
    graph_drop(g, mean);
    struct value factor =
        layer_unary(g, moved, OP_POW, NODE_POW, x.role, PART_RSTD, stats, SAVES_INPUT);
    struct value hat = layer_mul(g, x, factor, x.role, PART_NORMALIZED);
    graph_drop(g, factor);
    graph_drop(g, moved);
    return hat;
}

// SRC: transformers models/gemma4/modeling_gemma4.py, Gemma4RMSNorm.
struct value layer_powered_norm(struct graph *g, struct value x, struct value w, shape_id stats)
{
    bool weighted = w.storage != TAPE_NONE;
    struct value named = x;
    named.role = weighted ? w.role : x.role;
    struct value wide = graph_to(g, named, DT_F32, PART_UPCAST);
    struct value hat = norm_powered(g, wide, stats);
    graph_drop(g, wide);
    if (weighted) {
        struct value by = graph_to(g, w, DT_F32, PART_UPCAST);
        struct value scaled = layer_mul(g, hat, by, w.role, PART_SCALED);
        graph_drop(g, by);
        graph_drop(g, hat);
        graph_drop(g, w);
        hat = scaled;
    }
    struct value out = graph_to(g, hat, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, hat);
    return out;
}
#endif

// Llama goes back to the input's format before the weight, Gemma and LitGPT after it.
// SRC: litgpt/model.py, RMSNorm.forward.
struct value layer_rms_norm(struct graph *g, struct value x, bool global, uint16_t weight,
                            shape_id stats)
{
#ifndef VRAM_SMALL
    if (g->m->features & HAS_GLOBAL_HEADS)
        return layer_powered_norm(g, x, graph_param(g, global, weight), stats);
#endif
    if (g->m->c.kernels || graph_has(g, TRAIT_FUSED_RMS_NORM))
        return fused_norm(g, x, global, weight, stats);
    bool gemma = (g->m->features & HAS_GEMMA_NORM) || graph_has(g, TRAIT_NORM_WEIGHT_IN_FLOAT32);
    struct value w = graph_param(g, global, weight), named = x, variance;
    named.role = w.role;
    struct value wide = graph_to(g, named, DT_F32, PART_UPCAST);
    struct value hat = rms_normalize(g, wide, stats, &variance);
    graph_drop(g, wide);
    struct value scaled = gemma ? gemma_scale(g, hat, w) : graph_none();
    bool late = norm_casts_late(g);
    if (g->m->features & HAS_WIDE_WEIGHT)
        scaled = rms_weighted_wide(g, w, hat);
    else if (late)
        scaled = rms_weighted(g, w, hat);
    struct value low = graph_to(g, gemma || late ? scaled : hat, x.dtype, PART_OUTPUT_CAST);
    struct value out = gemma || late ? graph_copy(g, low) : rms_weighted(g, w, low);
    graph_drop(g, low);
    graph_drop(g, scaled);
    graph_drop(g, hat);
    graph_drop(g, variance);
    graph_drop(g, w);
    return out;
}

#ifndef VRAM_SMALL
// x.float() * rsqrt(mean of squares) as it was. SRC: transformers
// models/llama4/modeling_llama4.py, Llama4TextL2Norm.
struct value layer_l2_norm(struct graph *g, struct value x, shape_id stats)
{
    struct value variance, wide = graph_to(g, x, DT_F32, PART_UPCAST);
    struct value hat = rms_normalize(g, wide, stats, &variance);
    graph_drop(g, variance);
    graph_drop(g, wide);
    struct value out = graph_to(g, hat, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, hat);
    return out;
}

// x less its mean of a row.
static struct value norm_centered(struct graph *g, struct value x, struct value mean)
{
    struct value out = graph_make(g, OP_SUB, x.role, PART_SCALED, x.dtype, x.shape);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_SUB, &out, 0);
        graph_edge(g, n, x);
        graph_edge(g, n, mean);
    }
    return out;
}

static struct value norm_mean(struct graph *g, struct value x, shape_id stats)
{
    return layer_unary(g, x, OP_MEAN, NODE_MEAN, x.role, PART_MEAN, stats, SAVES_NOTHING);
}

// (x - mean).pow(2).mean(-1)
static struct value norm_variance(struct graph *g, struct value x, struct value mean,
                                  shape_id stats)
{
    struct value off = norm_centered(g, x, mean);
    struct value square =
        layer_unary(g, off, OP_POW, NODE_POW, x.role, PART_SQUARE, x.shape, SAVES_INPUT);
    graph_drop(g, off);
    struct value variance = norm_mean(g, square, stats);
    graph_drop(g, square);
    return variance;
}

// (x - mean) * rsqrt(variance + eps)
static struct value norm_hat(struct graph *g, struct value x, struct value mean,
                             struct value variance)
{
    struct value off = norm_centered(g, x, mean);
    struct value moved = layer_unary(g, variance, OP_ADD, NODE_PASS, x.role, PART_MEAN,
                                     variance.shape, SAVES_NOTHING);
    struct value factor = layer_unary(g, moved, OP_RSQRT, NODE_RSQRT, x.role, PART_RSTD,
                                      variance.shape, SAVES_RESULT);
    graph_drop(g, moved);
    struct value hat = layer_mul(g, off, factor, x.role, PART_NORMALIZED);
    graph_drop(g, factor);
    graph_drop(g, off);
    return hat;
}

// In float32 to its end; mean and variance stay variables. SRC: transformers
// models/cohere/modeling_cohere.py, CohereLayerNorm.forward.
struct value layer_centered_norm(struct graph *g, struct value x, bool global, uint16_t weight,
                                 shape_id stats)
{
    struct value w = graph_param(g, global, weight), named = x;
    named.role = w.role;
    struct value wide = graph_to(g, named, DT_F32, PART_UPCAST), mean = norm_mean(g, wide, stats);
    struct value variance = norm_variance(g, wide, mean, stats);
    struct value hat = norm_hat(g, wide, mean, variance);
    graph_drop(g, wide);
    struct value scaled = rms_weighted_wide(g, w, hat);
    graph_drop(g, hat);
    struct value out = graph_to(g, scaled, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, scaled);
    graph_drop(g, mean);
    graph_drop(g, variance);
    graph_drop(g, w);
    return out;
}
#endif

struct value layer_activation(struct graph *g, struct value x, bool gelu)
{
    return layer_unary(g, x, gelu ? OP_GELU : OP_SILU, gelu ? NODE_GELU : NODE_SILU, ROLE_ACT,
                       PART_OUTPUT, x.shape, SAVES_INPUT);
}

#ifndef VRAM_SMALL
// x.clamp_(...), for whose gradient a copy of x as it was is kept. Uses x up. SRC: transformers
// models/olmo/modeling_olmo.py, OlmoAttention.forward; pytorch tools/autograd/derivatives.yaml.
struct value layer_clipped(struct graph *g, struct value x)
{
    struct value out = x;
    if (graph_needs(g, x)) {
        uint32_t before = graph_scratch(g, OP_CLONE, x.role, PART_COPY, x.dtype, x.shape);
        int32_t n = graph_node(g, NODE_CLAMP, &out, 2);  // two comparisons
        graph_save(g, n, before);
        graph_edge(g, n, x);
        tape_unref(g->t, before);
    }
    return out;
}

// square(relu(x)), which autocast has in float32. SRC: transformers
// src/transformers/activations.py, ReLUSquaredActivation.
struct value layer_squared_relu(struct graph *g, struct value x)
{
    struct value positive =
        layer_unary(g, x, OP_RELU, NODE_RELU, ROLE_ACT, PART_SCALED, x.shape, SAVES_RESULT);
    struct value wide =
        g->autocast ? graph_to(g, positive, DT_F32, PART_UPCAST) : graph_copy(g, positive);
    struct value out =
        layer_unary(g, wide, OP_POW, NODE_POW, ROLE_ACT, PART_OUTPUT, x.shape, SAVES_INPUT);
    graph_drop(g, wide);
    graph_drop(g, positive);
    return out;
}
#endif

// NewGELUActivation: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))), one operation
// after the other. SRC: transformers src/transformers/activations.py.
struct value layer_gelu_new(struct graph *g, struct value x)
{
    struct value half = layer_scale(g, x, ROLE_ACT);
    struct value wide =
        g->autocast ? graph_to(g, x, DT_F32, PART_UPCAST) : graph_copy(g, x);  // pow is float32's
    struct value cube =
        layer_unary(g, wide, OP_POW, NODE_POW, ROLE_ACT, PART_SQUARE, x.shape, SAVES_INPUT);
    graph_drop(g, wide);
    struct value small = layer_scale(g, cube, ROLE_ACT);
    graph_drop(g, cube);
    struct value sum = layer_add(g, x, small, ROLE_ACT);
    graph_drop(g, small);
    struct value angle = layer_scale(g, sum, ROLE_ACT);
    graph_drop(g, sum);
    struct value bent =
        layer_unary(g, angle, OP_TANH, NODE_TANH, ROLE_ACT, PART_SCALED, x.shape, SAVES_RESULT);
    graph_drop(g, angle);
    struct value up =
        layer_unary(g, bent, OP_ADD, NODE_PASS, ROLE_ACT, PART_SCALED, x.shape, SAVES_NOTHING);
    graph_drop(g, bent);
    struct value out = layer_mul(g, half, up, ROLE_ACT, PART_OUTPUT);
    graph_drop(g, up);
    graph_drop(g, half);
    return out;
}

// expand and reshape: a copy for every head.
struct value layer_repeat(struct graph *g, struct value x, shape_id shape)
{
    return layer_unary(g, x, OP_CLONE, NODE_REPEAT, x.role, PART_COPY, shape, SAVES_NOTHING);
}

// tanh(x / cap) * cap. Uses x up.
struct value layer_soft_cap(struct graph *g, struct value x)
{
    struct value small =
        layer_unary(g, x, OP_DIV, NODE_DIV, x.role, PART_SCALED, x.shape, SAVES_NOTHING);
    graph_drop(g, x);
    struct value bent =
        layer_unary(g, small, OP_TANH, NODE_TANH, x.role, PART_SCALED, x.shape, SAVES_RESULT);
    graph_drop(g, small);
    struct value out = layer_scale(g, bent, x.role);
    graph_drop(g, bent);
    return out;
}

// x divided by a Python number.
struct value layer_divide(struct graph *g, struct value x)
{
    return layer_unary(g, x, OP_DIV, NODE_DIV, x.role, PART_SCALED, x.shape, SAVES_NOTHING);
}

// x times a Python number.
struct value layer_scale(struct graph *g, struct value x, uint8_t role)
{
    return layer_unary(g, x, OP_MUL, NODE_SCALE, role, PART_SCALED, x.shape, SAVES_NOTHING);
}
