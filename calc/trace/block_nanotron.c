// Owns nanotron's decoder layer and loss: what each function holds, and until when.
// SRC: nanotron src/nanotron/models/llama.py (LlamaDecoderLayer,
// CausalSelfAttention._forward_training, MLP, Loss), nn/layer_norm.py (TritonRMSNorm),
// parallel/tensor_parallel/functional.py (_ShardedCrossEntropy, column and row linear);
// flash-attention flash_attn/ops/triton/layer_norm.py, layers/rotary.py.

#include "calc/trace/block_nanotron.h"

#include "calc/trace/attention.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"

// The rows of this part of the vocabulary, then the same with zeros for the others', then each
// GPU's part of the sum.
struct value nanotron_embedding(struct graph *g, uint32_t ids)
{
    if (g->m->c.tensor_parallel == 1)
        return layer_embedding(g, ids, P_WTE, SHAPE_U);
    uint32_t rows =
        graph_scratch(g, OP_EMBEDDING, ROLE_WTE, PART_SCRATCH, g->residual, SHAPE_U_WHOLE);
    uint32_t masked = graph_sent(g, OP_MUL, ROLE_WTE, g->residual);
    tape_unref(g->t, rows);
    struct value out = layer_embedding(g, ids, P_WTE, SHAPE_U);
    tape_unref(g->t, masked);
    return out;
}

// Each GPU's part of the sequence is gathered, into memory of its own; then the same with zeros for
// the others' rows. SRC: nanotron parallel/tensor_parallel/nn.py (TensorParallelEmbedding),
// distributed_differentiable_primitives.py (DifferentiableReduceScatterSum.backward).
uint32_t nanotron_embedding_gradient(struct graph *g, const struct node *n)
{
    if (g->m->c.tensor_parallel == 1)
        return TAPE_NONE;
    uint32_t whole = graph_sent(g, OP_ALL_GATHER, n->role, n->dtype);
    graph_taken(g, n->gradient[0]);
    uint32_t masked = graph_scratch(g, OP_MUL, n->role, PART_GRAD, n->dtype, SHAPE_U_WHOLE);
    tape_unref(g->t, whole);
    return masked;
}

// layer_norm_fn(x, weight): without a residual of its own the kernel keeps its input.
struct value nanotron_norm(struct graph *g, struct value x, bool global, uint16_t number)
{
    struct value w = graph_param(g, global, number);
    struct value out = graph_make(g, OP_TRITON, w.role, PART_OUTPUT, x.dtype, x.shape);
    graph_taken(g, out.storage);
    uint32_t rstd = graph_scratch(g, OP_TRITON, w.role, PART_RSTD, DT_F32, SHAPE_TOKENS_SHARE);
    if (graph_needs(g, x) || graph_needs(g, w)) {
        int32_t n = graph_node(g, NODE_RMS_NORM, &out, 0);
        graph_save(g, n, x.storage);
        graph_save(g, n, rstd);
        graph_edge(g, n, x);
        graph_edge(g, n, w);
    }
    tape_unref(g->t, rstd);
    graph_drop(g, w);
    return out;
}

// Numbers in another order: permute(...).contiguous(). Where the copy is only permuted back its
// gradient is copied, too.
static struct value permuted(struct graph *g, struct value x, enum node_kind kind)
{
    struct value out = graph_make(g, OP_CLONE, x.role, PART_COPY, x.dtype, x.shape);
    graph_follow(g, kind, &out, x);
    return out;
}

// cat of key and value: the gradient of the whole is theirs by views.
static struct value joined(struct graph *g, struct value key, struct value value)
{
    struct value out = graph_make(g, OP_CAT, ROLE_K, PART_COPY, key.dtype, SHAPE_KV2);
    if (graph_needs(g, key)) {
        int32_t n = graph_node(g, NODE_ADD, &out, 0);
        key.shape = value.shape = SHAPE_KV2;
        graph_edge(g, n, key);
        graph_edge(g, n, value);
    }
    return out;
}

