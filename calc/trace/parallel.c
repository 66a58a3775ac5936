// Owns the data parallel schemes in backward: division of gradients among GPUs, gathering by layer.
// SRC: pytorch torch/distributed/fsdp (all-gather before a unit's forward and backward, one unit
// ahead; reduce-scatter after its backward; the root stays gathered); ZeRO (arXiv 1910.02054).

#include "calc/trace/parallel.h"

#include "calc/model/experts.h"
#include "calc/model/precision.h"
#include "calc/model/quantization.h"
#include "calc/model/scheme.h"
#include "calc/model/units.h"
#include "calc/trace/gather.h"
#include "calc/trace/zero.h"

static struct param *parallel_params(struct graph *g)
{
    return g->t->unit < 0 ? g->params : graph_block_params(g);
}

// Whether what is trained is all of a unit, or goes with it: else it is adapters that are divided,
// and they are small.
static bool parallel_units_train(const struct graph *g)
{
    return !g->m->c.lora_rank || (g->m->c.parallel == PARALLEL_FSDP1 && !units_apart(g->m));
}

static bool parallel_adds_up(const struct graph *g)
{
    return g->keeps_whole && parallel_units_train(g);
}

static uint32_t parallel_buffer(struct graph *g, enum op op, uint8_t dtype, shape_id shape)
{
    return tape_alloc(g->t, op, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD, dtype, shape);
}

// This GPU's part of a gradient, in fresh memory: .grad, or added to it. One that goes to the host
// is returned.
static uint32_t parallel_part(struct graph *g, const struct node *n, uint32_t gradient)
{
    struct storage s = g->t->storages[gradient];
#ifndef VRAM_SMALL
    if (g->parted)
        return TAPE_NONE;  // it is a view of what is there for good
#endif
    bool offloads = scheme_offloads_gradients(&g->m->c);
    if (offloads && scheme_is_deepspeed(&g->m->c)) {
        zero_to_host(g, &s);
        return TAPE_NONE;
    }
    const struct layout_param *p = layout_find(&g->layout, n->unit >= 0, n->param);
    uint8_t dtype = quantization_format(g->m, p) == DT_LOW ? DT_LOW_SHARE : DT_F32_SHARE;
    uint32_t part = tape_alloc(g->t, OP_REDUCE_SCATTER, s.name, VRAM_CAT_GRAD, dtype, s.shape);
    gather_on(g, part, STREAM_REDUCE);
    if (offloads)
        return part;
    if (g->has_gradients && !parallel_adds_up(g))
        tape_unref(g->t, part);
    else if (graph_ok(g))
        tape_leave(g->t, part, n->unit, graph_gradient_slot(n));
    return TAPE_NONE;
}

static void parallel_send(struct graph *g, const struct node *n, uint32_t gradient)
{
    bool copied = zero_bucket(g, n);
#ifndef VRAM_SMALL
    if (g->parted && !g->gathered) {
        zero_send(g, n, gradient);
        return;
    }
#endif
    if (copied)
        tape_unref(g->t, gradient);
    tape_unref(g->t, parallel_part(g, n, gradient));
    if (!copied)
        tape_unref(g->t, gradient);
}

void parallel_divide(struct graph *g, struct node *n, uint32_t gradient)
{
    if (g->gathered || g->summed || zero_waits(g)) {
        zero_bucket(g, n);
        (n->unit < 0 ? g->params : parallel_params(g))[n->param].held = gradient;
        return;
    }
    parallel_send(g, n, gradient);
}

// What waits in the current layer, or outside: the whole gradients go, then their parts are made.
static void parallel_drop_held(struct graph *g, unsigned count)
{
    for (uint16_t i = 0; i < count && graph_ok(g); i++)
        tape_unref(g->t, parallel_params(g)[i].held);
}

static void parallel_forget_held(struct graph *g, unsigned count)
{
    for (uint16_t i = 0; i < count; i++)
        parallel_params(g)[i].held = TAPE_NONE;
}

