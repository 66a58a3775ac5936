// Owns activation checkpointing: the forward pass of a block that keeps its input only, and its
// second run in backward. SRC: pytorch torch/utils/checkpoint.py, CheckpointFunction
// (use_reentrant=True) and _checkpoint_without_reentrant_generator with _CheckpointFrame,
// _checkpoint_hook, _recomputation_hook (False).

#include "calc/trace/checkpoint.h"

#include "calc/trace/backward.h"
#include "calc/trace/block.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/graph.h"
#include "calc/trace/parallel.h"

// A run of a block of which some results are kept: torch.utils.checkpoint's policy sees its
// operations. SRC: create_selective_checkpoint_contexts, _CachingTorchDispatchMode,
// _CachedTorchDispatchMode.
static struct value checkpoint_block_run(struct graph *g, struct value x, int32_t frame)
{
    g->choosing = checkpointing_chooses(&g->m->c) ? frame : GRAPH_NO_FRAME;
    g->products = 0;
    struct value out = block_forward(g, x);
    g->choosing = GRAPH_NO_FRAME;
    return out;
}

// use_reentrant=False. The block runs with gradients and its graph is recorded, but a hook puts a
// holder in the place of each tensor that a node saves. _NoopSaveInputs keeps the input.
static struct value checkpoint_packed(struct graph *g, struct value x)
{
    struct value kept = x;
    if (!graph_ok(g) || g->frame_count >= INT32_MAX)
        return graph_copy(g, x);
    void *p = g->frames;
    if (mem_grow(g->mem, &p, &g->frame_cap, g->frame_count + 1, sizeof *g->frames) != VRAM_OK) {
        g->failed = true;
        return graph_copy(g, x);
    }
    g->frames = p;
    int32_t number = (int32_t)g->frame_count++, holder = graph_node(g, NODE_SAVE_INPUTS, &kept, 0);
    graph_save(g, holder, x.storage);
    g->frames[number] = (struct frame){
        .first = (int32_t)g->node_count, .holder = holder, .input = x, .start = g->t->allocations};
    g->packing = number;
    struct value out = checkpoint_block_run(g, x, number);
    g->packing = GRAPH_NO_FRAME;
    g->frames[number].end = (int32_t)g->node_count;
    return out;
}

// The tensors that the second run has saved go to the nodes of the first, in the order of their
// making.
static void checkpoint_fill(struct graph *g, struct frame f, int32_t base)
{
    int32_t from = base;
    for (int32_t i = f.first; i < f.end; i++) {
        struct node *n = &g->nodes[i];
        if (n->saved_count == 0)
            continue;
        while (from < (int32_t)g->node_count && g->nodes[from].saved_count == 0)
            from++;
        if (from == (int32_t)g->node_count)
            return;
        struct node *made = &g->nodes[from++];
        for (unsigned k = 0; k < n->saved_count; k++)
            n->saved[k] = made->saved[k];
        made->saved_count = 0;
    }
}

// Scores that a block returns beside its result, and whoever runs it holds.
static void checkpoint_shares_go(struct graph *g)
{
    if (!(g->m->features & HAS_RETURNED_SHARES))
        return;
    graph_drop(g, g->shares);
    g->shares = graph_none();
}

#ifndef VRAM_SMALL
// Keys and values that the second run gives to layers without hold what made them, to the end of
// the last block. SRC: pytorch torch/utils/checkpoint.py, _recomputation_hook (pack_hook); trace
// gemma4_e4b_ckpt.
static void checkpoint_hold_given(struct graph *g, int32_t base)
{
    for (size_t i = (size_t)base; i < g->node_count; i++)
        g->nodes[i].waiting = 0;
    for (unsigned i = 0; i < 4; i++)
        if (g->given[i / 2][i % 2].node >= base)
            g->nodes[g->given[i / 2][i % 2].node].waiting = 1;
    for (size_t i = g->node_count; i-- > (size_t)base && graph_ok(g);) {
        const struct node *n = &g->nodes[i];
        for (unsigned k = 0; n->waiting && k < n->edge_count; k++)
            if (n->edges[k].to >= base)
                g->nodes[n->edges[k].to].waiting = 1;
        for (unsigned k = 0; n->waiting && k < n->saved_count; k++)
            graph_keep(g, n->saved[k], g->t->unit, g->t->sub);
    }
    for (unsigned i = 0; i < 4; i++)
        if (g->given[i / 2][i % 2].node >= base)
            g->given[i / 2][i % 2].node = GRAPH_NO_NODE;
}
#endif

