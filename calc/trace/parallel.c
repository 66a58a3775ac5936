// Owns the data parallel schemes: division of gradients and weights among GPUs, gathering by layer.
// SRC: pytorch torch/distributed/fsdp (all-gather before a unit's forward and backward, one unit ahead;
// reduce-scatter after its backward; the root stays gathered); ZeRO (arXiv 1910.02054).

#include "calc/trace/parallel.h"

#include "calc/model/precision.h"

#include "calc/model/quantization.h"

// One GPU's part of a gradient: reduced into fresh memory, then .grad or added to it.
static void parallel_reduce(struct graph *g, const struct node *n, uint32_t gradient)
{
    struct storage s = g->t->storages[gradient];
    const struct layout_param *p = layout_find(&g->layout, n->unit >= 0, n->param);
    uint8_t dtype = quantization_format(g->m, p) == DT_LOW ? DT_LOW_SHARE : DT_F32_SHARE;
    uint32_t part = tape_alloc(g->t, OP_REDUCE_SCATTER, s.name, VRAM_CAT_GRAD, dtype, s.shape);
    tape_unref(g->t, gradient);
    if (g->has_gradients)
        tape_unref(g->t, part);
    else if (graph_ok(g))
        tape_keep(g->t, part, n->unit, graph_gradient_slot(n));
}

static struct param *parallel_params(struct graph *g)
{
    if (g->t->unit < 0)
        return g->params;
    size_t layer = (size_t)g->t->unit * g->period + g->t->sub;
    return &g->params[LAYOUT_GLOBAL_NUMBERS + layer * LAYOUT_BLOCK_NUMBERS];
}

void parallel_divide(struct graph *g, struct node *n, uint32_t gradient)
{
    if (!g->gathered && !g->summed)
        parallel_reduce(g, n, gradient);
    else if (n->unit < 0)
        g->params[n->param].held = gradient;
    else
        parallel_params(g)[n->param].held = gradient;
}

// The whole gradients of the current layer, or of the parameters outside, become parts.
static void parallel_reduce_held(struct graph *g, unsigned count)
{
    for (uint16_t i = 0; i < count && graph_ok(g); i++) {
        struct param *p = &parallel_params(g)[i];
        struct node n = {.unit = g->t->unit, .sub = g->t->sub, .param = i};
        if (p->held != TAPE_NONE)
            parallel_reduce(g, &n, p->held);
        p->held = TAPE_NONE;
    }
}

static uint32_t parallel_gather(struct graph *g, uint8_t shape)
{
    return tape_alloc(g->t, OP_ALL_GATHER, NAME(PARALLEL, GATHERED), VRAM_CAT_CAST, g->compute,
                      shape);
}

void parallel_open(struct graph *g)
{
    if (g->gathered)
        g->root = parallel_gather(g, SHAPE_ROOT);
}

static struct value parallel_view(struct graph *g, struct value x, enum node_kind kind)
{
    struct value view = graph_copy(g, x);
    if (graph_needs(g, x))
        graph_edge(g, graph_node(g, kind, &view, 0), x);
    return view;
}

// Whether a layer is the last of the pass, forward or backward.
static bool parallel_last(const struct graph *g, bool backward)
{
    uint32_t layer = (uint32_t)g->t->unit * g->period + g->t->sub;
    return backward ? layer == 0 : layer + 1 == g->units * g->period;
}

static bool parallel_is_fsdp(const struct graph *g)
{
    return g->m->c.parallel >= PARALLEL_FSDP;
}

// fully_shard copies each weight out of what was gathered. SRC: pytorch torch/distributed/fsdp/_fully_shard/
// _fsdp_collectives.py, foreach_all_gather_copy_out; traces llama_fsdp2_* of tests/calc/truth/frameworks.
static uint32_t parallel_copy_out(struct graph *g, uint32_t gathered)
{
    if (g->m->c.parallel != PARALLEL_FSDP)
        return gathered;
    uint32_t weights = parallel_gather(g, SHAPE_LAYER);
    tape_unref(g->t, gathered);
    return weights;
}

// The weights of this layer, gathered now or ahead of time, and those of the next.
static uint32_t parallel_take(struct graph *g, uint32_t *ahead, bool backward)
{
    uint32_t mine = parallel_copy_out(g, *ahead != TAPE_NONE ? *ahead : parallel_gather(g, SHAPE_LAYER));
    bool more = parallel_is_fsdp(g) && !parallel_last(g, backward);
    *ahead = more ? parallel_gather(g, SHAPE_LAYER) : TAPE_NONE;
    return mine;
}

struct value parallel_enter(struct graph *g, struct value x)
{
    g->open = parallel_take(g, &g->ahead, false);
    return parallel_view(g, x, NODE_RESHARD);
}

struct value parallel_leave(struct graph *g, struct value x)
{
    tape_unref(g->t, g->open);
    g->open = TAPE_NONE;
    return parallel_view(g, x, NODE_GATHER);
}

