// Owns linear layers: matrix products on autocast's copies, with adapters and quantized weights
// where there are some. SRC: pytorch aten/src/ATen/autocast_mode.cpp (lists of operations),
// tools/autograd/derivatives.yaml (what is saved).

#include "calc/trace/linear.h"

#include "calc/trace/adapter.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/linear_float8.h"
#include "calc/trace/quantized.h"
#include "calc/trace/sequence.h"

// The result is logits, of all positions or of a chunk.
static bool linear_is_logits(shape_id shape)
{
#ifndef VRAM_SMALL
    if (shape == SHAPE_LINEAR_V || shape == SHAPE_LINEAR_LAST_V)
        return true;
#endif
    return shape == SHAPE_NV;
}

// mm(x, w') or addmm(b, x, w'), on the copies that autocast made.
static struct value layer_product(struct graph *g, struct value x, struct value w, struct value b,
                                  shape_id out_shape)
{
    bool biased = b.storage != TAPE_NONE;
    uint8_t role = linear_is_logits(out_shape) ? ROLE_LOGITS : w.role;
    struct value out =
        graph_make(g, biased ? OP_ADDMM : OP_MM, role,
                   role == ROLE_LOGITS ? PART_SELF : PART_OUTPUT, x.dtype, out_shape);
    if (!graph_needs(g, x) && !graph_needs(g, w) && !graph_needs(g, b))
        return out;
    int32_t n = graph_node(g, biased ? NODE_ADDMM : NODE_MM, &out, 0);
    graph_save(g, n, graph_needs(g, w) ? x.storage : TAPE_NONE);
    graph_save(g, n, graph_needs(g, x) ? w.storage : TAPE_NONE);
    graph_edge(g, n, x);
    graph_edge(g, n, w);
    if (biased)
        graph_edge(g, n, b);
    return out;
}

// With sequence_parallel a product works on the whole sequence: its input is gathered before, or
// its result divided after it. SRC: Megatron-LM megatron/core/tensor_parallel/layers.py,
// LinearWithGradAccumulationAndAsyncCommunication.
static uint32_t layer_whole(struct graph *g, const struct value *x, shape_id out_shape)
{
    if (!g->m->c.sequence_parallel || (x->shape == SHAPE_U) == (out_shape == SHAPE_U))
        return TAPE_NONE;
    if (graph_is_nanotron(g) && out_shape != SHAPE_U)
        return TAPE_NONE;  // gathered into a buffer that stays
    return graph_sent(g, out_shape == SHAPE_U ? OP_MM : OP_ALL_GATHER, x->role, x->dtype);
}

// Arguments are cast from right to left: bias, weight, input.
static struct value layer_affine(struct graph *g, struct value x, bool global, uint16_t weight,
                                 shape_id out_shape)
{
    uint16_t bias = (uint16_t)((out_shape == SHAPE_NV ? P_HEAD : weight) +
                               LAYOUT_BIAS);  // a tied weight has the head's
    struct value w = graph_param(g, global, weight);
    struct value b = graph_param(g, global, bias);
    struct value b_cast = graph_weight_cast(g, global, bias, b);
    struct value w_cast = graph_weight_cast(g, global, weight, w);
    struct value x_cast = graph_input_cast(g, x, w.role, PART_INPUT_CAST);
    uint32_t whole = layer_whole(g, &x_cast, out_shape);
    struct value out = layer_product(g, x_cast, w_cast, b_cast, out_shape);
    tape_unref(g->t, whole);
    if (whole != TAPE_NONE)
        graph_taken(g, out.storage);
    graph_drop(g, x_cast);
    graph_drop(g, w_cast);
    graph_drop(g, b_cast);
    graph_drop(g, w);
    graph_drop(g, b);
    return out;
}

// DTensor's row-parallel layers: the product of the whole sequence, then each GPU's part of it.
static struct value layer_scattered(struct graph *g, struct value x, uint16_t weight)
{
    struct value whole = layer_affine(g, x, false, weight, SHAPE_U_WHOLE);
    struct value out = sequence_scatter(g, whole);
    graph_drop(g, whole);
    return out;
}

