// Owns tensor and sequence parallelism by DTensor: inputs that are gathered once and kept for
// backward, collectives along the second dimension, which copy before or after, and loss_parallel.
// SRC: torchtitan models/llama3/infra/parallelize.py (apply_tp: SequenceParallel,
// PrepareModuleInput, RowwiseParallel); pytorch torch/distributed/tensor/_redistribute.py,
// torch/distributed/_functional_collectives.py (all_gather_tensor, reduce_scatter_tensor),
// torch/distributed/tensor/parallel/loss.py; traces titan_tp_*.

#include "calc/trace/sequence.h"

bool sequence_is_gathered(const struct graph *g)
{
    return g->m->c.sequence_parallel && framework_goes(&g->m->c, BY_DTENSOR);
}

bool sequence_loss_is_divided(const struct graph *g)
{
    return g->m->c.tensor_parallel > 1 && framework_goes(&g->m->c, BY_DTENSOR);
}

#ifndef VRAM_SMALL
static uint32_t sequence_reorder(struct graph *g, uint8_t role, uint8_t dtype)
{
    return graph_scratch(g, OP_CAT, role, PART_COPY, dtype, SHAPE_U_WHOLE);
}

// SRC: pytorch torch/_utils.py, _maybe_view_chunk_cat: 2.10 has it not, 2.12 has; 2.11 was not
// looked at.
bool sequence_in_order(const struct model *m)
{
    return m->c.batch_size == 1 && m->c.torch >= 2012;
}

static uint32_t sequence_whole(struct graph *g, uint8_t role, uint8_t dtype)
{
    uint32_t parts = graph_scratch(g, OP_ALL_GATHER, role, PART_SCRATCH, dtype, SHAPE_U_WHOLE);
    if (sequence_in_order(g->m))
        return parts;
    uint32_t whole = sequence_reorder(g, role, dtype);
    tape_unref(g->t, parts);
    return whole;
}

static struct value sequence_joined(struct graph *g, struct value x, enum node_kind kind)
{
    bool in_order = sequence_in_order(g->m);
    uint32_t parts =
        in_order ? TAPE_NONE
                 : graph_scratch(g, OP_ALL_GATHER, x.role, PART_SCRATCH, x.dtype, SHAPE_U_WHOLE);
    struct value out =
        graph_make(g, in_order ? OP_ALL_GATHER : OP_CAT, x.role, PART_COPY, x.dtype, SHAPE_U_WHOLE);
    tape_unref(g->t, parts);
    graph_follow(g, kind, &out, x);
    return out;
}

struct value sequence_gather(struct graph *g, struct value x)
{
    return sequence_joined(g, x, NODE_SEQUENCE);
}

struct value sequence_gather_local(struct graph *g, struct value x)
{
    return sequence_joined(g, x, NODE_SEQUENCE_PART);
}

struct value sequence_scatter(struct graph *g, struct value x)
{
    uint32_t ordered = sequence_reorder(g, x.role, x.dtype);
    struct value out = graph_make(g, OP_REDUCE_SCATTER, x.role, PART_OUTPUT, x.dtype, SHAPE_U);
    graph_follow(g, NODE_SEQUENCE, &out, x);
    tape_unref(g->t, ordered);
    return out;
}

// Backward of each is the other.
void node_sequence(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edges[0].shape == SHAPE_U_WHOLE) {
        results[0] = sequence_whole(g, n->role, n->dtype);
        return;
    }
    uint32_t ordered = sequence_reorder(g, n->role, n->dtype);
    results[0] =
        graph_scratch(g, OP_REDUCE_SCATTER, n->edges[0].role, PART_GRAD, n->dtype, SHAPE_U);
    tape_unref(g->t, ordered);
}

void node_sequence_part(struct graph *g, const struct node *n, uint32_t results[])
{
    results[0] = graph_scratch(g, OP_CLONE, n->edges[0].role, PART_GRAD, n->dtype, SHAPE_U);
}

void sequence_rows(struct graph *g, uint32_t held[2])
{
    held[0] = graph_scratch(g, OP_INDEX, ROLE_WTE, PART_SCRATCH, g->residual, SHAPE_U_WHOLE);
    held[1] = sequence_reorder(g, ROLE_WTE, g->residual);
}

// Sorted indices, where they were, their segments.
#define SEQUENCE_INDICES 5

// The gradient is gathered and gone when the rows are added up. SRC: pytorch
// torch/distributed/tensor/_ops/_embedding_ops.py (embedding_dense_backward_strategy: no rule for
// divided rows), whose num_weights is a plain number and stays whole; traces titan_tp_*.
uint32_t sequence_words(struct graph *g, uint8_t role, uint8_t dtype)
{
    uint32_t whole = sequence_whole(g, role, dtype), indices[SEQUENCE_INDICES];
    if (!graph_ok(g))
        return TAPE_NONE;
    struct node *n = &g->nodes[g->running];
    tape_unref(g->t, n->gradient[0]);
    n->gradient[0] = TAPE_NONE;
    uint32_t words =
        graph_scratch(g, OP_EMBEDDING_BACKWARD, role, PART_SCRATCH, dtype, SHAPE_W_WORDS);
    for (unsigned i = 0; i < SEQUENCE_INDICES; i++)
        indices[i] = graph_scratch(g, OP_EMBEDDING_BACKWARD, role, PART_TEMP, DT_I64, SHAPE_TOKENS);
    tape_unref(g->t,
               graph_scratch(g, OP_EMBEDDING_BACKWARD, role, PART_TEMP, DT_F32, SHAPE_WORD_SUMS));
    for (unsigned i = 0; i < SEQUENCE_INDICES; i++)
        tape_unref(g->t, indices[i]);
    tape_unref(g->t, whole);
    return words;
}