// FSDP1 holds what it has copied to the host to the end of the pass. SRC: pytorch
// torch/distributed/fsdp/_runtime_utils.py (_reduce_grad, _finalize_params: _saved_grad_shard).
static bool parallel_keeps_parts(const struct graph *g)
{
    return g->m->c.offload_params && g->m->c.parallel == PARALLEL_FSDP1;
}

static void parallel_make_parts(struct graph *g, unsigned count)
{
    for (uint16_t i = 0; i < count && graph_ok(g); i++) {
        struct param *p = &parallel_params(g)[i];
        struct node n = {.unit = g->t->unit, .sub = g->t->sub, .param = i};
        p->held = p->held == TAPE_NONE ? TAPE_NONE : parallel_part(g, &n, p->held);
    }
    if (parallel_keeps_parts(g))
        return;
    parallel_drop_held(g, count);
    parallel_forget_held(g, count);
}

static void parallel_reduce_held(struct graph *g, unsigned count)
{
    for (uint16_t i = 0; i < count && graph_ok(g); i++) {
        struct param *p = &parallel_params(g)[i];
        struct node n = {.unit = g->t->unit, .sub = g->t->sub, .param = i};
        if (p->held != TAPE_NONE)
            parallel_send(g, &n, p->held);
        p->held = TAPE_NONE;
    }
}

// ---- backward ----------------------------------------------------------------------------------

static void parallel_pass(struct graph *g, const struct node *n, uint32_t results[])
{
    tape_ref(g->t, n->gradient[0]);
    results[0] = n->gradient[0];
}

void node_gather(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->unit < 0) {
        parallel_gather_end(g, n);
        parallel_pass(g, n, results);
        return;
    }
    struct unit *u = parallel_unit(g);
    shape_id shape = parallel_layer_shape(g, graph_layer(g));
    uint32_t gathered = g->behind;
    g->behind = TAPE_NONE;
    if (u->weights == TAPE_NONE)
        u->weights =
            gather_copy_out(g, gathered != TAPE_NONE ? gathered : gather_weights(g, shape), shape);
    g->open = u->weights;
    u->weights = TAPE_NONE;
    g->open_unit = n->unit;
    g->open_sub = n->sub;
#ifndef VRAM_SMALL
    experts_prefetch_behind(g);
    bool experts = experts_ran_last(g);  // they gather what ran before
#else
    enum { experts = false };
#endif
    if (!experts && parallel_prefetch(g) == PREFETCH_FIRST)
        parallel_gather_next(g);
    parallel_pass(g, n, results);
}

// The whole gradients of a unit that earlier micro-steps have added up.
static uint16_t parallel_whole_slot(const struct graph *g, shape_id shape)
{
    struct node n = {
        .unit = g->t->unit, .sub = g->t->sub, .param = g->t->unit < 0 ? P_ROOT_FLAT : P_LAYER_FLAT};
#ifndef VRAM_SMALL
    if (shape == SHAPE_ROOT_LAST)
        n.param = P_TAIL_FLAT;
#else
    (void)shape;
#endif
    return graph_gradient_slot(&n);
}

// Without synchronization the whole gradients stay; the last micro-step's are added to them, and
// both go. SRC: pytorch torch/distributed/fsdp/_runtime_utils.py, _post_backward_hook (no_sync);
// _fully_shard/_fsdp_param.py, to_accumulated_grad_if_needed; lightning fabric no_backward_sync;
// accelerate no_sync.
static bool parallel_keep_whole(struct graph *g, uint32_t whole, shape_id shape)
{
    if (!parallel_adds_up(g) || g->has_gradients)
        return false;
    if (graph_ok(g))
        tape_keep(g->t, whole, g->t->unit, parallel_whole_slot(g, shape));
    return true;
}

static void parallel_drop_whole(struct graph *g, uint8_t dtype, shape_id shape)
{
    if (parallel_adds_up(g) && g->has_gradients && graph_ok(g))
        tape_unref(g->t, tape_existing(g->t, NAME(PARALLEL, BUCKET), VRAM_CAT_GRAD, dtype, shape,
                                       HOME_PERSIST, parallel_whole_slot(g, shape)));
}

