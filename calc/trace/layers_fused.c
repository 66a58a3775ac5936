// Owns the kernels that take the place of several operations: RMSNorm, rotary positions, SwiGLU,
// and adapters over quantized weights as one function. SRC: fms-acceleration
// plugins/fused-ops-and-kernels/src/fms_acceleration_foak/kernels/unsloth/rms_layernorm.py
// (Fast_RMS_Layernorm), rope_embedding.py (Fast_RoPE_Embedding),
// fused_ops/unsloth_lora/bnb/fast_lora.py and gptq/fast_lora.py (LoRA_QKV, LoRA_W), utils.py
// (matmul_lora, fast_dequantize); Liger-Kernel src/liger_kernel/ops/ rms_norm.py, rope.py,
// swiglu.py.

#include "calc/trace/layers_fused.h"

#include "calc/model/unsloth.h"
#include "calc/trace/adapter.h"
#include "calc/trace/quantized.h"

// Unsloth's gives the weight no gradient.
struct value fused_norm(struct graph *g, struct value x, bool global, uint16_t weight,
                        shape_id stats)
{
    struct value w = graph_param(g, global, weight);
    struct value out = graph_make(g, OP_TRITON, w.role, PART_OUTPUT, x.dtype, x.shape);
    uint32_t rstd = graph_scratch(g, OP_TRITON, w.role, PART_RSTD, DT_F32, stats);
    bool trains = !unsloth_norms(&g->m->c) && graph_needs(g, w);
    if (graph_needs(g, x) || trains) {
        int32_t n = graph_node(g, NODE_FUSED_NORM, &out, 0);
        graph_save(g, n, x.storage);
        graph_save(g, n, rstd);
        graph_edge(g, n, x);
        if (trains)
            graph_edge(g, n, w);
    }
    tape_unref(g->t, rstd);
    graph_drop(g, w);
    return out;
}

// The input's gradient is written over the incoming one; where norms follow a branch Liger takes
// fresh memory.
void node_fused_norm(struct graph *g, const struct node *n, uint32_t results[])
{
    bool apart = (g->m->features & HAS_POST_NORM) || graph_has(g, TRAIT_FUSED_RMS_NORM);
    if (n->edges[0].to != GRAPH_NO_NODE && apart) {
        results[0] = graph_scratch(g, OP_TRITON, n->edges[0].role, PART_GRAD, n->dtype, n->shape);
    } else if (n->edges[0].to != GRAPH_NO_NODE) {
        tape_ref(g->t, n->gradient[0]);
        results[0] = n->gradient[0];
    }
    if (n->edge_count > 1)
        results[1] = graph_scratch(g, OP_SUM, n->edges[1].role, PART_WEIGHT_GRAD, n->edges[1].dtype,
                                   n->edges[1].shape);
}

// Unsloth's from 2025.12 on work on copies of what is no tensor of its own; the old ones are
// variables until both are there.
static struct value fused_turned(struct graph *g, struct value x)
{
    struct value out = graph_make(g, OP_TRITON, x.role, PART_COPY, x.dtype, x.shape);
    graph_follow(g, NODE_VIEW, &out, x);
    return out;
}

bool fused_rotates_apart(const struct graph *g)
{
#ifndef VRAM_SMALL
    return unsloth_patches(&g->m->c) && graph_has(g, TRAIT_UNSLOTH_TURNED);
#else
    (void)g;
    return false;
#endif
}

void fused_rotary_apart(struct graph *g, struct value *q, struct value *k)
{
    struct value turned[2] = {fused_turned(g, *q), fused_turned(g, *k)};
    graph_drop(g, *q);
    graph_drop(g, *k);
    *q = turned[0];
    *k = turned[1];
}

struct value fused_rotary(struct graph *g, struct value x, bool copied)
{
    struct value in = x;
    if (graph_needs(g, x))
        graph_edge(g, graph_node(g, copied ? NODE_VIEW : NODE_PASS, &x, 0), in);
    return x;
}

