// Owns what each autograd node allocates when it runs backward. Outputs are made in the order of
// PyTorch's generated code: a node's inputs by the alphabet of their names (mat1 mat2 self, other
// self). SRC: pytorch tools/autograd/derivatives.yaml and the Functions.cpp generated from it.

#include "calc/trace/nodes.h"

#include "calc/trace/attention.h"
#include "calc/trace/attention_latent.h"
#include "calc/trace/attention_ring.h"
#include "calc/trace/block_bloom.h"
#include "calc/trace/block_compiled.h"
#include "calc/trace/block_llama4.h"
#include "calc/trace/block_nanotron.h"
#include "calc/trace/block_traced.h"
#include "calc/trace/layers_delta.h"
#include "calc/trace/nodes_streams.h"
#include "calc/trace/layers_fused.h"
#include "calc/trace/layers_lora_fused.h"
#include "calc/trace/layers_mixer.h"
#include "calc/trace/layers_xielu.h"
#include "calc/trace/linear_float8.h"
#include "calc/trace/layers_grouped.h"
#include "calc/trace/layers_wrapped.h"
#include "calc/trace/layers_permuted.h"
#include "calc/trace/loss_chunked.h"
#include "calc/trace/loss_tiled.h"
#include "calc/trace/loss_inplace.h"
#include "calc/trace/loss_output.h"
#include "calc/trace/loss_preference.h"
#include "calc/trace/nodes_llama.h"
#include "calc/trace/parallel.h"
#include "calc/trace/quantized.h"
#include "calc/trace/sequence.h"

static bool node_wants(const struct node *n, unsigned edge)
{
    return edge < n->edge_count && n->edges[edge].to != GRAPH_NO_NODE;
}

static uint32_t node_make(struct graph *g, enum op op, const struct edge *e, uint8_t part,
                          uint8_t dtype)
{
    return graph_scratch(g, op, e->role, part, dtype, e->shape);
}

// Hands the incoming gradient on to an edge without a copy.
static void node_pass(struct graph *g, const struct node *n, unsigned edge, uint32_t results[])
{
    if (node_wants(n, edge))
        tape_ref(g->t, results[edge] = n->gradient[0]);
}

// A gradient of the size and format of the edge, by one operation.
static void node_one(struct graph *g, const struct node *n, unsigned edge, enum op op,
                     uint32_t results[])
{
    if (node_wants(n, edge))
        results[edge] = node_make(g, op, &n->edges[edge], PART_GRAD, n->edges[edge].dtype);
}

// The part of a parameter's gradient: in low precision while the parameter is not.
static uint8_t node_weight_part(const struct graph *g, const struct edge *e, bool bias)
{
    if (g->autocast && e->dtype == DT_LOW)
        return bias ? PART_BIAS_GRAD_LOW : PART_WEIGHT_GRAD_LOW;
    return bias ? PART_BIAS_GRAD : PART_WEIGHT_GRAD;
}

static void node_weight(struct graph *g, const struct node *n, unsigned edge, enum op op, bool bias,
                        uint32_t results[])
{
    const struct edge *e = &n->edges[edge];
    if (node_wants(n, edge))
        results[edge] = node_make(g, op, e, node_weight_part(g, e, bias), e->dtype);
}

// With sequence_parallel: the whole sequence of the input (for the weight's gradient) or of the
// incoming gradient, and the input's gradient before it is divided.
static void node_whole(struct graph *g, const struct node *n, uint32_t whole[2])
{
    bool column = n->edges[0].shape == SHAPE_U && n->shape != SHAPE_U;
    bool row = n->edges[0].shape != SHAPE_U && n->shape == SHAPE_U;
    whole[0] = whole[1] = TAPE_NONE;
    if (!g->m->c.sequence_parallel || !(column || row))
        return;
    if (!graph_is_nanotron(g))  // it gathers into buffers that stay
        whole[0] = graph_sent(g, OP_ALL_GATHER, n->role, n->dtype);
    if (column)
        whole[1] = graph_sent(g, OP_MM, n->role, n->dtype);
}

