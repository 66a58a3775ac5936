// Owns the pass of a compiled model (torch.compile, inductor): two fused graphs in place of single
// operations.
//
// A model of what inductor does, not a rule: which tensors the partitioner hands from the forward
// to the backward graph was read from a published dump of nanoGPT's joint graph; buffers die after
// their last use, an addition to the residual stream works in place, all weight gradients are
// outputs of one call and reach .grad when it has returned. SRC: pytorch
// torch/_functorch/partitioners.py, torch/_inductor/codegen/wrapper.py (del after last use),
// torch/_functorch/_aot_autograd/runtime_wrappers.py (zeros for tangents of outputs that were not
// used), pytorch PR 129043 (the loss's backward without a scatter, from 2.5 on).

#include "calc/trace/attention.h"
#include "calc/trace/pass_compile.h"

#include "calc/trace/backward.h"
#include "calc/trace/layers.h"

// What a layer's forward kernels leave for backward, in as few nodes as will hold it.
enum kept {
    LN1_HAT,
    LN1_RSTD,
    LN1_OUT,
    QKV_CAST,
    QKV_OUT,
    ATT_OUT,
    ATT_LSE,
    ATT_RNG,
    PROJ_CAST,
    LN2_HAT,
    LN2_RSTD,
    LN2_OUT,
    FC_CAST,
    FC_OUT,
    GELU_OUT,
    DOWN_CAST,
    KEPT_COUNT
};
enum { KEPT_NODES = (KEPT_COUNT + GRAPH_SAVED - 1) / GRAPH_SAVED };

// What is outside of the layers.
enum kept_end {
    LNF_HAT,
    LNF_RSTD,
    LNF_OUT,
    HEAD_CAST,
    LOGITS,
    TARGETS,
    AMAX,
    LOG_SUM,
    IDS,
    KEPT_END_COUNT
};
enum { KEPT_END_NODES = (KEPT_END_COUNT + GRAPH_SAVED - 1) / GRAPH_SAVED };

struct region {
    struct graph *g;
    int32_t end;        // nodes of what is outside of the layers
    uint32_t residual;  // the stream, then its gradient
    uint32_t branch;    // output of the last matrix product
    uint32_t gradient;  // of that output, in the compute format
};

static uint32_t buffer(struct graph *g, enum op op, uint8_t role, uint8_t part, uint8_t dtype,
                       uint8_t shape)
{
    return graph_scratch(g, op, role, part, dtype, shape);
}

static void release(struct graph *g, uint32_t *storage)
{
    tape_unref(g->t, *storage);
    *storage = TAPE_NONE;
}

static void set_layer(struct graph *g, uint32_t layer)
{
    g->t->unit = (int32_t)(layer / g->period);
    g->t->sub = (uint8_t)(layer % g->period);
}

// ---- what is kept ------------------------------------------------------------------------------

static int32_t kept_nodes(struct graph *g, unsigned count)
{
    int32_t first = (int32_t)g->node_count;
    for (unsigned i = 0; i < count; i++) {
        struct value owner = {TAPE_NONE, GRAPH_NO_NODE, 0, g->compute, SHAPE_U, ROLE_RESID2};
        int32_t n = graph_node(g, NODE_COMPILED, &owner, 0);
        if (n == GRAPH_NO_NODE)
            return n;
        for (unsigned k = 0; k < GRAPH_SAVED; k++)
            g->nodes[n].saved[k] = TAPE_NONE;
        g->nodes[n].saved_count = GRAPH_SAVED;
    }
    return first;
}

static uint32_t *kept_at(struct graph *g, int32_t nodes, unsigned which)
{
    return &g->nodes[nodes + (int32_t)(which / GRAPH_SAVED)].saved[which % GRAPH_SAVED];
}

// Hands a buffer over to backward; without gradients it dies here. Returns it for further use
// inside of forward.
static void keep(struct graph *g, int32_t nodes, unsigned which, uint32_t storage)
{
    if (nodes != GRAPH_NO_NODE && graph_ok(g))
        *kept_at(g, nodes, which) = storage;
    else
        tape_unref(g->t, storage);
}

