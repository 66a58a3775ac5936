// Owns activations on the host: what goes there, what is held meanwhile, what comes back.

#include "calc/trace/graph.h"

#include "calc/model/unsloth.h"

// A pack hook copies what a node saves, where it is no weight and has 1024 bytes or more; a hook of
// the output layer takes it out. Each saved tensor has a number, a weight, too: with the next copy,
// what was saved five numbers before is surely done and is let go. TRL leaves on the card what is
// saved once more before that. SRC: torchtune training/_activation_offloading.py, TRL
// models/activation_offloading.py (OffloadActivations, pack_tensor, get_tensor_id,
// max_fwd_stash_size, storage_to_tensor_id; get_act_offloading_ctx_manager); transformers
// modeling_utils.py, _activation_checkpointing_enable (save_on_cpu around each checkpoint); traces
// llama_offload_sft, llama_offload_all and llama_offload_inputs.
static bool offload_goes(const struct graph *g, const struct node *n, const struct storage *s)
{
    uint64_t which = g->m->c.offload_activations;
    bool input = n->kind == NODE_CHECKPOINT || n->kind == NODE_SAVE_INPUTS;
    bool head = n->role == ROLE_LOGITS && n->kind == NODE_MM;
    bool outside = n->role == ROLE_LOGITS && !framework_goes(&g->m->c, BY_TRANSFORMERS);
    if (s->home != HOME_TAPE || s->shape == SHAPE_ONE)
        return false;
    return which == OFFLOAD_INPUTS ? input : which == OFFLOAD_SAVED && !head && !outside;
}

static bool offload_stays(struct graph *g, uint32_t storage)
{
    struct storage *s = &g->t->storages[storage];
    for (unsigned i = 0; i < GRAPH_STASH; i++)
        if (g->stash[i] == storage && framework_goes(&g->m->c, BY_TRANSFORMERS))
            s->stays = true;
    return s->stays;
}

static void offload_stash(struct graph *g, unsigned number, uint32_t storage)
{
    unsigned at = number % GRAPH_STASH;
    for (unsigned i = 0; i < GRAPH_STASH; i++)
        if (g->stash_number[i] + GRAPH_STASH <= number) {
            tape_unref(g->t, g->stash[i]);
            g->stash[i] = TAPE_NONE;
        }
    g->stash[at] = storage;
    g->stash_number[at] = number;
    tape_ref(g->t, storage);
}

// The number that stands for a storage among a node's saved ones: on the host.
static uint32_t offload_to_host(struct graph *g, unsigned number, uint32_t storage)
{
    struct storage s = g->t->storages[storage];
    uint32_t host = tape_existing(g->t, s.name, s.category, s.dtype, s.shape, HOME_CPU, 0);
    if (!graph_ok(g))
        return TAPE_NONE;
    g->t->storages[host].op = OP_TO_COPY;
    if (g->m->c.offload_activations == OFFLOAD_SAVED)
        offload_stash(g, number, storage);
    return host;
}

// A product saves its weight before its input. SRC: torch tools/autograd/derivatives.yaml, mm.
static unsigned offload_number(struct graph *g, const struct node *n)
{
    bool product = n->kind == NODE_MM || n->kind == NODE_ADDMM;
    if (product && n->saved_count && n->saved[0] != TAPE_NONE)
        return g->stashed - 1;
    g->stashed += product && !n->saved_count ? 2 : 1;
    return g->stashed;
}

uint32_t graph_offload_save(struct graph *g, const struct node *n, uint32_t storage)
{
    if (storage == TAPE_NONE || !graph_ok(g))
        return storage;
    bool forward = g->m->c.offload_activations && !g->t->backward;
    unsigned number = forward ? offload_number(g, n) : 0;
    if (forward && offload_goes(g, n, &g->t->storages[storage]) && !offload_stays(g, storage))
        return offload_to_host(g, number, storage);
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

// Unsloth's inputs of blocks come back into a buffer, one of those of unsloth_buffers.
static bool offload_has_buffer(const struct graph *g)
{
#ifndef VRAM_SMALL
    return unsloth_patches(&g->m->c) && graph_has(g, TRAIT_UNSLOTH_RETURN);
#else
    (void)g;
    return false;
#endif
}

void graph_offload_return(struct graph *g, int32_t node)
{
    bool holds = g->m->c.compile && g->m->c.offload_activations == OFFLOAD_SAVED;
    for (unsigned k = 0; g->m->c.offload_activations && k < g->nodes[node].saved_count; k++) {
        struct storage s = g->t->storages[g->nodes[node].saved[k]];
        if (!graph_is_on_host(&s) || offload_has_buffer(g))
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
        g->stash_number[i] = 0;
    }
    g->stashed = 0;
}