// nanotron's linear layers make the input's gradient first; the attention's result is a transposed
// view, which is copied where there are several sequences. The collective takes the input's
// gradient, or the incoming one.
static void node_nanotron_mm(struct graph *g, const struct node *n, const uint32_t whole[2],
                             uint32_t results[])
{
    bool turned = n->role == ROLE_ATTN_PROJ && g->m->c.batch_size > 1;
    node_one(g, n, 0, OP_MM, results);
    graph_taken(g, whole[1] != TAPE_NONE ? results[0]
                   : n->shape == SHAPE_U ? n->gradient[0]
                                         : TAPE_NONE);
    uint32_t order =
        turned ? graph_scratch(g, OP_CLONE, n->role, PART_COPY, n->dtype, SHAPE_Q) : TAPE_NONE;
    node_weight(g, n, 1, OP_MM, false, results);
    tape_unref(g->t, order);
}

// torchtune calls its head once a chunk: the first two of the weight's gradients, views, are there
// with their sum. SRC: torchtune modules/transformer.py, chunked_output; traces tune_full*.
static void node_sum_chunks(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->role != ROLE_LOGITS || !loss_output_sums(g) || !node_wants(n, 1))
        return;
    uint32_t weight[2] = {results[1], TAPE_NONE};
    loss_output_chunk_goes(g, 0);
    node_weight(g, n, 1, OP_MM, false, results);
    weight[1] = results[1];
    loss_output_chunk_goes(g, 1);
    node_weight(g, n, 1, OP_ADD, false, results);
    tape_unref(g->t, weight[0]);
    tape_unref(g->t, weight[1]);
}

// Edges: self, mat2.
static void node_mm(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t whole[2];
    node_whole(g, n, whole);
    if (graph_is_nanotron(g)) {
        node_nanotron_mm(g, n, whole, results);
    } else {
        node_weight(g, n, 1, OP_MM, false, results);
        node_sum_chunks(g, n, results);
        node_one(g, n, 0, OP_MM, results);
    }
    graph_mark_view(g, results[0]);
    if (n->role != ROLE_LOGITS || !loss_inplace_has_head(g))
        graph_mark_view(g, results[1]);
    tape_unref(g->t, whole[0]);
    tape_unref(g->t, whole[1]);
}

// Edges: mat1, mat2, self (the bias), whose gradient is summed when the function has returned: what
// a checkpointed block made again for it is gone by then. SRC: pytorch
// torch/csrc/autograd/engine.cpp, call_function (validate_outputs).
static void node_addmm(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t whole[2];
    node_whole(g, n, whole);
    node_one(g, n, 0, OP_MM, results);
    node_weight(g, n, 1, OP_MM, false, results);
    graph_mark_view(g, results[0]);
    graph_mark_view(g, results[1]);
    if (n->frame >= 0)
        graph_saved_go(g);
    if (node_wants(n, 2))
        results[2] = graph_sum(g, n->edges[2].role, node_weight_part(g, &n->edges[2], true),
                               n->edges[2].dtype, n->shape, n->edges[2].shape);
    tape_unref(g->t, whole[0]);
    tape_unref(g->t, whole[1]);
}

// Two products of activations. Edges: self, mat2.
static void node_bmm(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 1, OP_BMM, results);
    node_one(g, n, 0, OP_BMM, results);
}

// A cast of a weight gives its gradient in the weight's own format.
static void node_to_copy(struct graph *g, const struct node *n, uint32_t results[])
{
    const struct edge *e = &n->edges[0];
    uint8_t part = PART_GRAD_CAST;
    if (!node_wants(n, 0))
        return;
    // a parameter's, and not that of the input of a block that is recomputed
    if (g->nodes[e->to].kind == NODE_ACCUMULATE && g->nodes[e->to].param != GRAPH_NO_PARAM)
        part = g->nodes[e->to].extra == PART_BIAS ? PART_BIAS_GRAD : PART_WEIGHT_GRAD;
    results[0] = node_make(g, OP_TO_COPY, e, part, e->dtype);
}

static void node_add(struct graph *g, const struct node *n, uint32_t results[])
{
    node_pass(g, n, 0, results);
    node_pass(g, n, 1, results);
}

static void node_same(struct graph *g, const struct node *n, uint32_t results[])
{
    node_pass(g, n, 0, results);
}

// Edges: input, weight, bias.
static void node_layer_norm(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_LAYER_NORM_BACKWARD, results);
    node_weight(g, n, 1, OP_LAYER_NORM_BACKWARD, false, results);
    node_weight(g, n, 2, OP_LAYER_NORM_BACKWARD, true, results);
}

static void node_gelu(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_GELU_BACKWARD, results);
}