// torchtitan's blocks run again to their end; traces of kept operations without experts are with
// PyTorch's default, as before torchtitan had the setting. SRC: torchtitan config/job_config.py,
// ActivationCheckpoint (early_stop).
static bool checkpoint_runs_through(const struct graph *g)
{
    return MODEL_IS_WHOLE && framework_goes(&g->m->c, BY_COMPLEX_ANGLES) &&
           (g->m->c.checkpointing != CHECKPOINTING_SELECTIVE || g->m->c.n_expert);
}

// The block once more, until the last tensor that a node wants is there (early stop: the exception
// that ends it frees the variables of the block's functions).
static void checkpoint_again(struct graph *g, int32_t number)
{
    struct frame f = g->frames[number];
    const struct node *holder = &g->nodes[f.holder];
    int32_t unit = g->t->unit, base = (int32_t)g->node_count;
    uint8_t sub = g->t->sub;
    g->frames[number].again = true;
    g->t->unit = holder->unit;
    g->t->sub = holder->sub;
    g->recompute = true;
    graph_offload_return(g, f.holder);
    struct value x = f.input;
    x.storage = g->nodes[f.holder].saved[0];
    x.node = GRAPH_NO_NODE;
    graph_node(g, NODE_ACCUMULATE, &x, PART_SELF);
    if (!checkpoint_runs_through(g))
        g->t->limit = g->t->allocations + f.stop;
    struct value out = checkpoint_block_run(g, x, number);
    g->t->limit = UINT32_MAX;
    graph_autocast_exit_layer(g);
    g->recompute = false;
    if (!graph_ok(g))
        return;
    graph_drop(g, out);
    checkpoint_shares_go(g);
#ifndef VRAM_SMALL
    checkpoint_hold_given(g, base);
#endif
    checkpoint_fill(g, f, base);
    struct param *p = graph_block_params(g);
    for (unsigned i = 0; i < LAYOUT_BLOCK_NUMBERS; i++)
        p[i].cast_node = GRAPH_NO_NODE;
    g->node_count = (size_t)base;
    g->t->unit = unit;
    g->t->sub = sub;
}

static void checkpoint_unpack(struct graph *g, int32_t node)
{
    graph_offload_return(g, node);
    const struct node *n = &g->nodes[node];
    if (n->frame != GRAPH_NO_FRAME && n->saved_count > 0 && !g->frames[n->frame].again)
        checkpoint_again(g, n->frame);
}

// The frame goes with the last of its holders, and with it the block's input.
static void checkpoint_release(struct graph *g, int32_t frame)
{
    struct frame *f = &g->frames[frame];
    if (f->left == 0 || --f->left > 0)
        return;
    struct node *holder = &g->nodes[f->holder];
    for (unsigned k = 0; k < holder->saved_count; k++)
        tape_unref(g->t, holder->saved[k]);
    holder->saved_count = 0;
    while (f->taken < f->chosen)
        tape_unref(g->t, f->results[f->taken++]);
    int32_t other =
        MODEL_IS_WHOLE && model_mask_kinds(g->m) > 1 ? (int32_t)model_layer_kinds(g->m) - 1 : 1;
    if (frame == other && !(g->m->features & (HAS_COUNTED_POSITIONS | HAS_RETURNED_SHARES)) &&
        checkpointing_is_of_all(&g->m->c)) {  // the first layer of its kind of mask
        uint32_t *mask = &g->masks[!model_opens_whole(g->m)];
        tape_unref(g->t, *mask);
        *mask = TAPE_NONE;
    }
#ifndef VRAM_SMALL
    if (frame + 1 == (int32_t)g->m->c.sliding_window_pattern && checkpointing_is_of_all(&g->m->c))
        layer_rope_close_global(g);  // an argument of the first layer without a window
#endif
#ifndef VRAM_SMALL
    if (frame == 0 && g->m->c.num_kv_shared_layers)
        graph_let_go(g);
#endif
    if (frame == 0 && graph_has(g, TRAIT_INNER_MODEL))
        layer_rope_close(g);  // an argument of every block
}

