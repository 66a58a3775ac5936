// Owns FSDP2's units outside of the layers where they are two: the embedding, whose weights go
// after its forward pass and come back for its backward, and the head. torchtitan's is one with the
// last norm, its weights stay between the two passes; those of torchtune's custom_sharded_layers go
// and come back, too. SRC: torchtitan models/llama3/infra/parallelize.py, apply_fsdp, since PR
// 1094; torchtune training/_distributed.py, shard_model (reshard_after_forward for every unit);
// traces titan_fsdp2_*, tune_fsdp2_ends_* of tests/calc/truth/frameworks.

#include "calc/trace/gather.h"
#include "calc/trace/parallel.h"

// What the small module has no room for: both ends as units that go and come back, and the root's
// part in it.
static bool ends_go(const struct graph *g)
{
    return MODEL_IS_WHOLE && g->m->c.shard_ends;
}

// DeepSpeed gathers module by module. SRC: DeepSpeed runtime/zero/parameter_offload.py
// (_register_deepspeed_module); traces llama8b_zero3_*.
static bool ends_are_modules(const struct graph *g)
{
    return MODEL_IS_WHOLE && g->m->c.parallel == PARALLEL_ZERO3;
}

bool parallel_apart(const struct graph *g)
{
    bool apart = ends_go(g) || parallel_has_tail(g) ||
                 (graph_has(g, TRAIT_ENDS_APART) && !g->m->c.lora_rank);
    if (ends_are_modules(g))
        return g->gathered && !g->m->c.tie_embeddings;
    return g->gathered && apart && g->m->c.parallel == PARALLEL_FSDP && !g->m->c.tie_embeddings;
}

enum { END_FIRST = 1, END_LAST, END_ROOT };

// The head is called once a chunk of the loss.
static bool ends_cut(const struct graph *g)
{
    return g->m->c.cross_entropy == CROSS_ENTROPY_CHUNKED_OUTPUT;
}

// Embedding and head belong to the root, and its forward function returns logits.
static bool ends_rooted(const struct graph *g)
{
    return MODEL_IS_WHOLE && g->gathered && gather_copies(g) && !graph_has(g, TRAIT_INNER_MODEL);
}

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

#ifndef VRAM_SMALL
// Under PEFT accelerate finds no last norm: the head is a unit alone, which is not called where TRL
// multiplies tiles with its weight. The loss gathers that itself, and the last layer's stay. SRC:
// accelerate utils/fsdp_utils.py, _find_final_norm; trl trainer/utils.py, add_fused_lm_head
// (full_tensor).
static bool ends_whole_tensor(const struct graph *g)
{
    return g->m->c.lora_rank && g->m->c.cross_entropy == CROSS_ENTROPY_TILED &&
           parallel_has_tail(g);
}
#endif

static uint32_t ends_take_last(struct graph *g)
{
#ifndef VRAM_SMALL
    if (ends_whole_tensor(g))
        return tape_alloc(g->t, OP_ALL_GATHER, NAME(PARALLEL, GATHERED), VRAM_CAT_CAST, g->compute,
                          SHAPE_W_WTE);
#endif
    return parallel_take_forward(g, SHAPE_ROOT_LAST);
}

struct value parallel_head_enter(struct graph *g, struct value x)
{
    if (!parallel_apart(g))
        return x;
    g->root = ends_take_last(g);
    return ends_view(g, x, NODE_RESHARD, END_LAST);
}

struct value parallel_head_leave(struct graph *g, struct value logits)
{
    if (parallel_has_tail(g))  // which stays
        return ends_view(g, logits, NODE_GATHER, parallel_apart(g) ? END_LAST : END_ROOT);
    if (!parallel_apart(g) && ends_rooted(g)) {
        parallel_root_goes(g);
        return ends_view(g, logits, NODE_GATHER, END_ROOT);
    }
    if (!parallel_apart(g))
        return logits;
    parallel_forward_end(g);
    if (ends_go(g)) {
        tape_unref(g->t, g->root);
        g->root = TAPE_NONE;
    }
    return ends_view(g, logits, NODE_GATHER, END_LAST);
}

// What autograd reaches first of a unit gathers the unit that ran before it ahead: from the head,
// or from the root, to which the head belongs, the last layer; from a head that ran several times
// itself. SRC: pytorch torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py,
// _backward_prefetch.
void parallel_gather_end(struct graph *g, const struct node *n)
{
    if (n->extra != END_FIRST) {
        shape_id shape = n->extra == END_ROOT ? SHAPE_ROOT : SHAPE_ROOT_LAST;
        if (MODEL_IS_WHOLE && g->root == TAPE_NONE)
            g->root = gather_copy_out(g, gather_weights(g, shape), shape);
        bool cut = ends_cut(g) || ends_are_modules(g);
        if (!MODEL_IS_WHOLE || n->extra == END_ROOT || !cut)
            parallel_gather_ahead(g, graph_layers(g) - 1);
        return;
    }
    uint32_t gathered = g->behind;
    g->behind = TAPE_NONE;
    g->root =
        gather_copy_out(g, gathered != TAPE_NONE ? gathered : gather_weights(g, SHAPE_ROOT_FIRST),
                        SHAPE_ROOT_FIRST);
}