// The reference values come from a run that took SiLU's twice differentiable formula inside of
// checkpointed blocks: grad * s * (1 + x * (1 - s)) with every temporary alive to the end. Seen in
// the peak, which is larger by those.
static void node_silu(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t temporary[5] = {TAPE_NONE};
    bool formula = g->m->c.mode == MODE_REFERENCE && g->m->c.checkpointing && node_wants(n, 0);
    for (unsigned k = 0; formula && k < 5; k++)
        temporary[k] = node_make(g, OP_MUL, &n->edges[0], PART_TEMP, n->dtype);
    node_one(g, n, 0, formula ? OP_MUL : OP_SILU_BACKWARD, results);
    for (unsigned k = 0; k < 5; k++)
        tape_unref(g->t, temporary[k]);
}

static void node_dropout(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_DROPOUT_BACKWARD, results);
}

// Grouped keys and values: the kernel writes their gradients for every head, a sum over the group
// follows.
static void sdpa_wide(struct graph *g, const struct node *n, uint32_t wide[2])
{
    bool keys = n->edges[1].shape == SHAPE_KV;
#ifndef VRAM_SMALL
    keys = keys || n->edges[1].shape == SHAPE_G_KV;
#endif
    bool grouped = keys && g->m->c.n_kv_head != g->m->c.n_head;
    for (unsigned k = 0; k < 2; k++)
        wide[k] = grouped ? graph_scratch(g, OP_NEW_EMPTY, n->role, PART_SCRATCH, n->dtype, SHAPE_Q)
                          : TAPE_NONE;
}

static uint32_t sdpa_scratch(struct graph *g, const struct node *n, enum op op, uint8_t dtype,
                             shape_id shape)
{
    return graph_scratch(g, op, n->role, PART_SCRATCH, dtype, shape);
}

// dq, dk, dv in the compute format, row sums, and dq once more in float32.
// SRC: flash-attention csrc/flash_attn/flash_api.cpp mha_bwd.
static void sdpa_flash(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t wide[2], copy = n->extra & ATTENTION_HEADS_FIRST
                                 ? sdpa_scratch(g, n, OP_CLONE, n->dtype, n->shape)
                                 : TAPE_NONE;
    for (unsigned k = 0; k < 3; k++)
        node_one(g, n, k, OP_NEW_EMPTY, results);
    uint32_t rows = sdpa_scratch(g, n, OP_NEW_EMPTY, DT_F32, SHAPE_LSE128);
    uint32_t sum = sdpa_scratch(g, n, OP_NEW_EMPTY, DT_F32, SHAPE_DQ_ACC);
    sdpa_wide(g, n, wide);
    tape_unref(g->t, wide[1]);
    tape_unref(g->t, wide[0]);
    tape_unref(g->t, sum);
    tape_unref(g->t, rows);
    tape_unref(g->t, copy);
}

// dq is summed in float32 tiles. The sums over do * o are operations of their own where the
// operands are in float32. SRC: pytorch
// aten/src/ATen/native/transformers/cuda/attention_backward.cu, _efficient_attention_backward.
static void sdpa_efficient(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t wide[2];
    for (unsigned k = 0; k < 3; k++)
        node_one(g, n, k, OP_NEW_EMPTY, results);
    if (!graph_has(g, TRAIT_KERNEL_SCRATCH)) {
        uint32_t rows = sdpa_scratch(g, n, OP_NEW_EMPTY, DT_F32, SHAPE_LSE);
        sdpa_wide(g, n, wide);
        tape_unref(g->t, rows);
    } else if (n->dtype != DT_F32) {  // the kernel makes the sums itself
        sdpa_wide(g, n, wide);
        uint32_t rows = sdpa_scratch(g, n, OP_NEW_EMPTY, DT_F32, SHAPE_LSE);
        uint32_t tiles = sdpa_scratch(g, n, OP_NEW_EMPTY, DT_F32, node_sdpa_tiles(n));
        tape_unref(g->t, tiles);
        tape_unref(g->t, rows);
    } else {
        sdpa_wide(g, n, wide);
        uint32_t product = sdpa_scratch(g, n, OP_MUL, n->dtype, n->shape);
        uint32_t sum = sdpa_scratch(g, n, OP_SUM, DT_F32, SHAPE_LSE);
        uint32_t rows = sdpa_scratch(g, n, OP_CLONE, DT_F32, SHAPE_LSE);
        tape_unref(g->t, sum);
        tape_unref(g->t, product);
        uint32_t tiles = sdpa_scratch(g, n, OP_NEW_EMPTY, DT_F32, node_sdpa_tiles(n));
        tape_unref(g->t, rows);
        tape_unref(g->t, tiles);
    }
    tape_unref(g->t, wide[1]);
    tape_unref(g->t, wide[0]);
}

