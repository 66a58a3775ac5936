// Owns what the nodes of experts allocate when they run backward. SRC: pytorch
// aten/src/ATen/native/cuda/Indexing.cu (index_put_with_sort_kernel),
// tools/autograd/derivatives.yaml.

#include "calc/trace/layers_grouped.h"

#include "calc/trace/layers_spread.h"

static uint32_t indices(struct graph *g)
{
    return graph_scratch(g, OP_MUL, ROLE_ROUTER, PART_SCRATCH, DT_I64, GROUPED_LIST(g));
}

// Zeros of the input's size, to which the rows are added in an order that a sort finds.
void node_route(struct graph *g, const struct node *n, uint32_t results[])
{
    enum { TEMPORARIES = 4 };
    uint32_t temporary[TEMPORARIES];
    const struct edge *e = &n->edges[0];
    if (n->edge_count == 0 || e->to == GRAPH_NO_NODE)
        return;
    results[0] = graph_scratch(g, OP_ZEROS, e->role, PART_GRAD, n->dtype, e->shape);
    for (unsigned i = 0; i < TEMPORARIES; i++)
        temporary[i] = indices(g);
    for (unsigned i = TEMPORARIES; i-- > 0;)
        tape_unref(g->t, temporary[i]);
}

// Edges: self, mat2.
void node_grouped_mm(struct graph *g, const struct node *n, uint32_t results[])
{
    static const uint8_t parts[2] = {PART_GRAD, PART_WEIGHT_GRAD};
    for (unsigned k = 2; k-- > 0;)
        if (n->edges[k].to != GRAPH_NO_NODE)
            results[k] = graph_scratch(g, OP_GROUPED_MM, n->edges[k].role, parts[k],
                                       n->edges[k].dtype, n->edges[k].shape);
}

// Where the input was within its limits: a mask for each of them.
void node_clamp(struct graph *g, const struct node *n, uint32_t results[])
{
    uint32_t mask[2] = {TAPE_NONE, TAPE_NONE};
    if (n->edge_count == 0 || n->edges[0].to == GRAPH_NO_NODE)
        return;
    for (unsigned i = 0; i < n->extra; i++)
        mask[i] = graph_scratch(g, OP_EQ, n->role, PART_MASK, DT_BYTE, n->shape);
    results[0] = graph_scratch(g, OP_WHERE, n->role, PART_GRAD, n->dtype, n->shape);
    tape_unref(g->t, mask[1]);
    tape_unref(g->t, mask[0]);
}

void node_sigmoid(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edge_count > 0 && n->edges[0].to != GRAPH_NO_NODE)
        results[0] = graph_scratch(g, OP_SIGMOID_BACKWARD, n->role, PART_GRAD, n->dtype, n->shape);
}

// A sum's gradient, expanded over what was summed.
void node_spread(struct graph *g, const struct node *n, uint32_t results[])
{
    const struct edge *e = &n->edges[0];
    if (n->edge_count > 0 && e->to != GRAPH_NO_NODE)
        results[0] = graph_scratch(g, OP_CLONE, e->role, PART_GRAD, e->dtype, e->shape);
}