static void forget(struct graph *g, int32_t nodes, unsigned which)
{
    if (graph_ok(g))
        release(g, kept_at(g, nodes, which));
}

// ---- forward -----------------------------------------------------------------------------------

// The weight as the product takes it; TAPE_NONE where it is used as it is. Its gradient's node is
// made on the way.
static uint32_t weight_cast(struct graph *g, bool global, uint16_t number)
{
    struct value w = graph_param(g, global, number);
    graph_drop(g, graph_param(g, global, (uint16_t)(number + LAYOUT_BIAS)));
    uint32_t cast = g->autocast
                        ? buffer(g, OP_TRITON, w.role, PART_WEIGHT_CAST, g->compute, w.shape)
                        : TAPE_NONE;
    graph_drop(g, w);
    return cast;
}

static void norm_params(struct graph *g, bool global, uint16_t number)
{
    graph_drop(g, graph_param(g, global, number));
    graph_drop(g, graph_param(g, global, (uint16_t)(number + LAYOUT_BIAS)));
}

// Add and normalize in one kernel: the stream in place, x_hat, 1 / sigma and the normalized output.
static uint32_t norm(struct region *r, int32_t nodes, unsigned which, bool global, uint16_t number,
                     uint8_t role)
{
    struct graph *g = r->g;
    norm_params(g, global, number);
    if (nodes != GRAPH_NO_NODE)
        keep(g, nodes, which, buffer(g, OP_TRITON, role, PART_NORMALIZED, DT_F32, SHAPE_U));
    keep(g, nodes, which + 1, buffer(g, OP_TRITON, role, PART_RSTD, DT_F32, SHAPE_TOKENS));
    uint32_t out = buffer(g, OP_TRITON, role, PART_OUTPUT, g->compute, SHAPE_U);
    release(g, &r->branch);
    return out;
}

struct product {
    uint16_t number;
    uint8_t role, shape;
    unsigned cast;  // where the weight's cast is kept
};

static uint32_t product(struct region *r, int32_t nodes, const struct product *p)
{
    uint32_t cast = weight_cast(r->g, false, p->number);
    uint32_t out = buffer(r->g, OP_MM, p->role, PART_OUTPUT, r->g->compute, p->shape);
    if (cast != TAPE_NONE)
        keep(r->g, nodes, p->cast, cast);
    return out;
}

static bool is_flash(const struct graph *g)
{
    return attention_is_flash(g, g->compute);
}

static void forward_attention(struct region *r, int32_t nodes)
{
    static const struct product qkv = {P_QKV, ROLE_ATTN_QKV, SHAPE_QKV, QKV_CAST};
    static const struct product out = {P_O, ROLE_ATTN_PROJ, SHAPE_U, PROJ_CAST};
    struct graph *g = r->g;
    uint32_t normed = norm(r, nodes, LN1_HAT, false, P_LN1, ROLE_LN1);
    uint32_t heads = product(r, nodes, &qkv);
    keep(g, nodes, LN1_OUT, normed);
    uint32_t y = buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_OUTPUT, g->compute, SHAPE_Q);
    keep(g, nodes, ATT_LSE,
         buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_LSE, DT_F32,
                is_flash(g) ? SHAPE_LSE : SHAPE_LSE32));
    keep(g, nodes, ATT_RNG, buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_RNG, DT_I64, SHAPE_RNG));
    keep(g, nodes, QKV_OUT, heads);
    r->branch = product(r, nodes, &out);
    keep(g, nodes, ATT_OUT, y);
}

static void forward_mlp(struct region *r, int32_t nodes)
{
    static const struct product fc = {P_UP, ROLE_FC, SHAPE_FF, FC_CAST};
    static const struct product down = {P_DOWN, ROLE_MLP_PROJ, SHAPE_U, DOWN_CAST};
    struct graph *g = r->g;
    uint32_t normed = norm(r, nodes, LN2_HAT, false, P_LN2, ROLE_LN2);
    uint32_t wide = product(r, nodes, &fc);
    keep(g, nodes, LN2_OUT, normed);
    uint32_t active = buffer(g, OP_TRITON, ROLE_ACT, PART_OUTPUT, g->compute, SHAPE_FF);
    keep(g, nodes, FC_OUT, wide);
    r->branch = product(r, nodes, &down);
    keep(g, nodes, GELU_OUT, active);
}

