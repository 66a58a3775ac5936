// Owns the backward graph of a compiled model: kernels in the order of their use, all weight
// gradients as outputs of one call. SRC: as pass_compile.c.

#include "calc/trace/pass_compile.h"

#include "calc/trace/backward.h"
#include "calc/trace/pass_compile_kept.h"

// A weight gradient as an output of the graph: it waits in its AccumulateGrad node until the call
// has returned.
void compile_gradient(struct graph *g, bool global, uint16_t number, enum op op, uint8_t part)
{
    struct value w = graph_param(g, global, number);
    if (w.node != GRAPH_NO_NODE && graph_ok(g))
        g->nodes[w.node].gradient[0] = compile_buffer(g, op, w.role, part, g->residual, w.shape);
    graph_drop(g, w);
}

// dW and dx of a product; dW in the compute format first. The gradient of its output is replaced by
// that of its input.
static void backward_product(struct region *r, uint16_t number, uint8_t role, shape_id in_shape)
{
    struct graph *g = r->g;
    struct value w = graph_param(g, false, number);
    uint32_t low = g->autocast
                       ? compile_buffer(g, OP_MM, w.role, PART_WEIGHT_GRAD_LOW, g->compute, w.shape)
                       : TAPE_NONE;
    uint32_t in = compile_buffer(g, OP_MM, role, PART_GRAD, g->compute, in_shape);
    graph_drop(g, w);
    compile_gradient(g, false, number, g->autocast ? OP_TRITON : OP_MM, PART_WEIGHT_GRAD);
    compile_gradient(g, false, (uint16_t)(number + LAYOUT_BIAS), OP_TRITON, PART_BIAS_GRAD);
    tape_unref(g->t, low);
    tape_unref(g->t, r->gradient);
    r->gradient = in;
}

// The stream's gradient in place; a copy in the compute format for the product before it.
static void backward_norm(struct region *r, bool global, uint16_t number, uint8_t role)
{
    struct graph *g = r->g;
    if (r->residual == TAPE_NONE)
        r->residual = compile_buffer(g, OP_TRITON, role, PART_GRAD, DT_F32, SHAPE_U);
    compile_gradient(g, global, number, OP_TRITON, PART_WEIGHT_GRAD);
    compile_gradient(g, global, (uint16_t)(number + LAYOUT_BIAS), OP_TRITON, PART_BIAS_GRAD);
    uint32_t copy = g->autocast
                        ? compile_buffer(g, OP_TRITON, role, PART_GRAD_CAST, g->compute, SHAPE_U)
                        : TAPE_NONE;
    tape_unref(g->t, r->gradient);
    r->gradient = copy;
}

static void backward_mlp(struct region *r, int32_t nodes)
{
    struct graph *g = r->g;
    backward_product(r, P_DOWN, ROLE_ACT, SHAPE_FF);
    compile_forget(g, nodes, GELU_OUT);
    compile_forget(g, nodes, DOWN_CAST);
    compile_forget(g, nodes, FC_OUT);  // GELU's backward works in place
    backward_product(r, P_UP, ROLE_LN2, SHAPE_U);
    compile_forget(g, nodes, FC_CAST);
    compile_forget(g, nodes, LN2_OUT);
    backward_norm(r, false, P_LN2, ROLE_RESID1);
    compile_forget(g, nodes, LN2_HAT);
    compile_forget(g, nodes, LN2_RSTD);
}

// SRC: as node_sdpa in nodes.c.
static void backward_kernel(struct region *r)
{
    struct graph *g = r->g;
    uint32_t part[3];
    for (unsigned k = 0; k < 3; k++)
        part[k] = compile_buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_GRAD, g->compute,
                                 k ? SHAPE_KV : SHAPE_Q);
    uint32_t rows = compile_buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_SCRATCH, DT_F32,
                                   compile_is_flash(g) ? SHAPE_LSE128 : SHAPE_LSE);
    uint32_t sum = compile_is_flash(g) ? compile_buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION,
                                                        PART_SCRATCH, DT_F32, SHAPE_DQ_ACC)
                                       : TAPE_NONE;
    tape_unref(g->t, sum);
    tape_unref(g->t, rows);
    tape_unref(g->t, r->gradient);
    r->gradient = compile_buffer(g, OP_CAT, ROLE_ATTN_QKV, PART_GRAD, g->compute, SHAPE_QKV);
    for (unsigned k = 0; k < 3; k++)
        tape_unref(g->t, part[k]);
}

static void backward_attention(struct region *r, int32_t nodes)
{
    struct graph *g = r->g;
    backward_product(r, P_O, ROLE_ATTENTION, SHAPE_Q);
    compile_forget(g, nodes, PROJ_CAST);
    backward_kernel(r);
    compile_forget(g, nodes, QKV_OUT);
    compile_forget(g, nodes, ATT_OUT);
    compile_forget(g, nodes, ATT_LSE);
    compile_forget(g, nodes, ATT_RNG);
    backward_product(r, P_QKV, ROLE_LN1, SHAPE_U);
    compile_forget(g, nodes, QKV_CAST);
    compile_forget(g, nodes, LN1_OUT);
    backward_norm(r, false, P_LN1, ROLE_RESID2);
    compile_forget(g, nodes, LN1_HAT);
    compile_forget(g, nodes, LN1_RSTD);
}

