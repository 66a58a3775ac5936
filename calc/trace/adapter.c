// Owns what low-rank adapters and DoRA share: dropout, a product with one of the adapter's
// matrices, the factor. SRC: peft src/peft/tuners/lora/layer.py.

#include "calc/trace/adapter.h"

// native_dropout makes the mask first. SRC: pytorch aten/src/ATen/native/cuda/Dropout.cu.
struct value adapter_dropout(struct graph *g, struct value x)
{
    if (g->m->c.lora_dropout == 0 || !g->training)
        return graph_copy(g, x);
    uint32_t mask = graph_scratch(g, OP_DROPOUT, x.role, PART_MASK, DT_BYTE, x.shape);
    struct value out = graph_make(g, OP_DROPOUT, x.role, PART_COPY, x.dtype, x.shape);
    graph_follow_saving(g, NODE_DROPOUT, &out, x, mask);
    tape_unref(g->t, mask);
    return out;
}

struct value adapter_half(struct graph *g, struct value x, bool global, uint16_t number,
                          shape_id out_shape)
{
    struct value w = graph_param(g, global, number);
    struct value w_cast = graph_weight_cast(g, global, number, w);
    struct value in = graph_input_cast(g, x, w.role, PART_INPUT_CAST);
    struct value out = graph_make(g, OP_MM, w.role, PART_TEMP, in.dtype, out_shape);
    graph_follow_product(g, NODE_MM, &out, in, w_cast);
    graph_drop(g, in);
    graph_drop(g, w_cast);
    graph_drop(g, w);
    return out;
}

struct value adapter_scaling(struct graph *g, struct value x, uint8_t role)
{
    struct value out = graph_make(g, OP_MUL, role, PART_SCALED, x.dtype, x.shape);
    graph_follow(g, NODE_SCALE, &out, x);
    return out;
}
