// Owns values, nodes and parameters of the autograd graph while a pass is written to a tape.

#include "calc/trace/graph.h"

#include "calc/model/precision.h"
#include "calc/model/quantization.h"
#include "calc/model/scheme.h"
#include "calc/model/units.h"

void graph_init(struct graph *g, const struct vram_mem *mem)
{
    mem_zero(g, sizeof *g);
    g->mem = mem;
    if (MODEL_IS_WHOLE)
        tape_init(&g->spare, mem);
}

void graph_free(struct graph *g)
{
    if (!g->mem)
        return;
    mem_free(g->mem, g->nodes, g->node_cap * sizeof *g->nodes);
    mem_free(g->mem, g->params, g->param_cap * sizeof *g->params);
    mem_free(g->mem, g->shards, g->shard_cap * sizeof *g->shards);
    mem_free(g->mem, g->frames, g->frame_cap * sizeof *g->frames);
    mem_free(g->mem, g->outliving, g->outliving_cap * sizeof *g->outliving);
    mem_free(g->mem, g->kept, g->kept_cap * sizeof *g->kept);
#ifndef VRAM_SMALL
    mem_free(g->mem, g->blocks, g->block_cap * sizeof *g->blocks);
#endif
    if (MODEL_IS_WHOLE)
        tape_free(&g->spare);
    graph_init(g, g->mem);
}

bool graph_ok(const struct graph *g)
{
    return !g->failed && !g->t->failed;
}

bool graph_grow(struct graph *g, void *ptr_to_ptr, size_t *cap, size_t need, size_t size)
{
    void **ptr = ptr_to_ptr;
    if (!g->failed && mem_grow(g->mem, ptr, cap, need, size) != VRAM_OK)
        g->failed = true;
    return !g->failed;
}

static void graph_reset_ahead(struct graph *g)
{
    g->ahead = g->open = g->behind = g->root = g->reduced = g->bucket = TAPE_NONE;
    g->open_unit = TAPE_GLOBAL;
#ifndef VRAM_SMALL
    g->sent = graph_none();
    g->next = g->next_experts = g->own_experts = g->behind_experts = g->open_experts = g->table =
        TAPE_NONE;
#endif
}

#ifndef VRAM_SMALL
static void graph_reset_parts(struct graph *g)
{
    g->parted = partition_is_there(g->m);
    g->part_made = false;
    g->resident = g->stayed = TAPE_NONE;
    partition_make(&g->partition, g->m, &g->layout);
    g->divided |= g->parted && g->m->c.gradient_accumulation_steps == 1;
}
#endif

static void graph_angles_go(struct graph *g)
{
    g->cos = g->sin = graph_none();
#ifndef VRAM_SMALL
    g->global_cos = g->global_sin = graph_none();
#endif
}

// Which weights are gathered, and what of them and of their gradients waits.
static void graph_reset_units(struct graph *g, const struct model *m)
{
    g->gathered = scheme_divides_weights(&m->c);
    bool fsdp = g->gathered && m->c.parallel > PARALLEL_ZERO3;
    g->keeps_whole =
        fsdp && m->c.gradient_accumulation_steps > 1 && model_has_trait(m, TRAIT_NO_SYNC);
#ifndef VRAM_SMALL
    bool is_grad = scheme_keeps_all(&m->c) && precision_of(&m->c)->weight == g->compute;
    if (is_grad || (m->c.parallel == PARALLEL_FSDP && model_has_trait(m, TRAIT_FULLY_SHARD_SYNCS)))
        g->keeps_whole = false;
#endif
    g->around = fsdp && !units_are_one(m) && m->c.use_reentrant && m->c.checkpointing &&
                model_has_trait(m, TRAIT_CHECKPOINT_AROUND);
}

