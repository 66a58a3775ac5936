// Owns products with quantized weights: expanded for each product, in backward once more.
// SRC: bitsandbytes autograd/_functions.py (MatMul4Bit, MatMul8bitLt), nn/modules.py
// (Linear4bit.forward), functional.py; gptqmodel nn_modules/triton_utils/dequant.py
// (QuantLinearFunction); AutoAWQ awq/modules/linear/gemm.py; transformers
// integrations/finegrained_fp8.py.

#include "calc/trace/quantized.h"

#include "calc/model/precision.h"
#include "calc/model/quantization.h"
#include "calc/trace/layers.h"

bool quantized_is(const struct graph *g, uint16_t weight)
{
    const struct layout_param *p = layout_find(&g->layout, true, weight);
    return p && quantization_of(g->m, p, true);
}

bool quantized_is_head(const struct graph *g)
{
    const struct layout_param *p = layout_find(&g->layout, false, P_HEAD);
    return p && quantization_of(g->m, p, false);
}

#ifndef VRAM_SMALL
bool quantized_is_outside(const struct graph *g, uint16_t weight)
{
    const struct layout_param *p = layout_find(&g->layout, false, weight);
    return weight != P_HEAD && p && quantization_of(g->m, p, false);
}
#endif

bool quantized_by_bitsandbytes(const struct graph *g, uint16_t weight)
{
    return quantized_is(g, weight) && quantization_is_bitsandbytes(g->m->c.quantization);
}

bool quantized_copies(const struct graph *g)
{
    return quantization_is_4bit(g->m->c.quantization);
}

shape_id quantized_scales(shape_id weight_shape)
{
#ifndef VRAM_SMALL
    if (weight_shape == SHAPE_W_G_Q || weight_shape == SHAPE_W_G_KV)
        return weight_shape == SHAPE_W_G_Q ? SHAPE_S_G_Q : SHAPE_S_G_KV;
    if (weight_shape == SHAPE_W_LAYER_INPUT || weight_shape == SHAPE_W_LAYER_PROJECT)
        return weight_shape == SHAPE_W_LAYER_INPUT ? SHAPE_S_LAYER_INPUT : SHAPE_S_LAYER_PROJECT;
    if (weight_shape == SHAPE_W_FF2)
        return SHAPE_S_FF2;
#endif
    return weight_shape == SHAPE_W_WTE   ? SHAPE_S_WTE
           : weight_shape == SHAPE_W_FF  ? SHAPE_S_FF
           : weight_shape == SHAPE_W_KV  ? SHAPE_S_KV
           : weight_shape == SHAPE_W_QKV ? SHAPE_S_QKV
                                         : SHAPE_S_Q;
}

// bitsandbytes' four bits as an operator of its own: in two bytes, whatever comes in.
static bool quantized_operator(const struct graph *g)
{
    return graph_has(g, TRAIT_GEMM_4BIT) && quantization_is_4bit(g->m->c.quantization);
}

// The scales in float32 and the weight in two bytes.
struct expanded {
    uint32_t scales[2], weight;
};

// Scales that are quantized themselves are expanded first; gemm_4bit adds their mean in a copy and
// holds both to its end.
static struct expanded quantized_expand(struct graph *g, uint8_t role, shape_id shape, bool held)
{
    struct expanded e = {{TAPE_NONE, TAPE_NONE}, TAPE_NONE};
    unsigned copies = g->m->c.quantization != QUANTIZATION_NF4_DOUBLE ? 0 : held ? 2 : 1;
    for (unsigned i = 0; i < copies; i++)
        e.scales[i] = graph_scratch(g, i ? OP_ADD : OP_DEQUANTIZE, role, PART_SCALES, DT_F32,
                                    quantized_scales(shape));
    e.weight = graph_scratch(g, OP_DEQUANTIZE, role, PART_DEQUANTIZED, DT_LOW, shape);
    if (graph_has(g, TRAIT_HALF_4BIT) && quantization_is_4bit(g->m->c.quantization)) {
        uint32_t copy = graph_scratch(g, OP_TO_COPY, role, PART_DEQUANTIZED, DT_LOW, shape);
        tape_unref(g->t, e.weight);
        e.weight = copy;
    }
    for (unsigned i = 0; i < 2 && !held; i++) {
        tape_unref(g->t, e.scales[i]);
        e.scales[i] = TAPE_NONE;
    }
    return e;
}

static void quantized_release(struct graph *g, struct expanded e)
{
    tape_unref(g->t, e.scales[1]);
    tape_unref(g->t, e.scales[0]);
    tape_unref(g->t, e.weight);
}

// Of experts' matrices one is expanded at a time.
static shape_id quantized_shape(shape_id weight_shape)
{
    return weight_shape == SHAPE_W_EXPERTS ? SHAPE_W_EXPERT : weight_shape;
}

