// Owns products in float8 that run eagerly: the casts of both operands, forward, and of all three
// backward, where both are cast once more. What is kept is what two bytes keep.
//
// The prototype's written kernels cast without anything beside the result. They make the input by
// columns ahead and keep that in the input's place, but not under a checkpoint.
// SRC: torchao 0.18 float8/float8_linear.py, matmul_with_hp_or_float8_args;
// float8/float8_utils.py, tensor_to_amax, to_fp8_saturated; float8/float8_training_tensor.py,
// _ToFloat8ConstrFunc; float8/float8_ops.py, preprocess_addmm;
// prototype/float8nocompile/float8nocompile_linear.py; traces titan_float8_eager*,
// titan_rowwise_eager*, titan_nocompile*.

#include "calc/trace/linear_float8.h"

#include "calc/trace/layers.h"

#ifndef VRAM_SMALL
static bool float8_has_kernels(const struct graph *g)
{
    return g->m->c.float8 == FLOAT8_NOCOMPILE;
}

// What is cast, and which way: the largest number of what does not lie in order is found in a copy.
struct operand {
    uint8_t role, part, dtype;
    shape_id shape;
    bool turned;
};

static uint32_t float8_scratch(struct graph *g, enum op op, struct operand o, uint8_t dtype)
{
    return graph_scratch(g, op, o.role, o.part, dtype, o.shape);
}

static uint32_t float8_cast(struct graph *g, struct operand o)
{
    if (float8_has_kernels(g))
        return float8_scratch(g, OP_TRITON, o, DT_BYTE);
    uint32_t size = float8_scratch(g, OP_ABS, o, o.dtype);
    if (o.turned && g->m->c.float8 == FLOAT8_TENSORWISE)
        tape_unref(g->t, float8_scratch(g, OP_CLONE, o, o.dtype));
    tape_unref(g->t, size);
    uint32_t wide = float8_scratch(g, OP_TO_COPY, o, DT_F32);
    uint32_t scaled = float8_scratch(g, OP_MUL, o, DT_F32);
    tape_unref(g->t, wide);
    uint32_t clamped = float8_scratch(g, OP_CLAMP, o, DT_F32);
    uint32_t low = float8_scratch(g, OP_TO_COPY, o, DT_BYTE);
    tape_unref(g->t, clamped);
    tape_unref(g->t, scaled);
    return low;
}

// FSDP has gathered it in float8.
static uint32_t float8_weight(struct graph *g, uint8_t role, shape_id shape)
{
    struct operand o = {role, PART_WEIGHT_CAST, g->compute, shape, true};
    return g->m->c.float8_all_gather ? TAPE_NONE : float8_cast(g, o);
}

// A function of its own to autograd, which keeps both operands: they are packed when it returns, so
// that a checkpoint's second run has run it whole. SRC: pytorch
// torch/csrc/autograd/python_function.cpp, process_outputs.
struct value float8_linear(struct graph *g, struct value x, uint16_t weight, shape_id out_shape)
{
    struct value w = graph_param(g, false, weight);
    struct operand in = {w.role, PART_INPUT_CAST, x.dtype, x.shape, false};
    bool again = g->packing != GRAPH_NO_FRAME || g->recompute;
    uint32_t rows = float8_cast(g, in);
    uint32_t columns =
        float8_has_kernels(g) && !again ? float8_scratch(g, OP_TRITON, in, DT_BYTE) : TAPE_NONE;
    uint32_t low = float8_weight(g, w.role, w.shape);
    struct value out = graph_make(g, OP_SCALED_MM, w.role, PART_OUTPUT, x.dtype, out_shape);
    if (graph_needs(g, x) || graph_needs(g, w)) {
        int32_t n = graph_node(g, NODE_FLOAT8, &out, again);
        g->node_inputs = false;
        graph_save(g, n, columns != TAPE_NONE ? columns : x.storage);
        graph_save(g, n, w.storage);
        graph_edge(g, n, x);
        graph_edge(g, n, w);
    }
    tape_unref(g->t, low);
    tape_unref(g->t, columns);
    tape_unref(g->t, rows);
    graph_drop(g, w);
    return out;
}

// A product backward. Scales of rows are multiplied afterwards, in float32: fast accumulation, with
// which the kernel takes them, is off there. SRC: torchao float8/config.py, Float8GemmConfig,
// addmm_float8_unwrapped.
static uint32_t float8_gradient(struct graph *g, const struct edge *e, uint8_t part)
{
    uint32_t scales = g->m->c.float8 == FLOAT8_ROWWISE
                          ? graph_scratch(g, OP_MUL, e->role, PART_SCALES, DT_F32, e->shape)
                          : TAPE_NONE;
    uint32_t result = graph_scratch(g, OP_SCALED_MM, e->role, part, e->dtype, e->shape);
    graph_mark_view(g, result);
    tape_unref(g->t, scales);
    return result;
}

// What a product takes by rows or by columns and does not have so.
static uint32_t float8_lay_out(struct graph *g, struct operand o)
{
    return float8_has_kernels(g) ? TAPE_NONE : float8_scratch(g, OP_CLONE, o, DT_BYTE);
}

static uint32_t float8_input_gradient(struct graph *g, const struct node *n)
{
    const struct edge *w = &n->edges[1];
    struct operand o = {w->role, PART_WEIGHT_CAST, w->dtype, w->shape, true};
    uint32_t order = float8_lay_out(g, o);
    uint32_t result = float8_gradient(g, &n->edges[0], PART_GRAD);
    tape_unref(g->t, order);
    return result;
}

static uint32_t float8_weight_gradient(struct graph *g, const struct node *n,
                                       const struct operand o[2])
{
    uint32_t rows = float8_lay_out(g, o[0]), columns = float8_lay_out(g, o[1]);
    uint32_t result = float8_gradient(g, &n->edges[1], PART_WEIGHT_GRAD);
    tape_unref(g->t, columns);
    tape_unref(g->t, rows);
    return result;
}

// The kernels write the gradient both ways at once, and find what forward has not made ahead.
void node_float8(struct graph *g, const struct node *n, uint32_t results[])
{
    const struct edge *in = &n->edges[0];
    struct operand o[2] = {{n->role, PART_GRAD_CAST, (uint8_t)n->dtype, n->shape, false},
                           {in->role, PART_INPUT_CAST, in->dtype, in->shape, false}};
    bool kernels = float8_has_kernels(g), made = kernels && !n->extra;
    uint32_t gradient = float8_cast(g, o[0]);
    uint32_t turned = kernels ? float8_cast(g, o[0]) : TAPE_NONE;
    uint32_t weight = float8_weight(g, n->edges[1].role, n->edges[1].shape);
    results[0] = float8_input_gradient(g, n);
    if (!kernels)
        turned = float8_cast(g, o[0]);
    uint32_t input = made ? TAPE_NONE : float8_cast(g, o[1]);
    results[1] = float8_weight_gradient(g, n, o);
    tape_unref(g->t, gradient);
    tape_unref(g->t, weight);
    tape_unref(g->t, turned);
    tape_unref(g->t, input);
}
#endif
