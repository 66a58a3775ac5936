// Owns which unit is gathered ahead of time, and when. SRC: pytorch
// torch/distributed/fsdp/_runtime_utils.py, _prefetch_handle, _get_handle_to_prefetch;
// _exec_order_utils.py.

#include "calc/model/units.h"
#include "calc/trace/gather.h"
#include "calc/trace/parallel.h"

// With adapters as units of their own (PEFT's and torchtune's policies) the block before is
// gathered when the first of them is reached, at the block's end. A checkpointed block that FSDP is
// in has registered nothing in its first run. SRC: pytorch torch/distributed/fsdp/_runtime_utils.py
// (_register_pre_backward_hooks, _get_handle_to_prefetch); peft utils/other.py,
// fsdp_auto_wrap_policy; traces llama_fsdp1_*.
enum parallel_prefetch parallel_prefetch(const struct graph *g)
{
    if (!gather_is_fsdp(g) || g->around || units_are_one(g->m))
        return PREFETCH_NOTHING;
#ifndef VRAM_SMALL
    if (g->m->c.parallel == PARALLEL_FSDP1 && g->m->c.backward_prefetch == PREFETCH_NO)
        return PREFETCH_NOTHING;
    if (g->m->c.parallel == PARALLEL_FSDP1 && g->m->c.backward_prefetch == PREFETCH_POST)
        return units_apart(g->m) ? PREFETCH_LAST : PREFETCH_BEHIND;
#endif
    return units_apart(g->m) ? PREFETCH_LAST : PREFETCH_FIRST;
}

// The root, whose backward is last, gathers the last layer when the loss's gradient is there.
static bool parallel_root_gathers(const struct graph *g)
{
#ifndef VRAM_SMALL
    if (g->m->c.parallel == PARALLEL_FSDP1 && g->m->c.backward_prefetch != PREFETCH_PRE)
        return false;
#endif
    return parallel_prefetch(g) != PREFETCH_NOTHING;
}

// Gathers the weights of `layer` ahead of time. They belong to its unit, so that all units are
// alike.
void parallel_gather_ahead(struct graph *g, uint32_t layer)
{
    if (!graph_ok(g) || g->shards[layer].weights != TAPE_NONE)
        return;
    const struct tape_stack *s = &g->t->stack;
    tape_ahead(g->t, tape_stack_unit(s, layer), tape_stack_sub(s, layer));
    g->behind = gather_weights(g, parallel_layer_shape(g, layer));
    tape_ahead_end(g->t);
}

void parallel_gather_next(struct graph *g)
{
    uint32_t layer = graph_layer(g);
    if (layer > 0)
        parallel_gather_ahead(g, layer - 1);
    else if (parallel_apart(g) && graph_ok(g)) {
        tape_ahead(g->t, TAPE_GLOBAL, 0);
        g->behind = gather_weights(g, SHAPE_ROOT_FIRST);
        tape_ahead_end(g->t);
    }
}

#ifndef VRAM_SMALL
void parallel_gather_before(struct graph *g)
{
    if (parallel_prefetch(g) == PREFETCH_FIRST)
        parallel_gather_next(g);
}
#endif

void parallel_begin_backward(struct graph *g)
{
    // accelerate's head gathers the last layer when the gradient of its logits has come to it
    uint64_t loss = g->m->c.cross_entropy;
    bool whole = loss <= CROSS_ENTROPY_UPCAST || loss == CROSS_ENTROPY_INPLACE;
    bool later = parallel_has_tail(g) && whole;
    if (!g->gathered || !graph_has(g, TRAIT_INNER_MODEL) || later || !graph_ok(g))
        return;
    if (g->root == TAPE_NONE)
        g->root = gather_copy_out(g, gather_weights(g, SHAPE_ROOT), SHAPE_ROOT);
    if (parallel_root_gathers(g))
        parallel_gather_ahead(g, graph_layers(g) - 1);
}

#ifndef VRAM_SMALL
// In the order of the run's first forward pass, which itself has none to go by. A layer that is run
// again gathers none. SRC: pytorch torch/distributed/fsdp/_exec_order_utils.py
// (get_handle_to_forward_prefetch), _runtime_utils.py (_root_pre_forward:
// _needs_pre_forward_unshard); traces llama_fsdp1_ahead*.
bool parallel_gathers_forward(const struct graph *g)
{
    return g->gathered && g->m->c.parallel == PARALLEL_FSDP1 && g->m->c.forward_prefetch &&
           !units_are_one(g->m);
}

void parallel_gather_forward(struct graph *g, uint32_t layer)
{
    if (!parallel_gathers_forward(g) || g->recompute || layer == graph_layers(g) || !graph_ok(g))
        return;
    const struct tape_stack *s = &g->t->stack;
    tape_ahead(g->t, tape_stack_unit(s, layer), tape_stack_sub(s, layer));
    g->ahead = gather_weights(g, parallel_layer_shape(g, layer));
    tape_ahead_end(g->t);
}
#endif