static struct value layer_frozen(struct graph *g, struct value x, uint16_t weight,
                                 shape_id out_shape)
{
    if (MODEL_IS_WHOLE && out_shape == SHAPE_U && sequence_is_gathered(g))
        return layer_scattered(g, x, weight);
#ifndef VRAM_SMALL
    if (float8_is_eager(g))
        return float8_linear(g, x, weight, out_shape);
#endif
    return quantized_is(g, weight) ? quantized_linear(g, x, false, weight, out_shape)
                                   : layer_affine(g, x, false, weight, out_shape);
}

static bool layer_is_scaled(const struct graph *g, uint16_t weight)
{
    return g->m->c.adapter == ADAPTER_IA3 &&
           layout_find(&g->layout, true, (uint16_t)(weight + LAYOUT_VECTOR));
}

// IA3: a trained factor for each output, in the last projection of the feed-forward part for each
// input. SRC: peft src/peft/tuners/ia3/layer.py, Linear.forward.
static struct value layer_scaled(struct graph *g, struct value x, uint16_t weight,
                                 shape_id out_shape)
{
    bool inside = weight == P_DOWN;
    struct value vector = graph_param(g, false, (uint16_t)(weight + LAYOUT_VECTOR));
    struct value scale = adapter_scaling(g, vector, vector.role);
    struct value in =
        inside ? graph_to(g, x, vector.dtype, PART_UPCAST) : layer_frozen(g, x, weight, out_shape);
    struct value scaled = layer_mul(g, in, scale, in.role, PART_SCALED);
    struct value fit = graph_to(g, scaled, inside ? x.dtype : in.dtype, PART_OUTPUT_CAST);
    graph_drop(g, scaled);
    struct value out = inside ? layer_frozen(g, fit, weight, out_shape) : graph_copy(g, fit);
    graph_drop(g, fit);
    graph_drop(g, in);
    graph_drop(g, scale);
    graph_drop(g, vector);
    return out;
}

struct value layer_linear(struct graph *g, struct value x, uint16_t weight, shape_id out_shape)
{
    if (layer_is_scaled(g, weight))
        return layer_scaled(g, x, weight, out_shape);
    struct value out = layer_frozen(g, x, weight, out_shape);
    return lora_is_adapted(g, false, weight) ? lora_add(g, x, out, false, weight) : out;
}

struct value layer_transform(struct graph *g, struct value x)
{
    struct value out = layer_affine(g, x, true, P_TRANSFORM, SHAPE_U);
    return lora_is_adapted(g, true, P_TRANSFORM) ? lora_add(g, x, out, true, P_TRANSFORM) : out;
}

#ifndef VRAM_SMALL
struct value layer_project(struct graph *g, struct value x, uint16_t weight, shape_id shape)
{
    struct value out = quantized_is_outside(g, weight) ? quantized_linear(g, x, true, weight, shape)
                                                       : layer_affine(g, x, true, weight, shape);
    return lora_is_adapted(g, true, weight) ? lora_add(g, x, out, true, weight) : out;
}
#endif

uint16_t layer_head_weight(const struct graph *g)
{
    if (layout_find(&g->layout, false, P_HEAD_SAVED))
        return P_HEAD_SAVED;
    return g->m->c.tie_embeddings && g->m->first ? P_WTE : P_HEAD;
}

// The head's input is gathered, too.
static struct value layer_head_product(struct graph *g, struct value x)
{
    if (!MODEL_IS_WHOLE || !sequence_is_gathered(g))
        return layer_affine(g, x, true, layer_head_weight(g), SHAPE_NV);
    struct value whole = sequence_gather(g, x);
    struct value out = layer_affine(g, whole, true, layer_head_weight(g), SHAPE_NV);
    graph_drop(g, whole);
    return out;
}

#ifndef VRAM_SMALL
struct value layer_head_chunk(struct graph *g, struct value x, shape_id shape)
{
    return layer_affine(g, x, true, layer_head_weight(g), shape);
}

struct value layer_score(struct graph *g, struct value x)
{
    return layer_affine(g, x, true, P_HEAD, SHAPE_TOKENS);
}
#endif

struct value layer_head(struct graph *g, struct value x)
{
    struct value out = quantized_is_head(g) ? quantized_linear(g, x, true, P_HEAD, SHAPE_NV)
                                            : layer_head_product(g, x);
    return lora_is_adapted(g, true, P_HEAD) ? lora_add(g, x, out, true, P_HEAD) : out;
}