// What a product holds beside its result.
struct product {
    struct expanded e;  // its weight in the input's format
    uint32_t low;       // the weight in two bytes, where autocast takes it back
    struct value in;
};

// Linear4bit: the weight goes to the input's format. Autocast brings a float32 pair of them back to
// two bytes.
static struct product quantized_open(struct graph *g, struct value x, uint8_t role, shape_id shape)
{
    struct product p = {quantized_expand(g, role, shape, quantized_operator(g)), TAPE_NONE,
                        graph_none()};
    if (x.dtype != DT_F32 || quantized_operator(g)) {
        p.in = graph_copy(g, x);
        return p;
    }
    uint32_t wide = graph_scratch(g, OP_TO_COPY, role, PART_DEQUANTIZED, DT_F32, shape);
    tape_unref(g->t, p.e.weight);
    p.e.weight = wide;
    if (!g->autocast) {
        p.in = graph_copy(g, x);
        return p;
    }
    p.low = graph_scratch(g, OP_TO_COPY, role, PART_DEQUANTIZED, g->compute, shape);
    p.in = graph_make(g, OP_TO_COPY, role, PART_INPUT_CAST, g->compute, x.shape);
    return p;
}

static bool quantized_keeps_input(const struct graph *g)
{
    bool kept = graph_has(g, TRAIT_INPUT_KEPT_4BIT) || graph_has(g, TRAIT_INPUT_KEPT_4BIT_LITGPT);
    return kept && quantization_is_4bit(g->m->c.quantization);
}

// The input is a plain attribute of the function's node: it goes with the graph, and that of a
// checkpointed block's second run is there until its backward has returned.
static bool quantized_input_outlives(const struct graph *g)
{
    if (MODEL_IS_WHOLE && graph_has(g, TRAIT_INPUT_KEPT_4BIT))
        return g->recompute && g->m->c.use_reentrant;
    return graph_has(g, TRAIT_INPUT_OUTLIVES_BACKWARD) && !g->m->c.checkpointing;
}

void quantized_head_once(struct graph *g)
{
    if (quantized_is_head(g))
        quantized_release(g, quantized_expand(g, ROLE_HEAD, SHAPE_W_WTE, false));
}

// SRC: peft utils/integrations.py, dequantize_bnb_weight; bitsandbytes functional.py
// (dequantize_4bit), backends/default/ops.py (int8_vectorwise_dequant: two products in float32).
struct value quantized_whole(struct graph *g, uint16_t weight)
{
    struct value w = graph_param(g, false, weight);
    struct value whole = {TAPE_NONE, GRAPH_NO_NODE, 0, DT_LOW, w.shape, w.role};
    if (quantization_is_4bit(g->m->c.quantization)) {
        whole.storage = quantized_expand(g, w.role, w.shape, false).weight;
    } else {
        whole.dtype = DT_F32;
        uint32_t first = graph_scratch(g, OP_DEQUANTIZE, w.role, PART_DEQUANTIZED, DT_F32, w.shape);
        whole.storage = graph_scratch(g, OP_MUL, w.role, PART_DEQUANTIZED, DT_F32, w.shape);
        tape_unref(g->t, first);
    }
    graph_drop(g, w);
    return whole;
}

