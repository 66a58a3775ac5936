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

uint32_t sequence_whole(struct graph *g, uint8_t role, uint8_t dtype)
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
