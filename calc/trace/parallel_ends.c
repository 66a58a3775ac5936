// Owns FSDP2's units outside of the layers where they are two: the embedding, whose weights go
// after its forward pass and come back for its backward, and the last norm with the head, whose
// weights stay between the two. SRC: torchtitan models/llama3/infra/parallelize.py, apply_fsdp,
// since PR 1094; traces titan_fsdp2_* of tests/calc/truth/frameworks.

#include "calc/trace/gather.h"
#include "calc/trace/parallel.h"

bool parallel_apart(const struct graph *g)
{
    return g->gathered && graph_has(g, TRAIT_ENDS_APART) && g->m->c.parallel == PARALLEL_FSDP &&
           !g->m->c.tie_embeddings && !g->m->c.lora_rank;
}

enum { END_FIRST = 1, END_LAST };

static struct value ends_view(struct graph *g, struct value x, enum node_kind kind, uint8_t end)
{
    struct value view = x;
    if (graph_needs(g, x))
        graph_edge(g, graph_node(g, kind, &view, end), x);
    return view;
}

struct value parallel_embedded(struct graph *g, struct value x)
{
    if (!parallel_apart(g))
        return x;
    tape_unref(g->t, g->root);
    g->root = TAPE_NONE;
    return ends_view(g, x, NODE_GATHER, END_FIRST);
}

struct value parallel_head_enter(struct graph *g, struct value x)
{
    if (!parallel_apart(g))
        return x;
    g->root = parallel_take_forward(g, SHAPE_ROOT_LAST);
    return ends_view(g, x, NODE_RESHARD, END_LAST);
}

struct value parallel_head_leave(struct graph *g, struct value logits)
{
    if (!parallel_apart(g))
        return logits;
    parallel_forward_end(g);
    return ends_view(g, logits, NODE_GATHER, END_LAST);
}

void parallel_gather_end(struct graph *g, const struct node *n)
{
    if (n->extra == END_LAST) {
        parallel_gather_ahead(g, graph_layers(g) - 1);
        return;
    }
    uint32_t gathered = g->behind;
    g->behind = TAPE_NONE;
    g->root =
        gather_copy_out(g, gathered != TAPE_NONE ? gathered : gather_weights(g, SHAPE_ROOT_FIRST),
                        SHAPE_ROOT_FIRST);
}
