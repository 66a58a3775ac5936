// Owns the loss that multiplies the last hidden states with the head a tile at a time, keeps some
// numbers a token, and makes each tile again in backward. SRC: trl 1.16 kernels/chunked_logprob.py
// (ChunkedLogProbFunction), trainer/utils.py (add_fused_lm_head).

#include "calc/trace/loss_tiled.h"

#include "calc/trace/layers.h"
#include "calc/trace/linear.h"

#ifndef VRAM_SMALL  // the small module takes it for Liger's
static uint32_t tiled_row(struct graph *g, enum op op, uint8_t part, uint8_t dtype)
{
    return graph_scratch(g, op, ROLE_LOSS, part, dtype, SHAPE_LABELS);
}

// hidden_states[:, :-1][labels != -100]: a copy, with the rows that it took.
static struct value tiled_selected(struct graph *g, struct value x)
{
    bool whole = g->m->c.context_parallel > 1;  // the labels are shifted already
    struct value view = whole ? graph_copy(g, x) : layer_view(g, graph_copy(g, x), NODE_SLICE);
    struct value out = graph_make(g, OP_INDEX, ROLE_HEAD, PART_INPUT, x.dtype, SHAPE_LABELS_U);
    view.shape = SHAPE_SHIFTED_U;
    if (graph_needs(g, view)) {
        uint32_t rows = graph_scratch(g, OP_INDEX, ROLE_LOSS, PART_SCRATCH, DT_I64, SHAPE_LABELS);
        int32_t n = graph_node(g, NODE_INDEX, &out, 0);
        graph_save(g, n, rows);
        graph_edge(g, n, view);
        tape_unref(g->t, rows);
    }
    graph_drop(g, view);
    return out;
}

// What the tiles of one direction are made in. A variable holds the weight's part in backward, when
// the next one is made.
struct tiles {
    uint32_t tile, input, weight[2];
};

static uint32_t tiles_weight(struct graph *g)
{
    return graph_scratch(g, OP_TO_COPY, ROLE_HEAD, PART_WEIGHT_CAST, g->compute, SHAPE_TILE_W);
}

static struct tiles tiles_open(struct graph *g, uint8_t input, uint8_t weight)
{
    struct tiles t = {.tile =
                          graph_scratch(g, OP_MM, ROLE_LOGITS, PART_SELF, g->compute, SHAPE_TILE),
                      .input = TAPE_NONE,
                      .weight = {TAPE_NONE, TAPE_NONE}};
    if (input != g->compute)
        t.input =
            graph_scratch(g, OP_TO_COPY, ROLE_HEAD, PART_INPUT_CAST, g->compute, SHAPE_TILE_U);
    if (weight != g->compute)
        t.weight[0] = tiles_weight(g);
    if (weight != g->compute && g->t->backward)
        t.weight[1] = tiles_weight(g);
    return t;
}

static void tiles_close(struct graph *g, const struct tiles *t)
{
    tape_unref(g->t, t->weight[1]);
    tape_unref(g->t, t->weight[0]);
    tape_unref(g->t, t->input);
    tape_unref(g->t, t->tile);
}

struct value loss_tiled(struct graph *g, struct value x)
{
    enum { STATISTICS = 7 };
    bool selected = x.shape == SHAPE_LABELS_U;  // in a compiled graph
    struct value w = graph_param(g, true, layer_head_weight(g));
    struct value in = selected ? graph_copy(g, x) : tiled_selected(g, x);
    uint32_t targets = graph_scratch(g, OP_INDEX, ROLE_TARGETS, PART_COPY, DT_I64, SHAPE_LABELS);
    uint32_t rows[STATISTICS];
    for (unsigned k = 0; k < STATISTICS; k++)
        rows[k] = tiled_row(g, OP_ZEROS, PART_SCRATCH, DT_F32);
    struct tiles tiles = tiles_open(g, in.dtype, w.dtype);
    uint32_t log_z = tiled_row(g, OP_ADD, PART_LSE, DT_F32);
    uint32_t entropy = tiled_row(g, OP_SUB, PART_SCRATCH, DT_F32);
    struct value loss = graph_make(g, OP_SUM, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    if (graph_needs(g, in) || graph_needs(g, w)) {
        int32_t n = graph_node(g, NODE_TILED, &loss, 0);
        graph_save(g, n, in.storage);
        graph_save(g, n, w.storage);
        graph_save(g, n, targets);
        graph_save(g, n, log_z);
        graph_save(g, n, entropy);
        graph_edge(g, n, in);
        graph_edge(g, n, w);
    }
    for (unsigned k = 0; k < STATISTICS; k++)
        tape_unref(g->t, rows[k]);
    tiles_close(g, &tiles);
    tape_unref(g->t, entropy);
    tape_unref(g->t, log_z);
    tape_unref(g->t, targets);
    graph_drop(g, in);
    graph_drop(g, w);
    return loss;
}

// The gradient of an input as it is handed on, out of its sum in float32.
static uint32_t tiled_result(struct graph *g, const struct edge *to, uint8_t part, uint32_t *sum)
{
    uint32_t result = *sum;
    if (result == TAPE_NONE)
        return TAPE_NONE;
    if (to->dtype != DT_F32)
        return graph_scratch(g, OP_TO_COPY, to->role, part, to->dtype, to->shape);
    *sum = TAPE_NONE;  // it is the result
    return result;
}

// Sums in float32, whatever is multiplied; they are cast together.
void node_tiled(struct graph *g, const struct node *n, uint32_t results[])
{
    static const uint8_t part[2] = {PART_GRAD, PART_WEIGHT_GRAD};
    uint32_t sums[2] = {TAPE_NONE, TAPE_NONE};
    for (unsigned k = 0; k < 2; k++)
        if (n->edges[k].to != GRAPH_NO_NODE)
            sums[k] =
                graph_scratch(g, OP_ZEROS, n->edges[k].role, part[k], DT_F32, n->edges[k].shape);
    struct tiles tiles =
        tiles_open(g, g->t->storages[n->saved[0]].dtype, g->t->storages[n->saved[1]].dtype);
    for (unsigned k = 0; k < 2; k++)
        results[k] = tiled_result(g, &n->edges[k], part[k], &sums[k]);
    tiles_close(g, &tiles);
    tape_unref(g->t, sums[1]);
    tape_unref(g->t, sums[0]);
}
#endif