// Every layer makes the same number of nodes, so that a layer's are found again by counting.
static void forward_layers(struct region *r)
{
    struct graph *g = r->g;
    g->compiled_first = (int32_t)g->node_count;
    for (uint32_t layer = 0; layer < g->units * g->period && graph_ok(g); layer++) {
        set_layer(g, layer);
        int32_t nodes = kept_nodes(g, KEPT_NODES);
        forward_attention(r, nodes);
        forward_mlp(r, nodes);
        if (layer == 0)
            g->compiled_stride = (int32_t)g->node_count - g->compiled_first;
    }
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
}

// The last norm, the head, and a loss that reads the logits twice and stores two numbers a token.
static struct value forward_loss(struct region *r, uint32_t ids, uint32_t targets,
                                 struct value *logits)
{
    struct graph *g = r->g;
    uint16_t head = g->m->c.tie_embeddings ? P_WTE : P_HEAD;
    r->end = g->compiled_end = kept_nodes(g, KEPT_END_NODES);
    uint32_t normed = norm(r, r->end, LNF_HAT, true, P_LN_F, ROLE_LN_F);
    release(g, &r->residual);
    uint32_t cast = weight_cast(g, true, head);
    *logits = graph_make(g, OP_MM, ROLE_LOGITS, PART_SELF, g->compute, SHAPE_NV);
    keep(g, r->end, LNF_OUT, normed);
    if (cast != TAPE_NONE)
        keep(g, r->end, HEAD_CAST, cast);
    keep(g, r->end, AMAX, buffer(g, OP_TRITON, ROLE_LOSS, PART_SCRATCH, DT_F32, SHAPE_TOKENS));
    keep(g, r->end, LOG_SUM, buffer(g, OP_TRITON, ROLE_LOSS, PART_LSE, DT_F32, SHAPE_TOKENS));
    struct value loss = graph_make(g, OP_TRITON, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    if (g->grad && graph_ok(g)) {
        keep(g, r->end, LOGITS, graph_copy(g, *logits).storage);
        tape_ref(g->t, targets);
        keep(g, r->end, TARGETS, targets);
        tape_ref(g->t, ids);
        keep(g, r->end, IDS, ids);
    }
    return loss;
}

// The embeddings are added as they are read; only their sum is stored.
struct value compile_forward(struct graph *g, uint32_t ids, uint32_t targets, struct value *logits)
{
    struct region r = {.g = g};
    norm_params(g, true, P_WTE);
    norm_params(g, true, P_WPE);
    r.residual = buffer(g, OP_TRITON, ROLE_EMBED, PART_SELF, DT_F32, SHAPE_U);
    forward_layers(&r);
    struct value loss = forward_loss(&r, ids, targets, logits);
    if (!g->m->c.compile_logits) {
        graph_drop(g, *logits);
        *logits = graph_none();
    }
    return loss;
}

// ---- backward ----------------------------------------------------------------------------------

// A weight gradient as an output of the graph: it waits in its AccumulateGrad node until the call
// has returned.
static void output_gradient(struct graph *g, bool global, uint16_t number, enum op op, uint8_t part)
{
    struct value w = graph_param(g, global, number);
    if (w.node != GRAPH_NO_NODE && graph_ok(g))
        g->nodes[w.node].gradient[0] = buffer(g, op, w.role, part, g->residual, w.shape);
    graph_drop(g, w);
}

// dW and dx of a product; dW in the compute format first. The gradient of its output is replaced by
// that of its input.
static void backward_product(struct region *r, uint16_t number, uint8_t role, uint8_t in_shape)
{
    struct graph *g = r->g;
    struct value w = graph_param(g, false, number);
    uint32_t low = g->autocast ? buffer(g, OP_MM, w.role, PART_WEIGHT_GRAD_LOW, g->compute, w.shape)
                               : TAPE_NONE;
    uint32_t in = buffer(g, OP_MM, role, PART_GRAD, g->compute, in_shape);
    graph_drop(g, w);
    output_gradient(g, false, number, g->autocast ? OP_TRITON : OP_MM, PART_WEIGHT_GRAD);
    output_gradient(g, false, (uint16_t)(number + LAYOUT_BIAS), OP_TRITON, PART_BIAS_GRAD);
    tape_unref(g->t, low);
    tape_unref(g->t, r->gradient);
    r->gradient = in;
}

// The stream's gradient in place; a copy in the compute format for the product before it.
static void backward_norm(struct region *r, bool global, uint16_t number, uint8_t role)
{
    struct graph *g = r->g;
    if (r->residual == TAPE_NONE)
        r->residual = buffer(g, OP_TRITON, role, PART_GRAD, DT_F32, SHAPE_U);
    output_gradient(g, global, number, OP_TRITON, PART_WEIGHT_GRAD);
    output_gradient(g, global, (uint16_t)(number + LAYOUT_BIAS), OP_TRITON, PART_BIAS_GRAD);
    uint32_t copy =
        g->autocast ? buffer(g, OP_TRITON, role, PART_GRAD_CAST, g->compute, SHAPE_U) : TAPE_NONE;
    tape_unref(g->t, r->gradient);
    r->gradient = copy;
}

static void backward_mlp(struct region *r, int32_t nodes)
{
    struct graph *g = r->g;
    backward_product(r, P_DOWN, ROLE_ACT, SHAPE_FF);
    forget(g, nodes, GELU_OUT);
    forget(g, nodes, DOWN_CAST);
    forget(g, nodes, FC_OUT);  // GELU's backward works in place
    backward_product(r, P_UP, ROLE_LN2, SHAPE_U);
    forget(g, nodes, FC_CAST);
    forget(g, nodes, LN2_OUT);
    backward_norm(r, false, P_LN2, ROLE_RESID1);
    forget(g, nodes, LN2_HAT);
    forget(g, nodes, LN2_RSTD);
}

// SRC: as node_sdpa in nodes.c.
static void backward_kernel(struct region *r)
{
    struct graph *g = r->g;
    uint32_t part[3];
    for (unsigned k = 0; k < 3; k++)
        part[k] =
            buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_GRAD, g->compute, k ? SHAPE_KV : SHAPE_Q);
    uint32_t rows = buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_SCRATCH, DT_F32,
                           is_flash(g) ? SHAPE_LSE128 : SHAPE_LSE);
    uint32_t sum = is_flash(g)
                       ? buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_SCRATCH, DT_F32, SHAPE_DQ_ACC)
                       : TAPE_NONE;
    tape_unref(g->t, sum);
    tape_unref(g->t, rows);
    tape_unref(g->t, r->gradient);
    r->gradient = buffer(g, OP_CAT, ROLE_ATTN_QKV, PART_GRAD, g->compute, SHAPE_QKV);
    for (unsigned k = 0; k < 3; k++)
        tape_unref(g->t, part[k]);
}

