// Owns activation checkpointing: the forward pass of a block without gradients, and its second run
// in backward. SRC: pytorch torch/utils/checkpoint.py, CheckpointFunction.

#include "calc/step/pass.h"

struct value checkpoint_block(struct graph *g, struct value x)
{
    bool grad = g->grad;
    g->grad = false;
    struct value out = block_forward(g, x);
    g->grad = grad;
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_CHECKPOINT, &out, 0);
        graph_save(g, n, x.storage);
        graph_edge(g, n, x);
    }
    return out;
}

// Parameters whose nodes belong to the second run get new ones in the next.
static void checkpoint_forget(struct graph *g)
{
    size_t layer = (size_t)g->t->unit * g->period + g->t->sub;
    struct param *p = &g->params[LAYOUT_GLOBAL_NUMBERS + layer * LAYOUT_BLOCK_NUMBERS];
    for (unsigned i = 0; i < LAYOUT_BLOCK_NUMBERS; i++)
        p[i].accumulate = p[i].cast_node = GRAPH_NO_NODE;
}

void node_checkpoint(struct graph *g, const struct node *n, uint32_t results[GRAPH_EDGES])
{
    int32_t base = (int32_t)g->node_count;
    struct value x = {n->saved[0],       GRAPH_NO_NODE,     0,
                      n->edges[0].dtype, n->edges[0].shape, n->edges[0].role};
    graph_node(g, NODE_ACCUMULATE, &x,
               PART_SELF);  // the detached input: a leaf that collects the gradient
    g->recompute = true;
    struct value out = block_forward(g, x);
    graph_autocast_exit_layer(g);
    g->recompute = false;
    if (!graph_ok(g))
        return;
    tape_ref(g->t, n->gradient[0]);  // the function's argument stays
    graph_backward(g, out.node, n->gradient[0], base);
    if (!graph_ok(g))
        return;
    results[0] = g->nodes[base].gradient[0];
    graph_drop(g, out);
    g->t->unit = n->unit;
    g->t->sub = n->sub;
    checkpoint_forget(g);
    g->node_count = (size_t)base;
}
