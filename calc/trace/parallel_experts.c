// Owns FSDP2 around blocks whose experts are divided: these are a unit of their own on fewer GPUs.
// In torchtitan next blocks are gathered ahead in both directions, and angles in float32 are cast
// on their way into a block; in transformers a unit's backward gathers the unit that ran before it.
// SRC: transformers distributed/fsdp.py, apply_fully_sharded_data_parallelism; traces *_fsdp,
// *_fsdp_trl of experts; torchtitan models/llama4/infra/parallelize.py, apply_fsdp
// (fsdp_mod_ep_config, set_modules_to_forward_prefetch, set_modules_to_backward_prefetch); pytorch
// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py (unshard and wait_for_unshard, of one
// GPU apart), _fsdp_state.py, _pre_forward (cast_forward_inputs); traces titan_moe_ep*,
// titan_llama4_ep* of tests/calc/truth/frameworks.
#ifndef VRAM_SMALL

#include "calc/model/experts.h"
#include "calc/model/precision.h"
#include "calc/trace/attention_ring.h"
#include "calc/trace/gather.h"
#include "calc/trace/parallel.h"

static const uint16_t experts_numbers[] = {
    P_GATE, P_UP, P_DOWN, P_EXPERTS_UP, P_EXPERTS_UP_BIAS, P_EXPERTS_DOWN, P_EXPERTS_DOWN_BIAS};

static bool experts_apart(const struct graph *g)
{
    return g->gathered && model_divides_experts(g->m);
}

static bool experts_ask_ahead(const struct graph *g)
{
    return experts_apart(g) && model_permutes_experts(g->m) && graph_ok(g);
}

static bool experts_on_one(const struct graph *g)
{
    return model_expert_parts(g->m) == 1;
}

static bool experts_in(const struct graph *g, uint32_t layer)
{
    return !model_layer_is_dense(g->m, layer);
}

shape_id parallel_layer_shape(const struct graph *g, uint32_t layer)
{
    bool told = model_permutes_experts(g->m) || experts_apart(g);
    bool dense = told && !experts_in(g, layer);
    return dense ? SHAPE_LAYER_DENSE : SHAPE_LAYER;
}

// ---- what is gathered ahead --------------------------------------------------------------------

static uint32_t experts_ahead(struct graph *g, uint32_t layer, shape_id shape)
{
    const struct tape_stack *s = &g->t->stack;
    tape_ahead(g->t, tape_stack_unit(s, layer), tape_stack_sub(s, layer));
    uint32_t gathered = gather_weights(g, shape);
    tape_ahead_end(g->t);
    return gathered;
}

static uint32_t experts_only_ahead(struct graph *g, uint32_t layer)
{
    return experts_in(g, layer) && !experts_on_one(g) ? experts_ahead(g, layer, SHAPE_LAYER_EXPERTS)
                                                      : TAPE_NONE;
}

void experts_prefetch_first(struct graph *g)
{
    if (experts_ask_ahead(g))
        g->next = experts_ahead(g, 0, parallel_layer_shape(g, 0));
}

void experts_prefetch(struct graph *g)
{
    uint32_t layer = graph_layer(g) + 1;
    g->own_experts = experts_taken(&g->next_experts);
    if (!experts_ask_ahead(g))
        return;
    if (layer < graph_layers(g)) {
        g->next = experts_ahead(g, layer, parallel_layer_shape(g, layer));
        g->next_experts = experts_only_ahead(g, layer);
    } else if (parallel_apart(g)) {
        tape_ahead(g->t, TAPE_GLOBAL, 0);
        g->next = gather_weights(g, SHAPE_ROOT_LAST);
        tape_ahead_end(g->t);
    }
}

void experts_prefetch_behind(struct graph *g)
{
    uint32_t layer = graph_layer(g);
    g->own_experts = experts_taken(&g->behind_experts);
    if (experts_ran_last(g) && !experts_on_one(g))
        g->own_experts = gather_weights(g, SHAPE_LAYER_EXPERTS);
    if (experts_ask_ahead(g) && layer > 0)
        g->behind_experts = experts_only_ahead(g, layer - 1);
}

bool experts_ran_last(const struct graph *g)
{
    return experts_apart(g) && !model_permutes_experts(g->m) && experts_in(g, graph_layer(g));
}

uint32_t experts_taken(uint32_t *gathered)
{
    uint32_t out = *gathered;
    *gathered = TAPE_NONE;
    return out;
}

// ---- the unit ----------------------------------------------------------------------------------

static uint32_t experts_weights(struct graph *g, enum op op, shape_id shape)
{
    return tape_alloc(g->t, op, NAME(PARALLEL, GATHERED), VRAM_CAT_CAST, g->compute, shape);
}

// On one GPU each weight is copied, after a cast where it is wider; the next cast is there before
// the last goes.
static uint32_t experts_cast(struct graph *g)
{
    uint32_t weights = experts_weights(g, OP_ALL_GATHER, SHAPE_LAYER_EXPERTS);
    if (precision_of(&g->m->c)->weight != g->compute)
        tape_unref(g->t, experts_weights(g, OP_TO_COPY, SHAPE_W_EXPERTS));
    return weights;
}

static uint32_t experts_gather(struct graph *g)
{
    uint32_t gathered = experts_taken(&g->own_experts);
    return gathered != TAPE_NONE ? gathered : gather_weights(g, SHAPE_LAYER_EXPERTS);
}