// What waits in a unit, where that is the root and has all layers in them, too.
static void parallel_of_unit(struct graph *g, unsigned count, void (*fn)(struct graph *, unsigned))
{
    for (uint32_t layer = units_are_one(g->m) ? graph_layers(g) : 0; layer-- > 0;) {
        graph_enter(g, layer);
        fn(g, LAYOUT_BLOCK_NUMBERS);
    }
    if (units_are_one(g->m))
        graph_leave(g);
    fn(g, count);
}

// FSDP1: the gradients become one tensor, zeros for what is frozen, which is cast; both are gone
// when this GPU's part is there. SRC: pytorch torch/distributed/fsdp/_runtime_utils.py,
// _post_backward_hook; torch/csrc/autograd/FunctionsManual.cpp, split_with_sizes_backward; traces
// llama_fsdp1_*.
static void parallel_reduce_flat(struct graph *g, uint32_t *weights, unsigned count, shape_id shape)
{
    uint32_t zeros =
        g->m->c.lora_rank ? parallel_buffer(g, OP_ZEROS, g->compute, shape) : TAPE_NONE;
    uint32_t flat = parallel_buffer(g, OP_CAT, g->compute, shape), wide = TAPE_NONE;
    tape_unref(g->t, zeros);
    parallel_of_unit(g, count, parallel_drop_held);
    tape_unref(g->t, *weights);
    *weights = TAPE_NONE;
    if (g->t->unit >= 0 && parallel_prefetch(g) == PREFETCH_BEHIND)
        parallel_gather_next(g);
    if (parallel_keep_whole(g, flat, shape)) {
        parallel_of_unit(g, count, parallel_forget_held);
        return;
    }
    bool stays = scheme_keeps_all(&g->m->c), casts = gather_sum_format(g) != g->compute;
    if (stays && !casts) {  // it is .grad
        tape_unref(g->t, flat);
        flat = TAPE_NONE;
    }
    if (!stays && casts)
        wide = gather_on(g, parallel_buffer(g, OP_TO_COPY, DT_F32, shape), STREAM_REDUCE);
    parallel_of_unit(g, count, parallel_make_parts);
    tape_unref(g->t, wide);
    tape_unref(g->t, flat);
    parallel_drop_whole(g, g->compute, shape);
}

// FSDP2: one tensor takes the gradients, cast on the way; it is there until the next unit's is
// needed. SRC: pytorch torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce;
// traces llama_fsdp2_*.
static void parallel_reduce_late(struct graph *g, uint32_t *weights, unsigned count, shape_id shape)
{
    tape_unref(g->t, *weights);
    *weights = TAPE_NONE;
    tape_unref(g->t, g->reduced);
    g->reduced = parallel_buffer(g, OP_REDUCE_SCATTER, gather_sum_format(g), shape);
    parallel_drop_held(g, count);
    if (parallel_keep_whole(g, g->reduced, shape)) {
        parallel_forget_held(g, count);
        g->reduced = TAPE_NONE;
        return;
    }
    uint32_t sent = TAPE_NONE;
    if (gather_sends_narrow(g))
        sent =
            gather_on(g, parallel_buffer(g, OP_REDUCE_SCATTER, DT_LOW_SHARE, shape), STREAM_REDUCE);
    parallel_make_parts(g, count);
    tape_unref(g->t, sent);
    parallel_drop_whole(g, gather_sum_format(g), shape);
}

#ifndef VRAM_SMALL
// What one GPU alone has of it is divided by the number of batches in a tensor of its own. SRC:
// pytorch torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce
// (gradient_divide_factor), 2.15.
static void parallel_scale(struct graph *g, shape_id shape)
{
    bool scaled = model_spreads_experts(g->m) && model_expert_parts(g->m) == 1;
    if (scaled)
        tape_unref(g->t, gather_on(g, parallel_buffer(g, OP_DIV, gather_sum_format(g), shape),
                                   STREAM_REDUCE));
}

