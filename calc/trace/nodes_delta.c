// Owns what the autograd nodes of a gated delta rule allocate when they run backward.
// SRC: pytorch tools/autograd/derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp.
#ifndef VRAM_SMALL

#include "calc/trace/layers_delta.h"

static bool wanted(const struct node *n, unsigned edge)
{
    return edge < n->edge_count && n->edges[edge].to != GRAPH_NO_NODE;
}

static uint32_t made(struct graph *g, const struct node *n, enum op op, shape_id shape)
{
    return graph_scratch(g, op, n->role, PART_GRAD, n->dtype, shape);
}

void node_exp(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n, 0))
        results[0] = made(g, n, OP_MUL, n->shape);
}

// The sums from the other end.
void node_cumsum(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n, 0))
        return;
    uint32_t turned = made(g, n, OP_FLIP, n->shape), sums = made(g, n, OP_CUMSUM, n->shape);
    tape_unref(g->t, turned);
    results[0] = made(g, n, OP_FLIP, n->shape);
    tape_unref(g->t, sums);
}

// Edges: the triangles, what was solved for. SRC: pytorch torch/csrc/autograd/FunctionsManual.cpp,
// linalg_solve_triangular_backward.
void node_solve(struct graph *g, const struct node *n, uint32_t results[])
{
    results[1] = made(g, n, OP_SOLVE, n->shape);
    if (!wanted(n, 0))
        return;
    uint32_t product = made(g, n, OP_BMM, n->extra), minus = made(g, n, OP_NEG, n->extra);
    tape_unref(g->t, product);
    results[0] = made(g, n, OP_TRIL, n->extra);
    tape_unref(g->t, minus);
}

// A sum's gradient as it is, seen as what was summed.
void node_expand(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n, 0))
        return;
    tape_ref(g->t, n->gradient[0]);
    results[0] = n->gradient[0];
    if (graph_ok(g))
        g->t->storages[results[0]].parts = true;
}

// The gradient as it is, as a view that nothing is added to.
void node_turned(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n, 0))
        return;
    tape_ref(g->t, n->gradient[0]);
    results[0] = n->gradient[0];
    if (graph_ok(g))
        g->t->storages[results[0]].view = true;
}

void node_delta_bmm(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 2; k-- > 0;) {
        if (!wanted(n, k))
            continue;
        results[k] = made(g, n, OP_BMM, n->edges[k].shape);
        if (graph_ok(g))
            g->t->storages[results[k]].view = true;
    }
}

// Edges: input, weight; the input is made contiguous once more.
void node_conv(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t flat = made(g, n, OP_CLONE, n->edges[0].shape);
    if (wanted(n, 1))
        results[1] = graph_scratch(g, OP_CONV_BACKWARD, n->edges[1].role, PART_WEIGHT_GRAD,
                                   n->edges[1].dtype, n->edges[1].shape);
    if (wanted(n, 0))
        results[0] = made(g, n, OP_CONV_BACKWARD, n->edges[0].shape);
    tape_unref(g->t, flat);
}
#endif