// Where each expert is divided, its parts are joined by a copy.
static uint32_t experts_copy_out(struct graph *g, uint32_t gathered)
{
    bool inside = model_expert_parts(g->m) * g->m->c.expert_parallel > g->m->c.n_expert;
    if (!inside || !model_permutes_experts(g->m))
        return gather_copy_out(g, gathered, SHAPE_LAYER_EXPERTS);
    uint32_t weights = experts_weights(g, OP_ALL_GATHER, SHAPE_LAYER_EXPERTS);
    tape_unref(g->t, experts_weights(g, OP_NEW_EMPTY, SHAPE_LAYER_EXPERTS));
    tape_unref(g->t, gathered);
    return weights;
}

// What was gathered is there until the next unit's is copied out, in a block that runs again until
// its experts have; on one GPU nothing is.
static uint32_t experts_open(struct graph *g, uint32_t *gathered)
{
    *gathered = experts_on_one(g) ? TAPE_NONE : experts_gather(g);
    tape_unref(g->t, g->ahead);
    g->ahead = TAPE_NONE;
    if (experts_on_one(g))
        return experts_cast(g);
    tape_ref(g->t, *gathered);
    return experts_copy_out(g, *gathered);
}

// What runs again finds them open where their backward comes first of the block's.
static bool experts_are_open(const struct graph *g)
{
    return g->recompute && g->open_experts != TAPE_NONE;
}

struct value experts_enter(struct graph *g, struct value x, struct experts_unit *u)
{
    struct value in = graph_copy(g, x);
    u->apart = experts_apart(g) && !experts_are_open(g);
    if (!u->apart)
        return in;
    u->weights = experts_open(g, &u->gathered);
    graph_follow(g, NODE_EXPERTS_RESHARD, &in, x);
    if (!g->recompute)
        g->ahead = u->gathered;
    return in;
}

struct value experts_leave(struct graph *g, struct value y, const struct experts_unit *u)
{
    if (!u->apart)
        return y;
    struct value out = graph_copy(g, y);
    graph_follow(g, NODE_EXPERTS_GATHER, &out, y);
    if (g->recompute) {  // backward follows at once
        tape_unref(g->t, u->gathered);
        g->open_experts = u->weights;
    } else {
        tape_unref(g->t, u->weights);
    }
    graph_drop(g, y);
    return out;
}

static void experts_pass(struct graph *g, const struct node *n, uint32_t results[])
{
    tape_ref(g->t, n->gradient[0]);
    results[0] = n->gradient[0];
}

void node_experts_gather(struct graph *g, const struct node *n, uint32_t results[])
{
    if (g->open_experts == TAPE_NONE)
        g->open_experts =
            experts_on_one(g) ? experts_cast(g) : experts_copy_out(g, experts_gather(g));
    if (experts_ran_last(g))
        parallel_gather_before(g);
    experts_pass(g, n, results);
}

void node_experts_reshard(struct graph *g, const struct node *n, uint32_t results[])
{
    parallel_reduce_some(g, &g->open_experts, experts_numbers,
                         sizeof experts_numbers / sizeof *experts_numbers, SHAPE_LAYER_EXPERTS);
    experts_pass(g, n, results);
}

// ---- angles ------------------------------------------------------------------------------------

// Qwen3's cosines and sines; complex numbers are left as they are, and what is compiled takes them
// into its own graph.
static bool experts_casts_angles(const struct graph *g)
{
    return framework_goes(&g->m->c, BY_COMPLEX_ANGLES) && (g->m->features & HAS_HEAD_NORM) &&
           !g->m->c.compile && precision_of(&g->m->c)->weight != g->compute;
}

// Where GPUs share a sequence a block picks its positions out of the table. SRC: torchtitan
// models/qwen3/model/model.py (reshape_for_broadcast), models/llama4/model/model.py.
static bool experts_pick_angles(const struct graph *g)
{
    return attention_is_ring(g) && framework_goes(&g->m->c, BY_COMPLEX_ANGLES);
}

static uint32_t angles_make(struct graph *g, enum op op, uint8_t dtype, shape_id shape)
{
    return graph_scratch(g, op, ROLE_ROTARY, PART_INPUT_CAST, dtype, shape);
}

void parallel_angles(struct graph *g)
{
    bool casts = experts_casts_angles(g), picks = experts_pick_angles(g);
    g->table =
        casts && picks ? angles_make(g, OP_TO_COPY, g->compute, SHAPE_ROPE_TABLE) : TAPE_NONE;
    for (unsigned i = 0; i < 2; i++)
        g->angles[i] = casts ? angles_make(g, OP_TO_COPY, g->compute, SHAPE_ROPE) : TAPE_NONE;
    if (picks && !casts)
        g->angles[0] = angles_make(g, OP_INDEX, DT_F32, SHAPE_ROPE);
}

static void angles_hold(struct graph *g, struct value x, uint32_t angles)
{
    if (angles != TAPE_NONE && x.node != GRAPH_NO_NODE)
        graph_save(g, x.node, angles);
}

// A block that runs again keeps what it is given, another what it has picked.
void parallel_angles_keep(struct graph *g, struct value x, bool again)
{
    bool picks = experts_pick_angles(g);
    if (again)
        angles_hold(g, x, g->table);
    for (unsigned i = 0; i < 2; i++) {
        if (!picks || !again)
            angles_hold(g, x, g->angles[i]);
        tape_unref(g->t, g->angles[i]);
    }
}

void parallel_angles_go(struct graph *g)
{
    tape_unref(g->t, g->table);
    g->table = TAPE_NONE;
}
#endif
