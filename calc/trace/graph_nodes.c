// Owns the making of nodes: what a result follows from, what is saved for its gradient.

#include "calc/trace/graph.h"

bool graph_needs(const struct graph *g, struct value v)
{
    return g->grad && v.node != GRAPH_NO_NODE;
}

int32_t graph_bare_node(struct graph *g, enum node_kind kind, uint8_t role)
{
    g->failed |= g->node_count == GRAPH_NODES;
    bool room = MODEL_IS_WHOLE && g->node_count < g->node_cap;  // nearly always
    if (!graph_ok(g) ||
        (!room && !graph_grow(g, &g->nodes, &g->node_cap, g->node_count + 1, sizeof *g->nodes)))
        return GRAPH_NO_NODE;
    struct node *n = &g->nodes[g->node_count];
    *n = (struct node){.kind = (uint8_t)kind,
                       .role = role,
                       .unit = g->t->unit,
                       .sub = g->t->sub,
                       .param = GRAPH_NO_PARAM,
                       .frame = g->packing};
    if (MODEL_IS_WHOLE)
        n->turn = g->t->turn;
    return (int32_t)g->node_count++;
}

int32_t graph_node(struct graph *g, enum node_kind kind, struct value *out, shape_id extra)
{
    if (!g->grad)
        return GRAPH_NO_NODE;
    int32_t i = graph_bare_node(g, kind, out->role);
    if (i == GRAPH_NO_NODE)
        return i;
    g->nodes[i].dtype = out->dtype;
    g->nodes[i].shape = out->shape;
    g->nodes[i].extra = extra;
    if (graph_is_traced(g))
        g->nodes[i].gradient[0] = out->storage;
    g->node_out = out->storage;
    g->node_inputs = true;
    out->node = i;
    return i;
}

void graph_edge(struct graph *g, int32_t node, struct value in)
{
    if (node == GRAPH_NO_NODE)
        return;
    struct node *n = &g->nodes[node];
    n->edges[n->edge_count++] = (struct edge){
        .to = in.node, .input = in.output, .dtype = in.dtype, .shape = in.shape, .role = in.role};
}

// saved_tensors_hooks: a holder takes the tensor's place. An operation saves its inputs before it
// runs, so the recomputation need not run one that saves nothing else.
static void graph_pack(struct graph *g, struct node *n, uint32_t storage)
{
    struct frame *f = &g->frames[g->packing];
    bool input = storage == TAPE_NONE || g->t->storages[storage].home != HOME_TAPE ||
                 g->t->storages[storage].made < g->t->storages[g->node_out].made;
    g->node_inputs = g->node_inputs && input;
    f->left += n->saved_count == 0;
    f->stop = (g->node_inputs ? g->t->storages[g->node_out].made : g->t->allocations) - f->start;
    n->saved[n->saved_count++] = TAPE_NONE;
}

void graph_save(struct graph *g, int32_t node, uint32_t storage)
{
    if (node == GRAPH_NO_NODE)
        return;
    struct node *n = &g->nodes[node];
    if (g->packing != GRAPH_NO_FRAME) {
        graph_pack(g, n, storage);
        return;
    }
    uint32_t saved = graph_offload_save(g, n, storage);
    n->saved[n->saved_count++] = saved;
}

void graph_save_cpu(struct graph *g, int32_t node, uint8_t dtype)
{
    if (node == GRAPH_NO_NODE)
        return;
    struct node *n = &g->nodes[node];
    if (g->packing != GRAPH_NO_FRAME) {
        graph_pack(g, n, TAPE_NONE);
        return;
    }
    n->saved[n->saved_count++] = tape_existing(g->t, name_of(n->role, PART_SELF), VRAM_CAT_ACT,
                                               dtype, SHAPE_ONE, HOME_CPU, 0);
}

void graph_follow(struct graph *g, enum node_kind kind, struct value *out, struct value x)
{
    if (graph_needs(g, x))
        graph_edge(g, graph_node(g, kind, out, 0), x);
}

void graph_follow_saving(struct graph *g, enum node_kind kind, struct value *out, struct value x,
                         uint32_t saved)
{
    if (!graph_needs(g, x))
        return;
    int32_t n = graph_node(g, kind, out, 0);
    graph_save(g, n, saved);
    graph_edge(g, n, x);
}

void graph_follow_both(struct graph *g, enum node_kind kind, struct value *out, struct value a,
                       struct value b)
{
    if (!graph_needs(g, a) && !graph_needs(g, b))
        return;
    int32_t n = graph_node(g, kind, out, 0);
    graph_edge(g, n, a);
    graph_edge(g, n, b);
}

void graph_follow_product(struct graph *g, enum node_kind kind, struct value *out, struct value a,
                          struct value b)
{
    if (!graph_needs(g, a) && !graph_needs(g, b))
        return;
    int32_t n = graph_node(g, kind, out, 0);
    graph_save(g, n, graph_needs(g, b) ? a.storage : TAPE_NONE);
    graph_save(g, n, graph_needs(g, a) ? b.storage : TAPE_NONE);
    graph_edge(g, n, a);
    graph_edge(g, n, b);
}

// The input's of two dimensions is seen as three, the weight's transposed.
void graph_mark_view(struct graph *g, uint32_t gradient)
{
    if (graph_ok(g) && gradient != TAPE_NONE)
        g->t->storages[gradient].view = graph_has(g, TRAIT_GRADIENT_VIEWS);
}