// Query, and key with value, are rotated in place: the first keeps the whole permuted projection.
// The projection's own result is a variable of the function. With several sequences the attention's
// result is a transposed view, which a product copies.
static struct value nanotron_attention(struct graph *g, struct value x)
{
    static const shape_id shapes[3] = {SHAPE_Q, SHAPE_KV, SHAPE_KV};
    struct value part[3], both[2], fused = layer_linear(g, x, P_QKV, SHAPE_QKV);
    struct value copy = permuted(g, fused, NODE_VIEW);
    layer_split(g, copy, 3, shapes, part);
    graph_drop(g, copy);
    struct value cat = joined(g, part[1], part[2]), pair = permuted(g, cat, NODE_CLONE);
    graph_drop(g, cat);
    layer_split2(g, pair, SHAPE_KV, both);
    struct value y = layer_attention(g, part[0], both[0], both[1]);
    uint32_t order = g->m->c.batch_size > 1
                         ? graph_scratch(g, OP_CLONE, ROLE_ATTENTION, PART_COPY, y.dtype, SHAPE_Q)
                         : TAPE_NONE;
    struct value out = layer_linear(g, y, P_O, SHAPE_U);
    tape_unref(g->t, order);
    graph_drop(g, y);
    graph_drop(g, both[0]);
    graph_drop(g, both[1]);
    graph_drop(g, pair);
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, part[k]);
    graph_drop(g, fused);
    return out;
}

// down(silu(gate) * up); gate and up are halves of one projection, a variable until the product is
// there.
static struct value nanotron_mlp(struct graph *g, struct value x)
{
    struct value half[2], both = layer_linear(g, x, P_UP, SHAPE_FF2);
    layer_split2(g, both, SHAPE_FF, half);
    struct value active = layer_activation(g, half[0], false);
    struct value product = layer_mul(g, active, half[1], ROLE_MLP_PROJ, PART_INPUT);
    graph_drop(g, active);
    graph_drop(g, half[0]);
    graph_drop(g, half[1]);
    struct value out = layer_linear(g, product, P_DOWN, SHAPE_U);
    graph_drop(g, product);
    graph_drop(g, both);
    return out;
}

// The attention's result is in a dictionary of the layer's until it returns.
struct value block_nanotron(struct graph *g, struct value x)
{
    struct value normed = nanotron_norm(g, x, false, P_LN1),
                 attended = nanotron_attention(g, normed);
    graph_drop(g, normed);
    struct value middle = layer_add(g, attended, x, ROLE_RESID1);
    normed = nanotron_norm(g, middle, false, P_LN2);
    struct value y = nanotron_mlp(g, normed);
    graph_drop(g, normed);
    struct value out = layer_add(g, y, middle, ROLE_RESID2);
    graph_drop(g, y);
    graph_drop(g, middle);
    graph_drop(g, attended);
    return out;
}

// The logits in float32, which the model's caller holds until it returns; less their maximum: a
// second tensor, in which the exponentials, the softmax and at last its gradient are made.
struct value loss_nanotron(struct graph *g, struct value x, uint32_t targets)
{
    struct value low = layer_head(g, x);
    struct value wide = graph_to(g, low, DT_F32, PART_UPCAST);
    graph_drop(g, low);
    struct value softmax = graph_make(g, OP_SUB, ROLE_LOGITS, PART_SOFTMAX, DT_F32, SHAPE_NV);
    struct value loss = graph_make(g, OP_MEAN, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    uint32_t mask = graph_scratch(g, OP_EQ, ROLE_TARGETS, PART_MASK, DT_BYTE, SHAPE_TOKENS);
    uint32_t masked = graph_scratch(g, OP_SUB, ROLE_TARGETS, PART_COPY, DT_I64, SHAPE_TOKENS);
    if (graph_needs(g, wide)) {
        int32_t n = graph_node(g, NODE_SHARDED_LOSS, &loss, 0);
        graph_save(g, n, softmax.storage);
        graph_save(g, n, mask);
        graph_save(g, n, masked);
        graph_edge(g, n, wide);
    }
    tape_unref(g->t, masked);
    tape_unref(g->t, mask);
    graph_drop(g, softmax);
    graph_drop(g, wide);
    (void)targets;
    return loss;
}

static uint32_t made(struct graph *g, const struct node *n, unsigned edge, enum op op, uint8_t part)
{
    const struct edge *e = &n->edges[edge];
    return edge < n->edge_count && e->to != GRAPH_NO_NODE
               ? graph_scratch(g, op, e->role, part, e->dtype, e->shape)
               : TAPE_NONE;
}

// Edges: input, weight.
void node_rms_norm(struct graph *g, const struct node *n, uint32_t results[])
{
    results[0] = made(g, n, 0, OP_TRITON, PART_GRAD);
    results[1] = made(g, n, 1, OP_SUM, PART_WEIGHT_GRAD);
}

// grad_input = softmax: the saved tensor itself.
void node_sharded_loss(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edges[0].to == GRAPH_NO_NODE)
        return;
    tape_ref(g->t, n->saved[0]);
    results[0] = n->saved[0];
}