void checkpoint_end(struct graph *g)
{
    for (size_t i = 0; i < g->frame_count && graph_ok(g); i++)
        if (g->frames[i].left > 0) {
            g->frames[i].left = 1;
            checkpoint_release(g, (int32_t)i);
        }
}

// What CheckpointFunction runs, twice.
static struct value checkpoint_body(struct graph *g, struct value x)
{
    return g->around ? parallel_layer(g, x, block_forward) : block_forward(g, x);
}

struct value checkpoint_block(struct graph *g, struct value x)
{
    if (!g->m->c.use_reentrant)
        return checkpoint_packed(g, x);
    bool grad = g->grad;
    g->grad = false;
    struct value out = checkpoint_body(g, x);
    g->grad = grad;
    graph_follow_saving(g, NODE_CHECKPOINT, &out, x, x.storage);
    return out;
}

// Parameters whose nodes belong to the second run get new ones in the next.
static void checkpoint_forget(struct graph *g)
{
    struct param *p = graph_block_params(g);
    for (unsigned i = 0; i < LAYOUT_BLOCK_NUMBERS; i++)
        p[i].accumulate = p[i].cast_node = GRAPH_NO_NODE;
}

// Nobody has a gradient for them: the engine makes zeros, which last as long as the function. SRC:
// pytorch torch/csrc/autograd/python_function.cpp, PyNode::apply (materialize_grads).
static uint32_t checkpoint_zeros(struct graph *g)
{
    return g->m->features & HAS_RETURNED_SHARES
               ? graph_scratch(g, OP_ZEROS, ROLE_SCORES, PART_GRAD, g->compute, SHAPE_SCORES)
               : TAPE_NONE;
}

static void checkpoint_seed(struct graph *g, uint32_t zeros)
{
    if (zeros == TAPE_NONE || !graph_needs(g, g->shares))
        return;
    tape_ref(g->t, zeros);
    g->nodes[g->shares.node].gradient[0] = zeros;
}

static void checkpoint_run(struct graph *g, const struct node *n, uint32_t results[])
{
    int32_t base = (int32_t)g->node_count;
    size_t outliving = g->outliving_count;
    uint32_t zeros = checkpoint_zeros(g);
    struct value x = {n->saved[0],       GRAPH_NO_NODE,     0,
                      n->edges[0].dtype, n->edges[0].shape, n->edges[0].role};
    graph_node(g, NODE_ACCUMULATE, &x,
               PART_SELF);  // the detached input: a leaf that collects the gradient
    g->recompute = true;
    struct value out = checkpoint_body(g, x);
    graph_autocast_exit_layer(g);
    g->recompute = false;
    if (!graph_ok(g))
        return;
    tape_ref(g->t, n->gradient[0]);  // the function's argument stays
    checkpoint_seed(g, zeros);
    backward_run(g, out.node, n->gradient[0], base);
    if (!graph_ok(g))
        return;
    results[0] = g->nodes[base].gradient[0];
    graph_drop(g, out);
    if (MODEL_IS_WHOLE)
        graph_outlived_since(g, outliving);
    checkpoint_shares_go(g);
    tape_unref(g->t, zeros);
    g->t->unit = n->unit;
    g->t->sub = n->sub;
    parallel_keep_input(g, n->saved[0], results[0]);
    checkpoint_forget(g);
    g->node_count = (size_t)base;
}

const struct graph_calls checkpoint_calls = {checkpoint_run, checkpoint_unpack, checkpoint_release};
