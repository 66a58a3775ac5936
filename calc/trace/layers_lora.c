// Owns what low-rank adapters change in a linear layer: the way around the frozen weight, and weights that are stored
// quantized and expanded for each product.
// SRC: peft src/peft/tuners/lora/layer.py, Linear.forward; bitsandbytes autograd/_functions.py, MatMul4Bit.

#include "calc/trace/layers_lora.h"

#include "calc/trace/layers.h"

static struct value lora_dropout(struct graph *g, struct value x)
{
    if (g->m->c.lora_dropout == 0 || !g->training)
        return graph_copy(g, x);
    struct value out = graph_make(g, OP_DROPOUT, x.role, PART_COPY, x.dtype, x.shape);
    uint32_t mask = graph_scratch(g, OP_DROPOUT, x.role, PART_MASK, DT_BYTE, x.shape);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_DROPOUT, &out, 0);
        graph_save(g, n, mask);
        graph_edge(g, n, x);
    }
    tape_unref(g->t, mask);
    return out;
}

// x times one of the adapter's matrices.
static struct value lora_half(struct graph *g, struct value x, uint16_t number, uint8_t out_shape)
{
    struct value w = graph_param(g, false, number);
    struct value w_cast = graph_weight_cast(g, false, number, w);
    struct value in = graph_input_cast(g, x, w.role, PART_INPUT_CAST);
    struct value out = graph_make(g, OP_MM, w.role, PART_TEMP, in.dtype, out_shape);
    if (g->grad) {
        int32_t n = graph_node(g, NODE_MM, &out, 0);
        graph_save(g, n, in.storage);
        graph_save(g, n, graph_needs(g, in) ? w_cast.storage : TAPE_NONE);
        graph_edge(g, n, in);
        graph_edge(g, n, w_cast);
    }
    graph_drop(g, in);
    graph_drop(g, w_cast);
    graph_drop(g, w);
    return out;
}

bool lora_is_adapted(const struct graph *g, uint16_t weight)
{
    return layout_find(&g->layout, true, (uint16_t)(weight + LAYOUT_A)) != NULL;
}

// base + B(A(dropout(x))) * scaling, where the adapters take their own format of x. Uses base up.
struct value lora_add(struct graph *g, struct value x, struct value base, uint16_t weight)
{
    struct value a = graph_param(g, false, (uint16_t)(weight + LAYOUT_A));
    struct value own = graph_to(g, x, a.dtype, PART_UPCAST);
    struct value dropped = lora_dropout(g, own);
    graph_drop(g, own);
    graph_drop(g, a);
    struct value rank = lora_half(g, dropped, (uint16_t)(weight + LAYOUT_A), SHAPE_RANK);
    graph_drop(g, dropped);
    struct value wide = lora_half(g, rank, (uint16_t)(weight + LAYOUT_B), base.shape);
    graph_drop(g, rank);
    struct value scaled = graph_make(g, OP_MUL, base.role, PART_SCALED, wide.dtype, wide.shape);
    if (graph_needs(g, wide))
        graph_edge(g, graph_node(g, NODE_SCALE, &scaled, 0), wide);
    graph_drop(g, wide);
    struct value sum = layer_add(g, base, scaled, base.role);
    graph_drop(g, scaled);
    graph_drop(g, base);
    return sum;
}

bool lora_is_quantized(const struct graph *g, uint16_t weight)
{
    const struct layout_param *p = layout_find(&g->layout, true, weight);
    return g->m->c.quantization && p && p->matrix && (!p->trained || g->m->c.task == TASK_INFERENCE);
}

// A product with a weight that is expanded for it and for nothing else; backward expands it again.
struct value lora_quantized(struct graph *g, struct value x, uint16_t weight, uint8_t out_shape)
{
    struct value w = graph_param(g, false, weight);
    struct value in = graph_to(g, x, g->compute, PART_INPUT_CAST);
    uint32_t expanded = graph_scratch(g, OP_DEQUANTIZE, w.role, PART_DEQUANTIZED, g->compute, w.shape);
    struct value out = graph_make(g, OP_MM, w.role, PART_OUTPUT, g->compute, out_shape);
    if (graph_needs(g, in))
        graph_edge(g, graph_node(g, NODE_QUANTIZED, &out, w.shape), in);
    tape_unref(g->t, expanded);
    graph_drop(g, in);
    graph_drop(g, w);
    return out;
}