static void backward_attention(struct region *r, int32_t nodes)
{
    struct graph *g = r->g;
    backward_product(r, P_O, ROLE_ATTENTION, SHAPE_Q);
    forget(g, nodes, PROJ_CAST);
    backward_kernel(r);
    forget(g, nodes, QKV_OUT);
    forget(g, nodes, ATT_OUT);
    forget(g, nodes, ATT_LSE);
    forget(g, nodes, ATT_RNG);
    backward_product(r, P_QKV, ROLE_LN1, SHAPE_U);
    forget(g, nodes, QKV_CAST);
    forget(g, nodes, LN1_OUT);
    backward_norm(r, false, P_LN1, ROLE_RESID2);
    forget(g, nodes, LN1_HAT);
    forget(g, nodes, LN1_RSTD);
}

// Gradient of the logits. Up to 2.4 the targets are scattered into float32 of the logits' size
// first.
static uint32_t backward_logits(struct region *r)
{
    struct graph *g = r->g;
    uint32_t tangent = TAPE_NONE, scatter = TAPE_NONE;
    if (g->m->c.compile_logits)
        tangent = buffer(g, OP_ZEROS, ROLE_LOGITS, PART_TEMP, g->compute, SHAPE_NV);
    if (g->m->c.compile == COMPILE_TORCH24)
        scatter = buffer(g, OP_TRITON, ROLE_LOGITS, PART_SCRATCH, DT_F32, SHAPE_NV);
    uint32_t gradient = buffer(g, OP_TRITON, ROLE_LOGITS, PART_GRAD, g->compute, SHAPE_NV);
    tape_unref(g->t, scatter);
    tape_unref(g->t, tangent);
    forget(g, r->end, LOGITS);
    forget(g, r->end, AMAX);
    forget(g, r->end, LOG_SUM);
    forget(g, r->end, TARGETS);
    return gradient;
}