static void parallel_pass(struct graph *g, const struct node *n, uint32_t results[])
{
    tape_ref(g->t, n->gradient[0]);
    results[0] = n->gradient[0];
}

void node_gather(struct graph *g, const struct node *n, uint32_t results[])
{
    g->open = parallel_take(g, &g->behind, true);
    g->open_unit = n->unit;
    g->open_sub = n->sub;
    parallel_pass(g, n, results);
}

static uint32_t parallel_buffer(struct graph *g, enum op op, uint8_t dtype, uint8_t shape)
{
    return tape_alloc(g->t, op, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD, dtype, shape);
}

// The gradients of a unit, in the format in which they are added up.
static uint8_t parallel_sum_format(const struct graph *g)
{
    return precision_of(&g->m->c)->weight == DT_F32 ? DT_F32 : g->compute;
}

// FSDP1: the gradients become one tensor, which is cast; both are gone when this GPU's part is there.
// SRC: pytorch torch/distributed/fsdp/_runtime_utils.py, _post_backward_hook; traces llama_fsdp1_*.
static void parallel_reduce_flat(struct graph *g, uint32_t *weights, unsigned count, uint8_t shape)
{
    uint32_t flat = parallel_buffer(g, OP_CAT, g->compute, shape), wide = TAPE_NONE;
    tape_unref(g->t, *weights);
    *weights = TAPE_NONE;
    if (parallel_sum_format(g) != g->compute)
        wide = parallel_buffer(g, OP_TO_COPY, DT_F32, shape);
    parallel_reduce_held(g, count);
    tape_unref(g->t, wide);
    tape_unref(g->t, flat);
}

// FSDP2: one tensor takes the gradients, cast on the way; it is there until the next unit's is needed.
// SRC: pytorch torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce; traces llama_fsdp2_*.
static void parallel_reduce_late(struct graph *g, uint32_t *weights, unsigned count, uint8_t shape)
{
    tape_unref(g->t, *weights);
    *weights = TAPE_NONE;
    tape_unref(g->t, g->reduced);
    g->reduced = parallel_buffer(g, OP_REDUCE_SCATTER, parallel_sum_format(g), shape);
    parallel_reduce_held(g, count);
}

// After a unit's backward: its gradients are divided, its weights given back. With adapters it is they that are divided,
// and they are small.
static void parallel_end(struct graph *g, uint32_t *weights, unsigned count, uint8_t shape)
{
    if (parallel_is_fsdp(g) && g->t->backward && !g->m->c.lora_rank) {
        if (g->m->c.parallel == PARALLEL_FSDP1)
            parallel_reduce_flat(g, weights, count, shape);
        else
            parallel_reduce_late(g, weights, count, shape);
        return;
    }
    parallel_reduce_held(g, count);
    tape_unref(g->t, *weights);
    *weights = TAPE_NONE;
}

static void parallel_reshard(struct graph *g)
{
    parallel_end(g, &g->open, LAYOUT_BLOCK_NUMBERS, SHAPE_LAYER);
}

void node_reshard(struct graph *g, const struct node *n, uint32_t results[])
{
    parallel_reshard(g);
    parallel_pass(g, n, results);
}

// After the pass: fp32_grad.add_(grad), grad = None, for each parameter.
// SRC: nanotron src/nanotron/optim/gradient_accumulator.py, FP32GradientAccumulator.backward.
static void parallel_sum(struct graph *g, unsigned count)
{
    for (uint16_t i = 0; i < count && graph_ok(g); i++) {
        struct param *p = &parallel_params(g)[i];
        tape_unref(g->t, p->held);
        p->held = TAPE_NONE;
    }
}

static void parallel_sum_all(struct graph *g)
{
    for (uint32_t layer = g->units * g->period; layer-- > 0;) {
        g->t->unit = (int32_t)(layer / g->period);
        g->t->sub = (uint8_t)(layer % g->period);
        parallel_sum(g, LAYOUT_BLOCK_NUMBERS);
    }
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
    parallel_sum(g, LAYOUT_GLOBAL_NUMBERS);
}

// A layer whose input needs no gradient has no node at its beginning: the end of the pass closes
// it.
void parallel_close(struct graph *g)
{
    if (g->summed && !g->gathered && g->t->backward && graph_ok(g))
        parallel_sum_all(g);
    if (!g->gathered || !graph_ok(g))
        return;
    if (g->open != TAPE_NONE) {
        g->t->unit = g->open_unit;
        g->t->sub = g->open_sub;
        parallel_reshard(g);
        g->t->unit = TAPE_GLOBAL;
        g->t->sub = 0;
    }
    parallel_end(g, &g->root, LAYOUT_GLOBAL_NUMBERS, SHAPE_ROOT);
    tape_unref(g->t, g->reduced);
    g->reduced = TAPE_NONE;
}