// shifted = x - max; result = shifted - log(sum(exp(shifted))): the first is a variable to the end.
struct value sequence_log_softmax(struct graph *g, struct value logits)
{
    uint32_t numbers[3];  // the largest, the sum of powers, its logarithm
    for (unsigned i = 0; i < 3; i++)
        numbers[i] = graph_scratch(g, OP_MAX, ROLE_LOSS, PART_SCRATCH, logits.dtype, SHAPE_TOKENS);
    uint32_t shifted =
        graph_scratch(g, OP_SUB, ROLE_LOGITS, PART_SCRATCH, logits.dtype, logits.shape);
    tape_unref(g->t,
               graph_scratch(g, OP_POW, ROLE_LOGITS, PART_SCRATCH, logits.dtype, logits.shape));
    struct value log =
        graph_make(g, OP_SUB, ROLE_LOGITS, PART_LOG_SOFTMAX, logits.dtype, logits.shape);
    tape_unref(g->t, shifted);
    for (unsigned i = 0; i < 3; i++)
        tape_unref(g->t, numbers[i]);
    return log;
}

// SRC: pytorch torch/distributed/tensor/parallel/loss.py as Inductor compiles it; traces titan_tp_*
// of a compiled loss.
struct value sequence_loss_compiled(struct graph *g, struct value logits)
{
    uint32_t numbers[3];  // the largest, the sum of powers, its logarithm
    for (unsigned i = 0; i < 2; i++)
        numbers[i] = graph_scratch(g, OP_TRITON, ROLE_LOSS, PART_SCRATCH, DT_F32, SHAPE_TOKENS);
    uint32_t shifted = graph_scratch(g, OP_TRITON, ROLE_LOGITS, PART_SCRATCH, DT_F32, logits.shape);
    numbers[2] = graph_scratch(g, OP_TRITON, ROLE_LOSS, PART_SCRATCH, DT_F32, SHAPE_TOKENS);
    uint32_t here = graph_scratch(g, OP_TRITON, ROLE_LOSS, PART_MASK, DT_BYTE, SHAPE_TOKENS);
    struct value loss = graph_make(g, OP_TRITON, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    tape_unref(g->t, numbers[2]);
    uint32_t log = graph_scratch(g, OP_TRITON, ROLE_LOGITS, PART_LOG_SOFTMAX, DT_F32, logits.shape);
    tape_unref(g->t, numbers[0]);
    tape_unref(g->t, shifted);
    tape_unref(g->t, numbers[1]);
    if (graph_needs(g, logits)) {
        int32_t n = graph_node(g, NODE_INPLACE, &loss, 0);
        graph_save(g, n, log);
        graph_save(g, n, here);
        graph_edge(g, n, logits);
    }
    tape_unref(g->t, here);
    tape_unref(g->t, log);
    return loss;
}

// Variables of the function, a number a token each: the targets, those of this GPU's words, which
// ones these are, the rows' numbers, what is put there, and the incoming gradient.
#define SEQUENCE_NUMBERS 6

static void sequence_numbers(struct graph *g, uint32_t numbers[SEQUENCE_NUMBERS])
{
    static const uint8_t dtypes[SEQUENCE_NUMBERS] = {DT_I64, DT_I64, DT_BYTE,
                                                     DT_I64, DT_F32, DT_F32};
    for (unsigned i = 0; i < SEQUENCE_NUMBERS; i++)
        numbers[i] = graph_scratch(g, OP_WHERE, ROLE_LOSS, PART_SCRATCH, dtypes[i], SHAPE_TOKENS);
}

// (grad_input + exp(x)) * grad_output: zeros with ones in their places are a variable, too.
uint32_t sequence_nll_gradient(struct graph *g, const struct node *n)
{
    const struct edge *e = &n->edges[0];
    uint32_t numbers[SEQUENCE_NUMBERS];
    sequence_numbers(g, numbers);
    uint32_t zeros = graph_scratch(g, OP_ZEROS, e->role, PART_GRAD, e->dtype, e->shape);
    uint32_t power = graph_scratch(g, OP_POW, e->role, PART_SCRATCH, e->dtype, e->shape);
    uint32_t sum = graph_scratch(g, OP_ADD, e->role, PART_SCRATCH, e->dtype, e->shape);
    tape_unref(g->t, power);
    uint32_t out = graph_scratch(g, OP_MUL, e->role, PART_GRAD, e->dtype, e->shape);
    tape_unref(g->t, sum);
    tape_unref(g->t, zeros);
    for (unsigned i = 0; i < SEQUENCE_NUMBERS; i++)
        tape_unref(g->t, numbers[i]);
    return out;
}
#endif