void graph_reset(struct graph *g, const struct model *m, struct tape *t, struct tape_stack stack)
{
    size_t layers = tape_stack_layers(&stack);
    size_t params = LAYOUT_GLOBAL_NUMBERS + layers * LAYOUT_BLOCK_NUMBERS;
    bool generates = precision_generates_narrow(&m->c);
    const struct precision *precision = precision_of(&m->c);
    bool frozen = m->c.lora_rank || m->c.task == TASK_INFERENCE;
    g->m = m;
    g->t = t;
    g->node_count = g->frame_count = g->kept_count = g->outliving_count = 0;
    g->packing = g->choosing = GRAPH_NO_FRAME;
    g->failed = false;
    g->grad = g->training = true;
    g->summed = precision->copies > 1 && !scheme_divides_gradients(&m->c);
    g->compute = precision->compute;
    g->autocast = precision->autocast && !generates;
    g->residual = generates || scheme_divides_weights(&m->c) ? g->compute
                  : frozen                                   ? precision->frozen
                                                             : precision->weight;
    if (quantization_prepared(&m->c) && m->c.prepare_kbit == PREPARE_KBIT_PEFT)
        g->residual = DT_F32;
    g->caches = false;
    g->returns_cache = false;
    g->workspaces = m->c.mode == MODE_PROCESS && !model_has_trait(m, TRAIT_WORKSPACE_PER_CALL);
    g->workspace_done[0] = g->workspace_done[1] = false;
    g->recompute = false;
    graph_angles_go(g);
    g->shares = graph_none();
#ifndef VRAM_SMALL
    g->layer_inputs = g->layer_input = g->stream_raw = graph_none();
    for (unsigned i = 0; i < MODEL_STREAMS; i++)
        g->streams[i] = g->beside[i] = graph_none();
    g->routed = TAPE_NONE;
    for (unsigned i = 0; i < 4; i++)
        g->given[i / 2][i % 2] = graph_none();
#endif
    g->masks[0] = g->masks[1] = TAPE_NONE;
    layout_make(&g->layout, m);
    g->in_buckets = scheme_in_buckets(&m->c);
    g->divided = scheme_divides_gradients(&m->c);
#ifndef VRAM_SMALL
    graph_reset_parts(g);
#endif
    graph_reset_units(g, m);
    graph_reset_ahead(g);
    mem_zero(g->stash, sizeof g->stash);
    tape_reset(t, stack);
    if (graph_grow(g, &g->params, &g->param_cap, params, sizeof *g->params))
        mem_zero(g->params, params * sizeof *g->params);
    if (graph_grow(g, &g->shards, &g->shard_cap, layers, sizeof *g->shards))
        mem_zero(g->shards, layers * sizeof *g->shards);
}

uint32_t graph_layer(const struct graph *g)
{
    return tape_stack_layer(&g->t->stack, g->t->unit, g->t->sub);
}

void graph_enter(struct graph *g, uint32_t layer)
{
    g->t->unit = tape_stack_unit(&g->t->stack, layer);
    g->t->sub = tape_stack_sub(&g->t->stack, layer);
}

void graph_leave(struct graph *g)
{
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
}

struct param *graph_block_params(struct graph *g)
{
    return &g->params[LAYOUT_GLOBAL_NUMBERS + (size_t)graph_layer(g) * LAYOUT_BLOCK_NUMBERS];
}

struct value graph_none(void)
{
    return (struct value){.node = GRAPH_NO_NODE};
}

struct value graph_copy(struct graph *g, struct value v)
{
    if (v.storage != TAPE_NONE)
        tape_ref(g->t, v.storage);
    return v;
}

void graph_drop(struct graph *g, struct value v)
{
    tape_unref(g->t, v.storage);
}

static uint8_t graph_category(const struct graph *g, uint8_t role, uint8_t part)
{
    // What a part says by itself; 0, which are weights, where it does not.
    static const uint8_t parts[PART_COUNT] = {
        [PART_WEIGHT_CAST] = VRAM_CAT_CAST,   [PART_BIAS_CAST] = VRAM_CAT_CAST,
        [PART_A_CAST] = VRAM_CAT_CAST,        [PART_B_CAST] = VRAM_CAT_CAST,
        [PART_DEQUANTIZED] = VRAM_CAT_CAST,   [PART_WEIGHT_GRAD] = VRAM_CAT_GRAD,
        [PART_BIAS_GRAD] = VRAM_CAT_GRAD,     [PART_WEIGHT_GRAD_LOW] = VRAM_CAT_GRAD,
        [PART_BIAS_GRAD_LOW] = VRAM_CAT_GRAD, [PART_A_GRAD] = VRAM_CAT_GRAD,
        [PART_B_GRAD] = VRAM_CAT_GRAD,
    };
    if (role == ROLE_LOGITS)
        return VRAM_CAT_LOGITS;
    if (parts[part])
        return parts[part];
    if (role == ROLE_BATCH || role == ROLE_TARGETS || role == ROLE_POSITIONS)
        return VRAM_CAT_INPUT;
    return g->t->backward && !g->recompute ? VRAM_CAT_BACKWARD : VRAM_CAT_ACT;
}

