// Owns what the autograd nodes of the llama families allocate when they run backward.
// SRC: pytorch tools/autograd/derivatives.yaml and torch/csrc/autograd/FunctionsManual.cpp.

#include "calc/trace/nodes_llama.h"

static uint32_t scratch(struct graph *g, const struct node *n, enum op op, shape_id shape)
{
    return graph_scratch(g, op, n->role, PART_GRAD, n->dtype, shape);
}

static bool wanted(const struct node *n)
{
    return n->edge_count > 0 && n->edges[0].to != GRAPH_NO_NODE;
}

// Tiles of float32 for dq, by the width of the heads.
shape_id node_sdpa_tiles(const struct node *n)
{
#ifndef VRAM_SMALL
    if (n->shape == SHAPE_G_Q)
        return n->dtype == DT_F32 ? SHAPE_G_TILES : SHAPE_G_LOW_TILES;
#endif
    return n->dtype == DT_F32 ? SHAPE_TILES : SHAPE_LOW_TILES;
}

void node_neg(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = graph_scratch(g, OP_NEG, n->edges[0].role, PART_GRAD, n->edges[0].dtype,
                                   n->edges[0].shape);
}

// grad * (2 * self.pow(1))
void node_pow(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n))
        return;
    uint32_t power = scratch(g, n, OP_POW, n->shape);
    uint32_t twice = scratch(g, n, OP_MUL, n->shape);
    bool early = !graph_has(g, TRAIT_FORMULA_TEMPORARIES);
    if (early)
        tape_unref(g->t, power);
    results[0] = scratch(g, n, OP_MUL, n->shape);
    tape_unref(g->t, twice);
    if (!early)
        tape_unref(g->t, power);
}

// grad.expand(size) / n
void node_mean(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = scratch(g, n, OP_DIV, n->edges[0].shape);
}

// -0.5 * grad * result.pow(3)
void node_rsqrt(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n))
        return;
    uint32_t half = scratch(g, n, OP_MUL, n->shape);
    uint32_t cube = scratch(g, n, OP_POW, n->shape);
    results[0] = scratch(g, n, OP_MUL, n->shape);
    tape_unref(g->t, cube);
    tape_unref(g->t, half);
}

// Expanded over the heads of a group: the sum over them.
void node_repeat(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = scratch(g, n, OP_SUM, n->edges[0].shape);
}

// rotate_half: the negated half, then a padded tensor for each of the two slices, added in place.
void node_cat(struct graph *g, const struct node *n, uint32_t results[])
{
    if (!wanted(n))
        return;
    uint32_t negated = scratch(g, n, OP_NEG, n->extra);
    results[0] = scratch(g, n, OP_ZEROS, n->shape);
    tape_unref(g->t, negated);
    uint32_t other = scratch(g, n, OP_ZEROS, n->shape);
    tape_unref(g->t, other);
}

// cat: each of the tensors that it joined gets its part of the gradient, a view.
void node_join(struct graph *g, const struct node *n, uint32_t results[])
{
    for (unsigned k = 0; k < n->edge_count; k++) {
        if (n->edges[k].to == GRAPH_NO_NODE)
            continue;
        tape_ref(g->t, n->gradient[0]);
        results[k] = n->gradient[0];
        if (graph_ok(g))
            g->t->storages[n->gradient[0]].parts = true;
    }
}

// Edges: self, which gets the gradient as it is, other.
void node_sub(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edges[1].to != GRAPH_NO_NODE)
        results[1] = scratch(g, n, OP_NEG, n->shape);
    if (wanted(n)) {
        tape_ref(g->t, n->gradient[0]);
        results[0] = n->gradient[0];
    }
}

void node_tanh(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = scratch(g, n, OP_MUL, n->shape);
}

// Zeros of the input's size, the gradient put in at the chosen places: indexing, topk.
void node_scatter(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = scratch(g, n, OP_ZEROS, n->edges[0].shape);
}

// index_copy_: the rows that were put in.
void node_index_copy(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = scratch(g, n, OP_INDEX, n->edges[0].shape);
}

// index_add: the added rows get a copy of their rows of the gradient, what they were added to gets
// it as it is.
void node_index_add(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = scratch(g, n, OP_INDEX, n->edges[0].shape);
    if (n->edge_count > 1 && n->edges[1].to != GRAPH_NO_NODE) {
        tape_ref(g->t, n->gradient[0]);
        results[1] = n->gradient[0];
    }
}

#ifndef VRAM_SMALL
void node_relu(struct graph *g, const struct node *n, uint32_t results[])
{
    if (wanted(n))
        results[0] = scratch(g, n, OP_THRESHOLD_BACKWARD, n->shape);
}
#endif