struct value fused_swiglu(struct graph *g, struct value gate, struct value up)
{
    struct value out = graph_make(g, OP_TRITON, ROLE_MLP_PROJ, PART_INPUT, gate.dtype, gate.shape);
    if (graph_needs(g, gate) || graph_needs(g, up)) {
        int32_t n = graph_node(g, NODE_FUSED_SWIGLU, &out, 0);
        graph_save(g, n, gate.storage);
        graph_save(g, n, up.storage);
        graph_edge(g, n, gate);
        graph_edge(g, n, up);
    }
    return out;
}

// The gradients are written over what was saved.
void node_fused_swiglu(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 0; k < 2; k++) {
        if (n->edges[k].to == GRAPH_NO_NODE)
            continue;
        tape_ref(g->t, n->saved[k]);
        results[k] = n->saved[k];
    }
}

static bool fused_is_adapted(const struct graph *g, uint16_t weight)
{
    return quantized_is(g, weight) && layout_find(&g->layout, true, (uint16_t)(weight + LAYOUT_A));
}

bool fused_has_lora(const struct graph *g, uint16_t weight)
{
    if (g->m->c.kernels != KERNELS_FOAK || g->m->c.adapter != ADAPTER_LORA)
        return false;
    return weight == P_Q
               ? fused_is_adapted(g, P_Q) && fused_is_adapted(g, P_K) && fused_is_adapted(g, P_V)
               : fused_is_adapted(g, weight);
}

// fast_dequantize: the weight first, then scales that are quantized themselves; dequant248: the
// weight alone.
static uint32_t fused_expand(struct graph *g, uint16_t weight)
{
    const struct layout_param *p = layout_find(&g->layout, true, weight);
    uint32_t out = graph_scratch(g, OP_DEQUANTIZE, p->role, PART_DEQUANTIZED, DT_LOW, p->shape);
    if (quantized_by_bitsandbytes(g, weight))
        tape_unref(g->t, graph_scratch(g, OP_DEQUANTIZE, p->role, PART_SCALES, DT_F32,
                                       quantized_scales(p->shape)));
    return out;
}

// out += (X @ A) @ B: the adapter's way beside a product that is there.
static void fused_path(struct graph *g, uint8_t role, shape_id out_shape)
{
    uint32_t rank = graph_scratch(g, OP_MM, role, PART_TEMP, g->compute, SHAPE_RANK);
    uint32_t wide = graph_scratch(g, OP_MM, role, PART_SCALED, g->compute, out_shape);
    tape_unref(g->t, rank);
    tape_unref(g->t, wide);
}

// matmul_lora: X @ W, then dropout of X, which its caller keeps, and the adapter. Uses the weight
// up.
static struct value fused_product(struct graph *g, struct value x, uint32_t w, uint16_t weight,
                                  shape_id out_shape, bool early, uint32_t *dropped)
{
    uint8_t role = layout_find(&g->layout, true, weight)->role;
    struct value out = graph_make(g, OP_MM, role, PART_OUTPUT, g->compute, out_shape);
    if (early)
        tape_unref(g->t, w);
    bool grad = g->grad;
    g->grad = false;
    *dropped = adapter_dropout(g, x).storage;
    g->grad = grad;
    fused_path(g, role, out_shape);
    if (!early)
        tape_unref(g->t, w);
    return out;
}

static void fused_adapter_edges(struct graph *g, int32_t n, uint16_t weight)
{
    for (unsigned k = 0; k < 2; k++) {
        struct value v = graph_param(g, false, (uint16_t)(weight + (k ? LAYOUT_B : LAYOUT_A)));
        graph_edge(g, n, v);
        graph_drop(g, v);
    }
}

static const uint16_t qkv_weights[3] = {P_Q, P_K, P_V};
static const shape_id qkv_shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};

// The three results are outputs of one node; GPTQ's weights are expanded before the first product.
void fused_qkv(struct graph *g, struct value x, struct value out[3])
{
    uint32_t w[3] = {TAPE_NONE, TAPE_NONE, TAPE_NONE}, dropped[3];
    bool early = quantized_by_bitsandbytes(g, P_Q);
    for (unsigned k = 0; k < 3 && !early; k++)
        w[k] = fused_expand(g, qkv_weights[k]);
    for (unsigned k = 0; k < 3; k++) {
        w[k] = early ? fused_expand(g, qkv_weights[k]) : w[k];
        out[k] = fused_product(g, x, w[k], qkv_weights[k], qkv_shapes[k], early, &dropped[k]);
    }
    int32_t n = graph_node(g, NODE_FUSED_QKV, &out[0], 0);
    graph_save(g, n, x.storage);
    graph_edge(g, n, x);
    for (unsigned k = 0; k < 3; k++) {
        graph_save(g, n, dropped[k]);
        if (g->grad)
            fused_adapter_edges(g, n, qkv_weights[k]);
        tape_unref(g->t, dropped[k]);
        out[k].node = out[0].node;
        out[k].output = (uint8_t)k;
    }
}