#ifndef VRAM_SMALL
// LLM.int8: the input's rows in one byte, of which those beyond a threshold are looked for,
// products in int32, and what float16 makes of them in the input's format; Python's names last to
// the function's end. Before 0.45 the columns are quantized, too, and kept with the graph; the rows
// are laid out once more, and what is returned is a copy; the first product lays out the weight,
// whose rows go when the layer returns. SRC: bitsandbytes 0.48 and 0.43 autograd/_functions.py
// (MatMul8bitLt.forward), backends/cuda/ops.py (int8_vectorwise_quant, int8_mm_dequant),
// backends/default/ops.py (int8_scaled_mm); functional.py (double_quant); nn/modules.py
// (Linear8bitLt.forward).
static struct value quantized_by_integers(struct graph *g, struct value x, struct value w,
                                          shape_id out_shape, struct value *columns)
{
    bool old = graph_has(g, TRAIT_INT8_COLUMNS);
    bool half = x.dtype == DT_LOW && precision_is_float16(&g->m->c);
    uint8_t role = w.role;
    uint32_t turned = old && !g->training ? graph_scratch(g, OP_CLONE, role, PART_COPY, DT_BYTE,
                                                          quantized_shape(w.shape))
                                          : TAPE_NONE;
    uint32_t cast =
        half ? TAPE_NONE : graph_scratch(g, OP_TO_COPY, role, PART_INPUT_CAST, DT_LOW, x.shape);
    uint32_t rows = graph_scratch(g, OP_QUANTIZE, role, PART_INPUT, DT_BYTE, x.shape);
    if (old) {
        *columns = graph_make(g, OP_QUANTIZE, role, PART_INPUT, DT_BYTE, x.shape);
    } else {
        uint32_t size = graph_scratch(g, OP_ABS, role, PART_INPUT, DT_LOW, x.shape);
        tape_unref(g->t, graph_scratch(g, OP_GT, role, PART_INPUT, DT_BYTE, x.shape));
        tape_unref(g->t, size);
    }
    tape_unref(g->t, cast);
    uint32_t laid =
        old ? graph_scratch(g, OP_CLONE, role, PART_INPUT, DT_BYTE, x.shape) : TAPE_NONE;
    uint32_t products = graph_scratch(g, OP_MM, role, PART_UPCAST, DT_F32, out_shape);
    uint32_t low =
        half ? TAPE_NONE : graph_scratch(g, OP_DEQUANTIZE, role, PART_SCALED, DT_LOW, out_shape);
    struct value out = graph_make(g, OP_DEQUANTIZE, role, PART_OUTPUT, x.dtype, out_shape);
    tape_unref(g->t, low);
    if (old) {
        struct value copy = graph_make(g, OP_CLONE, role, PART_OUTPUT, x.dtype, out_shape);
        graph_drop(g, out);
        out = copy;
    }
    tape_unref(g->t, products);
    tape_unref(g->t, laid);
    tape_unref(g->t, rows);
    tape_unref(g->t, turned);
    return out;
}

// The input is an attribute of the function's node, as are the columns.
static struct value quantized_integers(struct graph *g, struct value x, struct value w,
                                       shape_id out_shape)
{
    struct value own = graph_copy(g, x), columns = graph_none();
    struct value out = quantized_by_integers(g, own, w, out_shape, &columns);
    if (graph_needs(g, own)) {
        int32_t n = graph_node(g, NODE_QUANTIZED, &out, quantized_shape(w.shape));
        graph_save(g, n, own.storage);
        if (columns.storage != TAPE_NONE)
            graph_save(g, n, columns.storage);
        graph_edge(g, n, own);
    }
    graph_drop(g, columns);
    graph_drop(g, w);
    graph_drop(g, own);
    return out;
}
#endif

// A function of its own to autograd: nothing is saved but the stored weight.
struct value quantized_linear(struct graph *g, struct value x, bool global, uint16_t weight,
                              shape_id out_shape)
{
    struct value w = graph_param(g, global, weight);
#ifndef VRAM_SMALL
    if (g->m->c.quantization == QUANTIZATION_INT8)
        return quantized_integers(g, x, w, out_shape);
#endif
    struct value own =
        graph_to(g, x, quantized_operator(g) ? g->compute : x.dtype, PART_INPUT_CAST);
    struct product p = quantized_open(g, own, w.role, quantized_shape(w.shape));
    struct value out = graph_make(g, OP_MM, w.role, PART_OUTPUT, p.in.dtype, out_shape);
    if (graph_needs(g, own)) {
        int32_t n = graph_node(g, NODE_QUANTIZED, &out, quantized_shape(w.shape));
        if (quantized_keeps_input(g)) {
            graph_save(g, n, own.storage);
            if (quantized_input_outlives(g))
                graph_outlive(g, global, weight, own.storage);
        }
        graph_edge(g, n, own);
    }
    graph_drop(g, p.in);
    tape_unref(g->t, p.low);
    quantized_release(g, p.e);
    graph_drop(g, w);
    graph_drop(g, own);
    struct value fit = graph_to(g, out, x.dtype, PART_OUTPUT_CAST);
    graph_drop(g, out);
    return fit;
}

// The weight is expanded once more, in the format of the gradient, for the gradient of the input.
void node_quantized(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edge_count == 0 || n->edges[0].to == GRAPH_NO_NODE)
        return;
    bool wide_at_once =
        MODEL_IS_WHOLE && n->dtype == DT_F32 && g->m->c.quantization == QUANTIZATION_INT8;
    struct expanded e = {{TAPE_NONE, TAPE_NONE}, TAPE_NONE};
    if (!wide_at_once)
        e = quantized_expand(g, n->role, n->extra, false);
    if (n->dtype == DT_F32) {
        uint32_t wide = graph_scratch(g, OP_TO_COPY, n->role, PART_DEQUANTIZED, DT_F32, n->extra);
        tape_unref(g->t, e.weight);
        e.weight = wide;
    }
    results[0] = graph_scratch(g, OP_MM, n->edges[0].role, PART_GRAD, n->dtype, n->edges[0].shape);
    quantized_release(g, e);
}