static bool graph_product(enum op op)
{
    return op == OP_MM || op == OP_ADDMM || op == OP_BMM;
}

// A thread's first product asks for its workspace when its result is there. SRC: ATen cuda/Blas.cpp
static void graph_workspace(struct graph *g, enum op op)
{
    if (!g->workspaces || !graph_product(op) || g->workspace_done[g->t->backward] ||
        g->t->allocations >= g->t->limit)
        return;
    g->workspace_done[g->t->backward] = true;
    tape_workspace(g->t, (uint16_t)(SLOT_WORKSPACE + g->t->backward));
}

// Each product has one of its own, after the result is there.
static void graph_workspace_call(struct graph *g, enum op op)
{
    if (!graph_product(op) || !graph_has(g, TRAIT_WORKSPACE_PER_CALL))
        return;
    tape_unref(g->t, tape_alloc(g->t, OP_CUBLAS, NAME(CUBLAS, WORKSPACE), VRAM_CAT_WORKSPACE,
                                DT_BYTE, SHAPE_WORKSPACE));
}

void graph_product_over(struct graph *g)
{
    graph_workspace(g, OP_MM);
    graph_workspace_call(g, OP_MM);
}

// What selective checkpointing keeps: attention's results, those of reduce_scatter and, but for
// Qwen3, of all_to_all, and those of every second product but a router's.
// SRC: torchtitan distributed/activation_checkpoint.py, _apply_op_sac (addmm is not on its list);
// models/{llama4,qwen3}/infra/parallelize.py; per_op_sac_force_recompute_mm_shapes_by_fqns.
static bool graph_is_chosen(struct graph *g, enum op op, uint8_t role, uint8_t part)
{
    if (g->choosing == GRAPH_NO_FRAME || g->t->allocations >= g->t->limit)
        return false;
#ifndef VRAM_SMALL
    if (g->m->c.checkpointing == CHECKPOINTING_ATTENTION && op != OP_NEW_EMPTY)
        return false;
    if (op == OP_SCALED_MM)
        return g->products++ % 2 == 0;
#endif
    if (op == OP_MM)
        return !(MODEL_IS_WHOLE && role == ROLE_ROUTER) && g->products++ % 2 == 0;
#ifndef VRAM_SMALL
    if (op == OP_REDUCE_SCATTER || op == OP_ALL_TO_ALL)
        return op == OP_REDUCE_SCATTER || g->m->c.family != FAMILY_QWEN3_MOE;
    if (role == ROLE_ATTENTION && g->m->c.context_parallel > 1)  // of the ring as one operation
        return (op == OP_TO_COPY && part == PART_OUTPUT) || (op == OP_SUB && part == PART_LSE);
#endif
    return op == OP_NEW_EMPTY && role == ROLE_ATTENTION && part != PART_SCRATCH &&
           !model_repeats_attention(g->m);
}

// The second run does not repeat the operation.
static uint32_t graph_chosen_before(struct graph *g, enum op op)
{
    struct frame *f = &g->frames[g->choosing];
    g->t->allocations += 1 + (graph_product(op) && graph_has(g, TRAIT_WORKSPACE_PER_CALL));
    return f->taken < f->chosen ? f->results[f->taken++] : TAPE_NONE;
}

static void graph_choose(struct graph *g, uint32_t storage)
{
    struct frame *f = &g->frames[g->choosing];
    if (f->chosen == GRAPH_CHOSEN)
        return;
    tape_ref(g->t, storage);
    f->results[f->chosen++] = storage;
}

uint32_t graph_scratch(struct graph *g, enum op op, uint8_t role, uint8_t part, uint8_t dtype,
                       shape_id shape)
{
    bool chosen = graph_is_chosen(g, op, role, part);
    if (chosen && g->recompute)
        return graph_chosen_before(g, op);
    uint32_t storage =
        tape_alloc(g->t, op, name_of(role, part), graph_category(g, role, part), dtype, shape);
    graph_workspace(g, op);
    graph_workspace_call(g, op);
    if (chosen)
        graph_choose(g, storage);
    return storage;
}

uint32_t graph_sent(struct graph *g, enum op op, uint8_t role, uint8_t dtype)
{
    uint32_t storage = graph_scratch(g, op, role, PART_SCRATCH, dtype, SHAPE_U_WHOLE);
    if (graph_ok(g))
        g->t->storages[storage].sent = true;
    return storage;
}