struct value fused_output(struct graph *g, struct value x)
{
    uint32_t w = fused_expand(g, P_O), dropped;
    struct value out =
        fused_product(g, x, w, P_O, SHAPE_U, quantized_by_bitsandbytes(g, P_O), &dropped);
    int32_t n = graph_node(g, NODE_FUSED_OUTPUT, &out, 0);
    graph_save(g, n, x.storage);
    graph_save(g, n, dropped);
    graph_edge(g, n, x);
    if (g->grad)
        fused_adapter_edges(g, n, P_O);
    tape_unref(g->t, dropped);
    return out;
}

// d_A = dropped' @ (dY @ B'), d_B = (A' @ dropped') @ dY. Edges: A, B.
static void fused_adapter_gradients(struct graph *g, const struct node *n, unsigned first,
                                    uint32_t results[])
{
    for (unsigned k = first; k < first + 2; k++) {
        const struct edge *e = &n->edges[k];
        if (e->to == GRAPH_NO_NODE)
            continue;
        uint32_t rank = graph_scratch(g, OP_MM, e->role, PART_TEMP, g->compute, SHAPE_RANK);
        results[k] = graph_scratch(g, OP_MM, e->role, k == first ? PART_A_GRAD : PART_B_GRAD,
                                   g->compute, e->shape);
        tape_unref(g->t, rank);
    }
}

// dX += (dropped != 0) * (dY @ B @ A)
static void fused_dropped_gradient(struct graph *g, const struct node *n)
{
    const struct edge *e = &n->edges[0];
    uint32_t mask = graph_scratch(g, OP_EQ, e->role, PART_MASK, DT_BYTE, e->shape);
    uint32_t rank = graph_scratch(g, OP_MM, e->role, PART_TEMP, g->compute, SHAPE_RANK);
    uint32_t wide = graph_scratch(g, OP_MM, e->role, PART_GRAD, g->compute, e->shape);
    tape_unref(g->t, rank);
    uint32_t masked = graph_scratch(g, OP_MUL, e->role, PART_GRAD, g->compute, e->shape);
    tape_unref(g->t, wide);
    tape_unref(g->t, mask);
    tape_unref(g->t, masked);
}

static uint32_t fused_input_gradient(struct graph *g, const struct node *n)
{
    return graph_scratch(g, OP_MM, n->edges[0].role, PART_GRAD, g->compute, n->edges[0].shape);
}

// Edges: X, then A and B of query, key and value. bitsandbytes' form writes dX over X.
void node_fused_qkv(struct graph *g, const struct node *n, uint32_t results[])
{
    bool over = quantized_by_bitsandbytes(g, P_Q);
    for (unsigned k = 0; k < 3; k++)
        fused_adapter_gradients(g, n, 1 + 2 * k, results);
    if (n->edges[0].to == GRAPH_NO_NODE)
        return;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t w = fused_expand(g, qkv_weights[k]), part = TAPE_NONE;
        if (k > 0) {
            part = fused_input_gradient(g, n);
        } else if (over) {
            tape_ref(g->t, n->saved[0]);
            results[0] = n->saved[0];
        } else {
            results[0] = fused_input_gradient(g, n);
        }
        tape_unref(g->t, part);
        tape_unref(g->t, w);
        fused_dropped_gradient(g, n);
    }
}

// Edges: X, A, B.
void node_fused_output(struct graph *g, const struct node *n, uint32_t results[])
{
    fused_adapter_gradients(g, n, 1, results);
    if (n->edges[0].to == GRAPH_NO_NODE)
        return;
    uint32_t w = fused_expand(g, P_O);
    results[0] = fused_input_gradient(g, n);
    tape_unref(g->t, w);
    fused_dropped_gradient(g, n);
}
