// Owns weights that are gathered by layer in a forward pass. SRC: pytorch
// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py (wait_for_unshard).

#include "calc/model/scheme.h"
#include "calc/trace/checkpoint.h"
#include "calc/trace/gather.h"
#include "calc/trace/parallel.h"

// Forward: what FSDP2 gathered is there until the next unit's is copied out. SRC:
// _fsdp_param_group.py, wait_for_unshard.
uint32_t parallel_take_forward(struct graph *g, shape_id shape)
{
#ifndef VRAM_SMALL
    bool early = !gather_copies(g) && g->ahead != TAPE_NONE;
    uint32_t gathered = experts_taken(early ? &g->ahead : &g->next);
    if (gathered == TAPE_NONE)
        gathered = gather_weights(g, shape);
#else
    uint32_t gathered = gather_weights(g, shape);
#endif
    if (!gather_copies(g))
        return gathered;
    tape_unref(g->t, g->ahead);
    g->ahead = gathered;
    tape_ref(g->t, gathered);
    return gather_copy_out(g, gathered, shape);
}

// Whether a layer is the last of the pass, forward or backward.
static bool parallel_last(const struct graph *g, bool backward)
{
    uint32_t layer = graph_layer(g);
    return backward ? layer == 0 : layer + 1 == graph_layers(g);
}

static bool parallel_stays(const struct graph *g)
{
    uint64_t reshard = g->m->c.reshard_after_forward;
    return g->grad &&
           (reshard == RESHARD_NO || (reshard == RESHARD_BUT_LAST && parallel_last(g, false)));
}

void parallel_open(struct graph *g)
{
    if (g->gathered)
        g->root = parallel_take_forward(g, parallel_apart(g) ? SHAPE_ROOT_FIRST : SHAPE_ROOT);
#ifndef VRAM_SMALL
    if (g->gathered && g->m->c.parallel == PARALLEL_ZERO3)
        g->resident = gather_on(g,
                                tape_alloc(g->t, OP_ALL_GATHER, NAME(PARALLEL, GATHERED),
                                           VRAM_CAT_CAST, g->compute, SHAPE_RESIDENT),
                                STREAM_GATHER);
    experts_prefetch_first(g);
    parallel_gather_forward(g, 0);
#endif
}

void parallel_root_goes(struct graph *g)
{
    bool goes = graph_has(g, TRAIT_ROOT_RESHARDED) && gather_copies(g);
    if (!(goes || scheme_keeps_all(&g->m->c)) || parallel_has_tail(g) ||
        g->m->c.reshard_after_forward == RESHARD_NO)
        return;
    tape_unref(g->t, g->root);
    g->root = TAPE_NONE;
}

void parallel_forward_end(struct graph *g)
{
    tape_unref(g->t, g->ahead);
    g->ahead = TAPE_NONE;
    if (graph_has(g, TRAIT_INNER_MODEL))
        parallel_root_goes(g);
}

static struct value parallel_view(struct graph *g, struct value x, enum node_kind kind)
{
    struct value view = graph_copy(g, x);
    graph_follow(g, kind, &view, x);
    return view;
}

static struct value parallel_enter(struct graph *g, struct value x, block_fn *body)
{
#ifndef VRAM_SMALL
    parallel_angles(g);
#endif
    g->open = parallel_take_forward(g, parallel_layer_shape(g, graph_layer(g)));
    struct value view = parallel_view(g, x, NODE_RESHARD);
#ifndef VRAM_SMALL
    parallel_angles_keep(g, view, body == checkpoint_block);
    experts_prefetch(g);
    parallel_gather_forward(g, graph_layer(g) + 1);
#else
    (void)body;
#endif
    return view;
}

static struct value parallel_leave(struct graph *g, struct value x)
{
#ifndef VRAM_SMALL
    parallel_angles_go(g);
#endif
    if (parallel_stays(g) && graph_ok(g))
        parallel_unit(g)->weights = g->open;
    else
        tape_unref(g->t, g->open);
    g->open = TAPE_NONE;
    return parallel_view(g, x, NODE_GATHER);
}

struct value parallel_layer(struct graph *g, struct value x, block_fn *body)
{
    struct value in = parallel_enter(g, x, body);
    struct value inside = body(g, in);
    struct value out = parallel_leave(g, inside);
    graph_drop(g, in);
    graph_drop(g, inside);
    return out;
}
