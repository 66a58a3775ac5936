// Owns what the autograd nodes of Gemma 3n's streams allocate when they run backward: quotients,
// roots, deviations, and sums that are written into parts of a tensor. SRC: pytorch
// torch/csrc/autograd/functions/tensor.cpp (CopySlices::apply), FunctionsManual.cpp (div_tensor_*,
// std_backward); trace gemma3n_bf16.
#ifndef VRAM_SMALL

#include "calc/trace/nodes_streams.h"

static uint32_t scratch(struct graph *g, const struct node *n, enum op op, shape_id shape)
{
    return graph_scratch(g, op, n->role, PART_GRAD, n->dtype, shape);
}

static bool wanted(const struct node *n, unsigned edge)
{
    return edge < n->edge_count && n->edges[edge].to != GRAPH_NO_NODE;
}

// Edges: self, other. -grad * ((self / other) / other), which is summed later, and grad / other.
void node_div_both(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n, 1)) {
        uint32_t temporary[3];
        for (unsigned i = 0; i < 3; i++)
            temporary[i] = scratch(g, n, i < 2 ? OP_DIV : OP_NEG, n->shape);
        results[1] = scratch(g, n, OP_MUL, n->shape);
        for (unsigned i = 3; i-- > 0;)
            tape_unref(g->t, temporary[i]);
    }
    if (wanted(n, 0))
        results[0] = scratch(g, n, OP_DIV, n->shape);
}

// grad / (2 * result)
void node_square_root(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n, 0))
        return;
    uint32_t twice = scratch(g, n, OP_MUL, n->shape);
    results[0] = scratch(g, n, OP_DIV, n->shape);
    tape_unref(g->t, twice);
}

// (grad / (result * n)).masked_fill(result == 0, 0) * (self - self.mean())
void node_std(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n, 0))
        return;
    shape_id whole = n->edges[0].shape;
    uint32_t share = scratch(g, n, OP_DIV, n->shape), mean = scratch(g, n, OP_MEAN, n->shape);
    uint32_t off = scratch(g, n, OP_SUB, whole);
    results[0] = scratch(g, n, OP_MUL, whole);
    tape_unref(g->t, off);
    tape_unref(g->t, mean);
    tape_unref(g->t, share);
}

// whole[1:] += part. Edges: whole, part.
void node_tail_add(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n, 0))
        results[0] = scratch(g, n, OP_NEW_EMPTY, n->edges[0].shape);
    if (wanted(n, 1))
        results[1] = scratch(g, n, OP_CLONE, SHAPE_OTHERS);
}

// whole[1:] = what it is already. Edges: whole, that part of it.
void node_tail_copy(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n, 0))
        return;
    results[0] = scratch(g, n, OP_NEW_EMPTY, n->edges[0].shape);
    results[1] = scratch(g, n, OP_CLONE, SHAPE_OTHERS);
    tape_unref(g->t, scratch(g, n, OP_ZEROS, SHAPE_OTHERS));
}

// A sum written into a turned view. Edges: what was there, what was added.
void node_whole_add(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n, 0))
        results[0] = scratch(g, n, OP_NEW_EMPTY, n->edges[0].shape);
    if (wanted(n, 1))
        results[1] = scratch(g, n, OP_CLONE, n->edges[1].shape);
}

#endif