void parallel_reduce_some(struct graph *g, uint32_t *weights, const uint16_t *numbers,
                          unsigned count, shape_id shape)
{
    tape_unref(g->t, *weights);
    *weights = TAPE_NONE;
    tape_unref(g->t, g->reduced);
    g->reduced = parallel_buffer(g, OP_REDUCE_SCATTER, gather_sum_format(g), shape);
    for (unsigned i = 0; i < count && graph_ok(g); i++)
        tape_unref(g->t, parallel_params(g)[numbers[i]].held);
    for (unsigned i = 0; i < count && graph_ok(g); i++) {
        struct param *p = &parallel_params(g)[numbers[i]];
        struct node n = {.unit = g->t->unit, .sub = g->t->sub, .param = numbers[i]};
        if (p->held != TAPE_NONE)
            parallel_part(g, &n, p->held);
        p->held = TAPE_NONE;
    }
    parallel_scale(g, shape);
}
#endif

// After a unit's backward: its gradients are divided, its weights given back.
static void parallel_end(struct graph *g, uint32_t *weights, unsigned count, shape_id shape)
{
    if (gather_is_fsdp(g) && g->t->backward && parallel_units_train(g)) {
        if (g->m->c.parallel == PARALLEL_FSDP1)
            parallel_reduce_flat(g, weights, count, shape);
        else
            parallel_reduce_late(g, weights, count, shape);
        return;
    }
#ifndef VRAM_SMALL
    zero_unit_sends(g, true);
    parallel_reduce_held(g, count);
    zero_unit_sends(g, false);
#else
    parallel_reduce_held(g, count);
#endif
    tape_unref(g->t, *weights);
    *weights = TAPE_NONE;
}

#ifndef VRAM_SMALL
// ZeRO-3's head whose weight a loss takes by itself belongs to the model, which is through when the
// pass is. SRC: DeepSpeed runtime/zero/parameter_offload.py (ZeROOrderedDict); trace
// llama8b_zero3_liger.
static bool parallel_head_stays(const struct graph *g)
{
    return g->m->c.parallel == PARALLEL_ZERO3 && config_fuses_head(&g->m->c);
}
#endif

#ifndef VRAM_SMALL
// A unit's gradients become one when autograd comes to the node that its weights were split at. A
// forward pass that gathers ahead has made it before the nodes of the layer before, which run first
// then: autograd takes the latest of those that can run. What is checkpointed by a function is a
// pass of its own. SRC: pytorch torch/csrc/autograd/engine.cpp (CompareNodeTaskTime),
// torch/distributed/fsdp/_flat_param.py (_use_unsharded_views); traces llama_fsdp1_ahead*.
static bool parallel_ends_late(const struct graph *g)
{
    return parallel_gathers_forward(g) && !g->m->c.lora_rank &&
           !(g->m->c.checkpointing && g->m->c.use_reentrant);
}

// The layer behind this one, if it waits.
static void parallel_end_behind(struct graph *g)
{
    uint32_t layer = graph_layer(g) + 1;
    if (layer == graph_layers(g) || !graph_ok(g))
        return;
    const struct tape_stack *s = &g->t->stack;
    tape_ahead(g->t, tape_stack_unit(s, layer), tape_stack_sub(s, layer));
    parallel_end(g, &parallel_unit(g)->weights, LAYOUT_BLOCK_NUMBERS,
                 parallel_layer_shape(g, layer));
    tape_ahead_end(g->t);
}

// Before the root's.
static void parallel_end_first(struct graph *g)
{
    if (!parallel_ends_late(g) || !g->t->backward)
        return;
    graph_enter(g, 0);
    parallel_end(g, &parallel_unit(g)->weights, LAYOUT_BLOCK_NUMBERS, parallel_layer_shape(g, 0));
    graph_leave(g);
}
#endif

static void parallel_reshard(struct graph *g)
{
    g->open_unit = TAPE_GLOBAL;
    if (parallel_prefetch(g) == PREFETCH_LAST)
        parallel_gather_next(g);
#ifndef VRAM_SMALL
    if (parallel_ends_late(g)) {
        parallel_unit(g)->weights = g->open;
        g->open = TAPE_NONE;
        parallel_end_behind(g);
        return;
    }
#endif
    parallel_end(g, &g->open, LAYOUT_BLOCK_NUMBERS, parallel_layer_shape(g, graph_layer(g)));
}

