// Owns activations on the host: what goes there, what is held meanwhile, what comes back.

#include "calc/trace/graph.h"

// A pack hook copies what a node saves, where it is no weight and has 1024 bytes or more; a hook of
// the output layer takes it out. The latest are held until their copies are surely done. TRL leaves
// on the card what is saved once more while it is held. SRC: torchtune
// training/_activation_offloading.py, TRL models/activation_offloading.py (OffloadActivations,
// max_fwd_stash_size, storage_to_tensor_id; get_act_offloading_ctx_manager); transformers
// modeling_utils.py, _activation_checkpointing_enable (save_on_cpu around each checkpoint); traces
// llama_offload_sft and llama_offload_inputs.
static bool offload_goes(const struct graph *g, const struct node *n, const struct storage *s)
{
    uint64_t which = g->m->c.offload_activations;
    bool input = n->kind == NODE_CHECKPOINT || n->kind == NODE_SAVE_INPUTS;
    bool head = n->role == ROLE_LOGITS && n->kind == NODE_MM;
    bool outside = n->role == ROLE_LOGITS && !framework_goes(&g->m->c, BY_TRANSFORMERS);
    if (g->t->backward || s->home != HOME_TAPE || s->shape == SHAPE_ONE)
        return false;
    return which == OFFLOAD_INPUTS ? input : which == OFFLOAD_SAVED && !head && !outside;
}

static bool offload_is_held(const struct graph *g, uint32_t storage)
{
    for (unsigned i = 0; i < GRAPH_STASH; i++)
        if (g->stash[i] == storage && framework_goes(&g->m->c, BY_TRANSFORMERS))
            return true;
    return false;
}

// The number that stands for a storage among a node's saved ones: on the host.
static uint32_t offload_to_host(struct graph *g, uint32_t storage)
{
    struct storage s = g->t->storages[storage];
    uint32_t host = tape_existing(g->t, s.name, s.category, s.dtype, s.shape, HOME_CPU, 0);
    if (!graph_ok(g))
        return TAPE_NONE;
    g->t->storages[host].op = OP_TO_COPY;
    if (g->m->c.offload_activations == OFFLOAD_SAVED) {
        unsigned at = g->stashed++ % GRAPH_STASH;
        tape_unref(g->t, g->stash[at]);
        g->stash[at] = storage;
        tape_ref(g->t, storage);
    }
    return host;
}

uint32_t graph_offload_save(struct graph *g, const struct node *n, uint32_t storage)
{
    bool goes = g->m->c.offload_activations && storage != TAPE_NONE && graph_ok(g) &&
                offload_goes(g, n, &g->t->storages[storage]) && !offload_is_held(g, storage);
    if (goes)
        return offload_to_host(g, storage);
    if (storage != TAPE_NONE)
        tape_ref(g->t, storage);
    return storage;
}

// What has come back is held to the end of the next node for which something does, here to the
// beginning of the one after it. In eager blocks that is a node of the same formula. SRC: torchtune
// training/_activation_offloading.py (bwd_tensor_stash, prev_node_ids); trace
// tune_compiled_offload.
static void offload_hold(struct graph *g, uint32_t storage)
{
    unsigned at = g->stashed++ % 2;
    tape_unref(g->t, g->stash[at]);
    g->stash[at] = storage;
    tape_ref(g->t, storage);
}

void graph_offload_return(struct graph *g, int32_t node)
{
    bool holds = g->m->c.compile && g->m->c.offload_activations == OFFLOAD_SAVED;
    for (unsigned k = 0; g->m->c.offload_activations && k < g->nodes[node].saved_count; k++) {
        struct storage s = g->t->storages[g->nodes[node].saved[k]];
        if (!graph_is_on_host(&s))
            continue;
        g->nodes[node].saved[k] =
            tape_alloc(g->t, OP_TO_COPY, s.name, s.category, s.dtype, s.shape);
        if (holds && s.shape == SHAPE_U)
            offload_hold(g, g->nodes[node].saved[k]);
    }
}

void graph_offload_stash_go(struct graph *g)
{
    for (unsigned i = 0; i < GRAPH_STASH; i++) {
        tape_unref(g->t, g->stash[i]);
        g->stash[i] = TAPE_NONE;
    }
    g->stashed = 0;
}
