// Owns the engine: the order in which nodes run backward, how gradients are summed, when memory is
// given back. SRC: pytorch torch/csrc/autograd/engine.cpp (evaluate_function, call_function,
// validate_outputs), input_buffer.cpp, functions/accumulate_grad.h.

#include "calc/trace/backward.h"

#include "calc/trace/nodes.h"
#include "calc/trace/parallel.h"
#include "calc/trace/zero.h"

// How many edges of reachable nodes lead to each node. Edges always lead to older nodes.
static void backward_count(struct graph *g, int32_t root, int32_t base)
{
    for (int32_t i = base; i <= root; i++) {
        g->nodes[i].waiting = 0;
        g->nodes[i].link = GRAPH_NO_NODE;
    }
    g->nodes[root].waiting = 1;
    for (int32_t i = root; i >= base; i--) {
        const struct node *n = &g->nodes[i];
        if (n->waiting == 0)
            continue;
        for (unsigned k = 0; k < n->edge_count; k++)
            if (n->edges[k].to != GRAPH_NO_NODE)
                g->nodes[n->edges[k].to].waiting++;
    }
}

// Takes the ready node that runs next: AccumulateGrad before all others, else the latest made.
static int32_t backward_next(struct graph *g, int32_t *ready)
{
    int32_t best = *ready, before_best = GRAPH_NO_NODE, before = GRAPH_NO_NODE;
    for (int32_t i = *ready; i != GRAPH_NO_NODE; before = i, i = g->nodes[i].link) {
        bool first = g->nodes[i].kind == NODE_ACCUMULATE,
             best_first = g->nodes[best].kind == NODE_ACCUMULATE;
        if (first > best_first || (first == best_first && i > best)) {
            best = i;
            before_best = before;
        }
    }
    if (best == *ready)
        *ready = g->nodes[best].link;
    else
        g->nodes[before_best].link = g->nodes[best].link;
    return best;
}

static uint8_t gradient_part(uint8_t part)
{
    return part == PART_BIAS     ? PART_BIAS_GRAD
           : part == PART_A      ? PART_A_GRAD
           : part == PART_B      ? PART_B_GRAD
           : part == PART_VECTOR ? PART_VECTOR_GRAD
                                 : PART_WEIGHT_GRAD;
}

// A whole gradient: .grad, or added to it. ZeRO-1 has its bucket beside them.
static void backward_keep(struct graph *g, const struct node *n, uint32_t gradient)
{
    zero_bucket(g, n);
    if (g->has_gradients || g->in_buckets || g->m->c.optimizer_in_backward)
        tape_unref(g->t, gradient);
    else
        tape_leave(g->t, gradient, n->unit, graph_gradient_slot(n));
}

void backward_accumulate(struct graph *g, struct node *n)
{
    uint32_t gradient = n->gradient[0];
    if (n->param == GRAPH_NO_PARAM || gradient == TAPE_NONE)
        return;  // the input of a checkpointed block: its owner collects the gradient
    struct storage *s = &g->t->storages[gradient];
    s->name = name_of(n->role, gradient_part((uint8_t)n->extra));
    s->category = VRAM_CAT_GRAD;
    if (g->divided || g->summed)
        parallel_divide(g, n, gradient);
    else
        backward_keep(g, n, gradient);
    n->gradient[0] = TAPE_NONE;
}

// Brings a result into the form that its receiver takes: broadcast sums first, then the number
// format.
static uint32_t backward_fit(struct graph *g, const struct edge *e, uint32_t result)
{
    struct storage s = g->t->storages[result];
    if (result == TAPE_NONE || s.home != HOME_TAPE)
        return result;
    if (s.shape != e->shape && !s.parts) {
        uint32_t sum = graph_sum(g, e->role, PART_GRAD, s.dtype, s.shape, e->shape);
        tape_unref(g->t, result);
        result = sum;
    }
    if (s.dtype != e->dtype) {
        uint32_t cast = graph_scratch(g, OP_TO_COPY, e->role, PART_GRAD_CAST, e->dtype, e->shape);
        tape_unref(g->t, result);
        result = cast;
    }
    return result;
}

// A gradient arrives at a node's input: alone, or added to what is there, in place if no one else
// holds that.
static void backward_deliver(struct graph *g, const struct edge *e, uint32_t gradient)
{
    struct node *n = &g->nodes[e->to];
    uint32_t there = n->gradient[e->input];
    if (there == TAPE_NONE) {
        n->gradient[e->input] = gradient;
        return;
    }
    if (g->t->storages[there].refs > 1 || g->t->storages[there].view) {
        n->gradient[e->input] = graph_scratch(g, OP_ADD, e->role, PART_GRAD, e->dtype, e->shape);
        tape_unref(g->t, there);
    }
    tape_unref(g->t, gradient);
}

static void backward_release_saved(struct graph *g, struct node *n)
{
    for (unsigned k = 0; k < n->saved_count; k++)
        tape_unref(g->t, n->saved[k]);
    n->saved_count = 0;
}

static void backward_release(struct graph *g, struct node *n)
{
    for (unsigned k = 0; k < GRAPH_OUTPUTS; k++) {
        tape_unref(g->t, n->gradient[k]);
        n->gradient[k] = TAPE_NONE;
    }
    backward_release_saved(g, n);
}

// Runs one node and hands its results on. Nodes that have all they wait for join the ready list.
static void backward_step(struct graph *g, int32_t i, int32_t *ready)
{
    uint32_t results[GRAPH_EDGES] = {TAPE_NONE};
    g->t->unit = g->nodes[i].unit;
    g->t->sub = g->nodes[i].sub;
#ifndef VRAM_SMALL
    if (g->nodes[i].turn != g->t->turn)
        tape_turn(g->t, g->nodes[i].turn);
#endif
    if (g->nodes[i].kind == NODE_ACCUMULATE) {
        backward_accumulate(g, &g->nodes[i]);
        return;
    }
    g->calls->unpack(g, i);
    node_run(g, i, results);
    struct node n = g->nodes[i];  // running may have moved the array
    if (n.frame !=
        GRAPH_NO_FRAME)  // what was made again belongs to the function alone, which has returned
        backward_release_saved(g, &g->nodes[i]);
    for (unsigned k = 0; k < n.edge_count && graph_ok(g); k++)
        if (n.edges[k].to != GRAPH_NO_NODE)
            results[k] = backward_fit(g, &n.edges[k], results[k]);
    backward_release(g, &g->nodes[i]);
    if (n.frame != GRAPH_NO_FRAME && n.saved_count > 0)
        g->calls->release(g, n.frame);
    for (unsigned k = 0; k < n.edge_count && graph_ok(g); k++) {
        int32_t to = n.edges[k].to;
        if (to == GRAPH_NO_NODE)
            continue;
        if (results[k] != TAPE_NONE)
            backward_deliver(g, &n.edges[k], results[k]);
        if (--g->nodes[to].waiting == 0) {
            g->nodes[to].link = *ready;
            *ready = to;
        }
    }
}

void backward_run(struct graph *g, int32_t root, uint32_t gradient, int32_t base)
{
    int32_t ready = root;
    if (!graph_ok(g))
        return;
    backward_count(g, root, base);
    g->nodes[root].gradient[0] = gradient;
    while (ready != GRAPH_NO_NODE && graph_ok(g))
        backward_step(g, backward_next(g, &ready), &ready);
}