static void node_sdpa(struct graph *g, const struct node *n, uint32_t results[])
{
    if ((n->extra & ~ATTENTION_HEADS_FIRST) == ATTENTION_FLASH)
        sdpa_flash(g, n, results);
    else if (g->m->features & HAS_LATENT)
        node_sdpa_latent(g, n, results);
    else
        sdpa_efficient(g, n, results);
}

// transpose and view: the gradient's numbers are in another order, and are copied.
static void node_view(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_CLONE, results);
}

// A part of a tensor: zeros of the whole, the gradient in its place.
static void node_slice(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_ZEROS, results);
}

// The three parts of a fused projection come back as one.
static void node_split(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_CAT, results);
}

static void node_embedding(struct graph *g, const struct node *n, uint32_t results[])
{
    bool nanotron = MODEL_IS_WHOLE && graph_is_nanotron(g);
    bool gathered = MODEL_IS_WHOLE && sequence_is_gathered(g);
    uint32_t masked = nanotron   ? nanotron_embedding_gradient(g, n)
                      : gathered ? sequence_words(g, n->role, n->dtype)
                                 : TAPE_NONE;
#ifndef VRAM_SMALL
    masked = traced_words(g, n, masked);
#endif
    node_weight(g, n, 0, OP_EMBEDDING_BACKWARD, false, results);
    tape_unref(g->t, masked);
}

static void node_log_softmax(struct graph *g, const struct node *n, uint32_t results[])
{
    if (MODEL_IS_WHOLE && sequence_loss_is_divided(g))
        node_same(g, n, results);  // the loss's gradient is that of both
    else
        node_one(g, n, 0, OP_LOG_SOFTMAX_BACKWARD, results);
}

static void node_nll(struct graph *g, const struct node *n, uint32_t results[])
{
    if (MODEL_IS_WHOLE && sequence_loss_is_divided(g))
        results[0] = sequence_nll_gradient(g, n);
    else
        node_one(g, n, 0, OP_NLL_BACKWARD, results);
}

static void node_div(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_DIV, results);
}

static void node_scale(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_MUL, results);
}

// Edges: self, other; the generated code makes other's gradient first.
static void node_mul(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 2; k-- > 0;)
        if (node_wants(n, k))
            results[k] = graph_scratch(g, OP_MUL, n->edges[k].role, PART_GRAD, n->dtype, n->shape);
}

static void node_masked_fill(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_MASKED_FILL, results);
}

static void node_softmax(struct graph *g, const struct node *n, uint32_t results[])
{
    node_one(g, n, 0, OP_SOFTMAX_BACKWARD, results);
    if (g->m->c.mode != MODE_REFERENCE && node_wants(n, 0))  // grad * output
        tape_unref(g->t, graph_scratch(g, OP_MUL, n->role, PART_SCRATCH, n->dtype, n->shape));
}