// The head's gradient stays in the compute format until the embedding's is added, where both are
// one weight.
static uint32_t backward_head(struct region *r)
{
    struct graph *g = r->g;
    bool tied = g->m->c.tie_embeddings;
    uint32_t logits = backward_logits(r);
    uint32_t low = buffer(g, OP_MM, ROLE_HEAD, PART_WEIGHT_GRAD_LOW, g->compute, SHAPE_W_WTE);
    r->gradient = buffer(g, OP_MM, ROLE_LN_F, PART_GRAD, g->compute, SHAPE_U);
    tape_unref(g->t, logits);
    forget(g, r->end, LNF_OUT);
    forget(g, r->end, HEAD_CAST);
    backward_norm(r, true, P_LN_F, ROLE_RESID2);
    forget(g, r->end, LNF_HAT);
    forget(g, r->end, LNF_RSTD);
    if (tied)
        return low;
    output_gradient(g, true, P_HEAD, OP_TRITON, PART_WEIGHT_GRAD);
    tape_unref(g->t, low);
    return TAPE_NONE;
}

static void backward_embedding(struct region *r, uint32_t head)
{
    struct graph *g = r->g;
    uint32_t positions = buffer(g, OP_TRITON, ROLE_WPE, PART_GRAD, DT_F32, SHAPE_TC);
    output_gradient(g, true, P_WPE, OP_TRITON, PART_WEIGHT_GRAD);
    tape_unref(g->t, positions);
    output_gradient(g, true, P_WTE, OP_TRITON, PART_WEIGHT_GRAD);
    release(g, &r->residual);
    release(g, &r->gradient);
    tape_unref(g->t, head);
    forget(g, r->end, IDS);
}

// AccumulateGrad of one parameter, after the graph has returned.
static void accumulate(struct graph *g, bool global, uint16_t number)
{
    struct value w = graph_param(g, global, number);
    graph_drop(g, w);
    if (w.node != GRAPH_NO_NODE && graph_ok(g))
        backward_accumulate(g, &g->nodes[w.node]);
}

static void accumulate_all(struct graph *g)
{
    const struct layout *l = &g->layout;
    for (uint32_t layer = g->units * g->period; layer-- > 0 && graph_ok(g);) {
        set_layer(g, layer);
        for (unsigned i = 0; i < l->block_count; i++)
            accumulate(g, false, l->block[i].number);
    }
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
    for (unsigned i = 0; i < l->before_count; i++)
        accumulate(g, true, l->before[i].number);
    for (unsigned i = 0; i < l->after_count; i++)
        accumulate(g, true, l->after[i].number);
}

void compile_backward(struct graph *g)
{
    struct region r = {.g = g, .end = g->compiled_end};
    if (!graph_ok(g))
        return;
    uint32_t head = backward_head(&r);
    for (uint32_t layer = g->units * g->period; layer-- > 0 && graph_ok(g);) {
        int32_t nodes = g->compiled_first + (int32_t)layer * g->compiled_stride;
        set_layer(g, layer);
        backward_mlp(&r, nodes);
        backward_attention(&r, nodes);
    }
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
    backward_embedding(&r, head);
    accumulate_all(g);
}