// Partial sums by the result's shape; their locks are the next shape.
static shape_id graph_partial(shape_id from, shape_id to)
{
    static const shape_id partial[SHAPE_COUNT] = {
        [SHAPE_C] = SHAPE_PARTIAL_C,     [SHAPE_B_QKV] = SHAPE_PARTIAL_QKV,
        [SHAPE_B_Q] = SHAPE_PARTIAL_Q,   [SHAPE_B_KV] = SHAPE_PARTIAL_KV,
        [SHAPE_B_FF] = SHAPE_PARTIAL_FF, [SHAPE_B_V] = SHAPE_PARTIAL_V,
        [SHAPE_Q_A] = SHAPE_PARTIAL_Q_A, [SHAPE_KV_A] = SHAPE_PARTIAL_KV_A,
    };
#ifndef VRAM_SMALL
    if (to == SHAPE_G_HEAD)
        return from == SHAPE_G_Q ? SHAPE_PARTIAL_G_Q : SHAPE_PARTIAL_G_KV;
    if (to == SHAPE_DELTA_HEAD)
        return SHAPE_PARTIAL_DELTA;
    if (to == SHAPE_LAYER_WIDTH)
        return SHAPE_PARTIAL_LAYER;
#endif
    if (to == SHAPE_HEAD)
        return from == SHAPE_Q ? SHAPE_PARTIAL_Q_HEADS : SHAPE_PARTIAL_KV_HEADS;
    return partial[to];
}

uint32_t graph_sum(struct graph *g, uint8_t role, uint8_t part, uint8_t dtype, shape_id from,
                   shape_id to)
{
    uint32_t sum = graph_scratch(g, OP_SUM, role, part, dtype, to);
    shape_id partial = graph_has(g, TRAIT_KERNEL_SCRATCH) ? graph_partial(from, to) : 0;
    if (!partial)
        return sum;
    uint32_t parts = graph_scratch(g, OP_SUM, role, PART_SCRATCH, DT_BYTE, partial);
    uint32_t locks = graph_scratch(g, OP_SUM, role, PART_SCRATCH, DT_BYTE, (shape_id)(partial + 1));
    tape_unref(g->t, locks);
    tape_unref(g->t, parts);
    return sum;
}

struct value graph_make(struct graph *g, enum op op, uint8_t role, uint8_t part, uint8_t dtype,
                        shape_id shape)
{
    uint32_t storage = graph_scratch(g, op, role, part, dtype, shape);
    return (struct value){storage, GRAPH_NO_NODE, 0, dtype, shape, role};
}

static struct param *graph_param_at(struct graph *g, bool global, uint16_t number)
{
    return (global ? g->params : graph_block_params(g)) + number;
}

uint8_t graph_param_dtype(const struct graph *g, const struct layout_param *row)
{
    bool computes = g->gathered || precision_generates_narrow(&g->m->c);
    return computes ? g->compute : quantization_format(g->m, row);
}

static void graph_param_first(struct graph *g, struct param *p, const struct layout_param *row)
{
    p->storage = tape_existing(g->t, name_of(row->role, row->part), VRAM_CAT_PARAM,
                               graph_param_dtype(g, row), row->shape, HOME_NONE, row->number);
    p->accumulate = GRAPH_NO_NODE;
    p->cast_node = GRAPH_NO_NODE;
}

// torchtitan's experts have the numbers of the feed-forward part of layers without them.
static const struct layout_param *graph_row(const struct graph *g, bool global, uint16_t number)
{
    const struct layout_param *row = layout_find(&g->layout, !global, number);
#ifndef VRAM_SMALL
    if (row && row->layers == LAYERS_DENSE && !model_layer_is_dense(g->m, graph_layer(g)))
        for (unsigned i = 0; i < g->layout.block_count; i++)
            if (g->layout.block[i].number == number && g->layout.block[i].layers != LAYERS_DENSE)
                return &g->layout.block[i];
#endif
    return row;
}

struct value graph_param(struct graph *g, bool global, uint16_t number)
{
    const struct layout_param *row = graph_row(g, global, number);
    if (!row || !graph_ok(g))
        return graph_none();
    struct param *p = graph_param_at(g, global, number);
    if (p->storage == TAPE_NONE)
        graph_param_first(g, p, row);
    if (row->trained && g->grad && p->accumulate == GRAPH_NO_NODE) {
        p->accumulate = graph_bare_node(g, NODE_ACCUMULATE, row->role);
        if (p->accumulate == GRAPH_NO_NODE)
            return graph_none();
        g->nodes[p->accumulate].param = number;
        g->nodes[p->accumulate].extra = row->part;
        if (global)
            g->nodes[p->accumulate].unit = TAPE_GLOBAL;
    }
    struct value v = {p->storage, g->grad ? p->accumulate : GRAPH_NO_NODE,
                      0,          graph_param_dtype(g, row),
                      row->shape, row->role};
    return graph_copy(g, v);
}