void node_reshard(struct graph *g, const struct node *n, uint32_t results[])
{
#ifndef VRAM_SMALL
    if (n->unit < 0 && parallel_head_stays(g)) {
        g->stayed = g->root;
        g->root = TAPE_NONE;
    }
#endif
    if (n->unit < 0)
        parallel_end(g, &g->root, LAYOUT_GLOBAL_NUMBERS, SHAPE_ROOT_LAST);
    else
        parallel_reshard(g);
    parallel_pass(g, n, results);
}

// A unit whose weights are all frozen has a hook on its input, held to the end of the pass, and the
// input of a block that is run again is a leaf: it and its gradient stay with the hook. SRC:
// pytorch torch/distributed/fsdp/_runtime_utils.py, _register_post_backward_reshard_only_hook;
// traces llama_fsdp1_lora_ckpt.
void parallel_keep_input(struct graph *g, uint32_t input, uint32_t gradient)
{
    if (!g->around || !units_apart(g->m))
        return;
    tape_ref(g->t, input);
    tape_ref(g->t, gradient);
    parallel_unit(g)->input = input;
    parallel_unit(g)->gradient = gradient;
}

static void parallel_release_input(struct graph *g)
{
    struct unit *u = parallel_unit(g);
    tape_unref(g->t, u->input);
    tape_unref(g->t, u->gradient);
    u->input = u->gradient = TAPE_NONE;
    if (parallel_keeps_parts(g))
        parallel_drop_held(g, LAYOUT_BLOCK_NUMBERS);
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

static void parallel_sum_layer(struct graph *g)
{
    parallel_sum(g, LAYOUT_BLOCK_NUMBERS);
}

static void parallel_each_layer(struct graph *g, void (*fn)(struct graph *g))
{
    for (uint32_t layer = graph_layers(g); layer-- > 0;) {
        graph_enter(g, layer);
        fn(g);
    }
    graph_leave(g);
}

static void parallel_sum_all(struct graph *g)
{
    parallel_each_layer(g, parallel_sum_layer);
    parallel_sum(g, LAYOUT_GLOBAL_NUMBERS);
}

static void parallel_send_layer(struct graph *g)
{
    parallel_reduce_held(g, LAYOUT_BLOCK_NUMBERS);
}

// A layer whose input needs no gradient has no node at its beginning: the end of the pass closes
// it.
void parallel_close(struct graph *g)
{
    bool parted = MODEL_IS_WHOLE && partition_is_there(g->m);
    if (g->divided && zero_waits(g) && !parted && g->t->backward && graph_ok(g)) {
        parallel_each_layer(g, parallel_send_layer);
        parallel_reduce_held(g, LAYOUT_GLOBAL_NUMBERS);
    }
    zero_close(g);
    if (g->summed && !g->gathered && g->t->backward && graph_ok(g))
        parallel_sum_all(g);
    if (!g->gathered || !graph_ok(g))
        return;
    if (g->open_unit != TAPE_GLOBAL) {
        g->t->unit = g->open_unit;
        g->t->sub = g->open_sub;
        parallel_reshard(g);
        graph_leave(g);
    }
#ifndef VRAM_SMALL
    parallel_end_first(g);
#endif
    parallel_end(g, &g->root, LAYOUT_GLOBAL_NUMBERS,
                 parallel_apart(g) ? SHAPE_ROOT_FIRST : SHAPE_ROOT);
#ifndef VRAM_SMALL
    tape_unref(g->t, g->resident);
    tape_unref(g->t, g->stayed);
    g->resident = g->stayed = TAPE_NONE;
#endif
    tape_unref(g->t, g->reduced);
    tape_unref(g->t, g->ahead);
    tape_unref(g->t, g->behind);
    g->reduced = g->ahead = g->behind = TAPE_NONE;
    parallel_each_layer(g, parallel_release_input);
    if (parallel_keeps_parts(g))
        parallel_drop_held(g, LAYOUT_GLOBAL_NUMBERS);
}