// Gradient of the logits. Up to 2.4 the targets are scattered into float32 of the logits' size
// first.
uint32_t compile_logits_gradient(struct graph *g, int32_t end, bool returned)
{
    uint32_t tangent = TAPE_NONE, scatter = TAPE_NONE;
    if (g->m->c.compile_logits && returned)
        tangent = compile_buffer(g, OP_ZEROS, ROLE_LOGITS, PART_TEMP, g->compute, SHAPE_NV);
    if (g->m->c.compile == COMPILE_TORCH24)
        scatter = compile_buffer(g, OP_TRITON, ROLE_LOGITS, PART_SCRATCH, DT_F32, SHAPE_NV);
    uint32_t gradient = compile_buffer(g, OP_TRITON, ROLE_LOGITS, PART_GRAD, g->compute, SHAPE_NV);
    tape_unref(g->t, scatter);
    tape_unref(g->t, tangent);
    compile_forget(g, end, LOGITS);
    compile_forget(g, end, AMAX);
    compile_forget(g, end, LOG_SUM);
    compile_forget(g, end, TARGETS);
    return gradient;
}

// The head's gradient stays in the compute format until the embedding's is added, where both are
// one weight.
static uint32_t backward_head(struct region *r)
{
    struct graph *g = r->g;
    bool tied = g->m->c.tie_embeddings;
    uint32_t logits = compile_logits_gradient(g, r->end, true);
    uint32_t low =
        compile_buffer(g, OP_MM, ROLE_HEAD, PART_WEIGHT_GRAD_LOW, g->compute, SHAPE_W_WTE);
    r->gradient = compile_buffer(g, OP_MM, ROLE_LN_F, PART_GRAD, g->compute, SHAPE_U);
    tape_unref(g->t, logits);
    compile_forget(g, r->end, LNF_OUT);
    compile_forget(g, r->end, HEAD_CAST);
    backward_norm(r, true, P_LN_F, ROLE_RESID2);
    compile_forget(g, r->end, LNF_HAT);
    compile_forget(g, r->end, LNF_RSTD);
    if (tied)
        return low;
    compile_gradient(g, true, P_HEAD, OP_TRITON, PART_WEIGHT_GRAD);
    tape_unref(g->t, low);
    return TAPE_NONE;
}

static void backward_embedding(struct region *r, uint32_t head)
{
    struct graph *g = r->g;
    uint32_t positions = compile_buffer(g, OP_TRITON, ROLE_WPE, PART_GRAD, DT_F32, SHAPE_TC);
    compile_gradient(g, true, P_WPE, OP_TRITON, PART_WEIGHT_GRAD);
    tape_unref(g->t, positions);
    compile_gradient(g, true, P_WTE, OP_TRITON, PART_WEIGHT_GRAD);
    compile_release(g, &r->residual);
    compile_release(g, &r->gradient);
    tape_unref(g->t, head);
    compile_forget(g, r->end, IDS);
}

// AccumulateGrad of one parameter, after the graph has returned.
void compile_accumulate(struct graph *g, bool global, uint16_t number)
{
    struct value w = graph_param(g, global, number);
    graph_drop(g, w);
    if (w.node != GRAPH_NO_NODE && graph_ok(g))
        backward_accumulate(g, &g->nodes[w.node]);
}

void compile_accumulate_all(struct graph *g)
{
    const struct layout *l = &g->layout;
    for (uint32_t layer = graph_layers(g); layer-- > 0 && graph_ok(g);) {
        graph_enter(g, layer);
        for (unsigned i = 0; i < l->block_count; i++)
            compile_accumulate(g, false, l->block[i].number);
    }
    graph_leave(g);
    for (unsigned i = 0; i < l->before_count; i++)
        compile_accumulate(g, true, l->before[i].number);
    for (unsigned i = 0; i < l->after_count; i++)
        compile_accumulate(g, true, l->after[i].number);
}

void compile_backward(struct graph *g)
{
    struct region r = {.g = g, .end = g->compiled_end};
    if (!graph_ok(g))
        return;
    uint32_t head = backward_head(&r);
    for (uint32_t layer = graph_layers(g); layer-- > 0 && graph_ok(g);) {
        int32_t nodes = g->compiled_first + (int32_t)layer * g->compiled_stride;
        graph_enter(g, layer);
        if (compile_checkpoints(g, layer))
            compile_again(&r, nodes);
        backward_mlp(&r, nodes);
        backward_attention(&r, nodes);
    }
    graph_leave(g);
    backward_embedding(&r, head);
    compile_accumulate_all(g);
}