struct value graph_to(struct graph *g, struct value v, uint8_t dtype, uint8_t part)
{
    if (v.dtype == dtype)
        return graph_copy(g, v);
    struct value out = graph_make(g, OP_TO_COPY, v.role, part, dtype, v.shape);
    graph_follow(g, NODE_TO_COPY, &out, v);
    return out;
}

// SRC: pytorch aten/src/ATen/autocast_mode.cpp cached_cast: leaves that require a gradient are
// cached, also under no_grad.
struct value graph_weight_cast(struct graph *g, bool global, uint16_t number, struct value weight)
{
    const struct layout_param *row = graph_row(g, global, number);
    if (!g->autocast || !graph_ok(g) || weight.storage == TAPE_NONE)
        return graph_copy(g, weight);
    uint8_t part = row->part == PART_BIAS ? PART_BIAS_CAST : PART_WEIGHT_CAST;
    bool frozen = !row->trained || (MODEL_IS_WHOLE && g->frozen);
    if (frozen && g->m->c.task == TASK_TRAIN)  // LitGPT generates with what could be trained
        return graph_to(g, weight, g->compute, part);
    struct param *p = graph_param_at(g, global, number);
    if (p->cast == TAPE_NONE) {
        struct value fresh = graph_to(g, weight, g->compute, part);
        p->cast = fresh.storage;
        p->cast_node = fresh.node;
    }
    struct value v = {
        p->cast, g->grad ? p->cast_node : GRAPH_NO_NODE, 0, g->compute, weight.shape, weight.role};
    return graph_copy(g, v);
}

struct value graph_input_cast(struct graph *g, struct value v, uint8_t role, uint8_t part)
{
    if (!g->autocast)
        return graph_copy(g, v);
    struct value named = v;
    named.role = role;
    return graph_to(g, named, g->compute, part);
}

static void graph_exit_range(struct graph *g, struct param *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tape_unref(g->t, p[i].cast);
        p[i].cast = TAPE_NONE;
    }
}

void graph_autocast_exit_layer(struct graph *g)
{
    if (graph_ok(g))
        graph_exit_range(g, graph_block_params(g), LAYOUT_BLOCK_NUMBERS);
}

void graph_autocast_exit(struct graph *g)
{
    if (!graph_ok(g))
        return;
    graph_leave(g);
    graph_exit_range(g, g->params, LAYOUT_GLOBAL_NUMBERS);
    for (uint32_t layer = 0; layer < graph_layers(g); layer++) {
        graph_enter(g, layer);
        graph_autocast_exit_layer(g);
    }
    graph_leave(g);
}

uint16_t graph_gradient_slot(const struct node *n)
{
    return (uint16_t)(n->unit < 0 ? SLOT_GRADIENT + n->param
                                  : n->sub * LAYOUT_BLOCK_NUMBERS + n->param);
}

struct saved_call {
    graph_saved_fn *fn;
    void *ctx;
};

static void graph_saved_once(struct graph *g, const struct saved_call *c, const struct node *n,
                             unsigned which, uint32_t storage)
{
    struct storage *s = &g->t->storages[storage];
    if (storage == TAPE_NONE || s->saved || s->home == HOME_NONE || graph_is_on_host(s))
        return;
    s->saved = true;
    c->fn(c->ctx, n, which, s);
}

void graph_saved(struct graph *g, graph_saved_fn *fn, void *ctx)
{
    const struct saved_call call = {fn, ctx};
    for (size_t i = 1; i < g->t->count; i++)
        g->t->storages[i].saved = false;
    for (size_t i = g->node_count; i-- > 0;)
        for (unsigned k = 0; k < g->nodes[i].saved_count; k++)
            graph_saved_once(g, &call, &g->nodes[i], k, g->nodes[i].saved[k]);
    for (size_t i = g->frame_count; i-- > 0;)
        for (unsigned k = 0; k < g->frames[i].chosen; k++)
            graph_saved_once(g, &call, &g->nodes[g->frames[i].holder], 0, g->frames[i].results[k]);
}