static node_fn *const node_table[NODE_COUNT] = {
    [NODE_MM] = node_mm,
    [NODE_COMPILED_BLOCK] = node_compiled_block,
    [NODE_ADDMM] = node_addmm,
    [NODE_BMM] = node_bmm,
    [NODE_TO_COPY] = node_to_copy,
    [NODE_ADD] = node_add,
    [NODE_CLONE] = node_same,
    [NODE_PASS] = node_same,
    [NODE_LAYER_NORM] = node_layer_norm,
    [NODE_GELU] = node_gelu,
    [NODE_SILU] = node_silu,
    [NODE_DROPOUT] = node_dropout,
    [NODE_SDPA] = node_sdpa,
    [NODE_SPLIT] = node_split,
    [NODE_VIEW] = node_view,
    [NODE_SLICE] = node_slice,
    [NODE_EMBEDDING] = node_embedding,
    [NODE_LOG_SOFTMAX] = node_log_softmax,
    [NODE_NLL] = node_nll,
    [NODE_DIV] = node_div,
    [NODE_SCALE] = node_scale,
    [NODE_MUL] = node_mul,
    [NODE_MASKED_FILL] = node_masked_fill,
    [NODE_SOFTMAX] = node_softmax,
    [NODE_NEG] = node_neg,
    [NODE_RMS_NORM] = node_rms_norm,
    [NODE_SHARDED_LOSS] = node_sharded_loss,
    [NODE_POW] = node_pow,
    [NODE_MEAN] = node_mean,
    [NODE_RSQRT] = node_rsqrt,
    [NODE_REPEAT] = node_repeat,
    [NODE_CAT] = node_cat,
    [NODE_JOIN] = node_join,
    [NODE_SUB] = node_sub,
    [NODE_MAX] = node_scatter,
    [NODE_ROUTE] = node_route,
    [NODE_GROUPED_MM] = node_grouped_mm,
    [NODE_COPY_SLICE] = node_copy_slice,
    [NODE_CLAMP] = node_clamp,
    [NODE_SIGMOID] = node_sigmoid,
    [NODE_SUM] = node_spread,
    [NODE_TANH] = node_tanh,
    [NODE_TOPK] = node_scatter,
    [NODE_INDEX] = node_scatter,
    [NODE_INDEX_ADD] = node_index_add,
    [NODE_INDEX_COPY] = node_index_copy,
    [NODE_LOSS_CHUNKS] = node_loss_chunks,
    [NODE_QUANTIZED] = node_quantized,
    [NODE_FUSED_LOSS] = node_fused_loss,
    [NODE_INPLACE] = node_inplace,
    [NODE_CCE] = node_cut_loss,
#ifndef VRAM_SMALL
    [NODE_EXP] = node_exp,
    [NODE_RING] = node_sdpa_ring,
    [NODE_CUMSUM] = node_cumsum,
    [NODE_SOLVE] = node_solve,
    [NODE_SELECT] = node_slice,
    [NODE_EXPAND] = node_expand,
    [NODE_TURNED] = node_turned,
    [NODE_DELTA_BMM] = node_delta_bmm,
    [NODE_CONV] = node_conv,
    [NODE_NOISE] = node_noise,
    [NODE_NOISE_VIEW] = node_noise_view,
    [NODE_MIXER] = node_mixer,
    [NODE_SOFTPLUS] = node_softplus,
    [NODE_WHERE] = node_where,
    [NODE_MINIMUM] = node_minimum,
    [NODE_EXPM1] = node_expm1,
    [NODE_BADDBMM] = node_baddbmm,
    [NODE_GELU_FUNCTION] = node_gelu_function,
    [NODE_EXPERTS_BMM] = node_experts_bmm,
    [NODE_FOLD] = node_fold,
    [NODE_GATHER_SHARES] = node_gather_shares,
    [NODE_RELU] = node_relu,
    [NODE_GATHER_ROWS] = node_gather_rows,
    [NODE_SELECTIVE] = node_selective,
    [NODE_TILED] = node_tiled,
    [NODE_SEQUENCE] = node_sequence,
    [NODE_SEQUENCE_PART] = node_sequence_part,
    [NODE_DIV_BOTH] = node_div_both,
    [NODE_SQUARE_ROOT] = node_square_root,
    [NODE_STD] = node_std,
    [NODE_TAIL_ADD] = node_tail_add,
    [NODE_TAIL_COPY] = node_tail_copy,
    [NODE_WHOLE_ADD] = node_whole_add,
    [NODE_EXPERTS_GATHER] = node_experts_gather,
    [NODE_EXPERTS_RESHARD] = node_experts_reshard,
    [NODE_ALL_TO_ALL] = node_all_to_all,
    [NODE_ALL_REDUCE] = node_all_reduce,
    [NODE_NARROWED] = node_narrowed,
    [NODE_INDEX_PUT] = node_index_put,
    [NODE_FLOAT8] = node_float8,
#endif
    [NODE_FUSED_NORM] = node_fused_norm,
    [NODE_FUSED_SWIGLU] = node_fused_swiglu,
    [NODE_FUSED_QKV] = node_fused_qkv,
    [NODE_FUSED_OUTPUT] = node_fused_output,
    [NODE_LORA_FUSED] = node_lora_fused,
    [NODE_GATHER] = node_gather,
    [NODE_RESHARD] = node_reshard,
};

void node_run(struct graph *g, int32_t i, uint32_t results[GRAPH_EDGES])
{
    struct node n = g->nodes[i];  // a checkpointed block adds nodes, which may move the array
    node_fn *run = n.kind == NODE_CHECKPOINT ? g->calls->run : node_table[n.kind];
    g->running = i;
    if (run && graph_ok(g))
        run(g, &n, results);
}
