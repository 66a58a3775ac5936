// Owns the pass of a compiled model (torch.compile, inductor): two fused graphs in place of single
// operations.
//
// A model of what inductor does, not a rule: which tensors the partitioner hands from the forward
// to the backward graph was read from a published dump of nanoGPT's joint graph; buffers die after
// their last use, an addition to the residual stream works in place, all weight gradients are
// outputs of one call and reach .grad when it has returned. SRC: pytorch
// torch/_functorch/partitioners.py, torch/_inductor/codegen/wrapper.py (del after last use),
// torch/_functorch/_aot_autograd/runtime_wrappers.py (zeros for tangents of outputs that were not
// used), pytorch PR 129043 (the loss's backward without a scatter, from 2.5 on).

#include "calc/trace/attention.h"
#include "calc/trace/pass_compile.h"

#include "calc/trace/compiled.h"
#include "calc/trace/layers.h"
#include "calc/trace/pass_compile_kept.h"

uint32_t compile_buffer(struct graph *g, enum op op, uint8_t role, uint8_t part, uint8_t dtype,
                        shape_id shape)
{
    return graph_scratch(g, op, role, part, dtype, shape);
}

void compile_release(struct graph *g, uint32_t *storage)
{
    tape_unref(g->t, *storage);
    *storage = TAPE_NONE;
}

// ---- what is kept ------------------------------------------------------------------------------

int32_t compile_kept_nodes(struct graph *g, unsigned count)
{
    int32_t first = (int32_t)g->node_count;
    for (unsigned i = 0; i < count; i++) {
        struct value owner = {TAPE_NONE, GRAPH_NO_NODE, 0, g->compute, SHAPE_U, ROLE_RESID2};
        int32_t n = graph_node(g, NODE_COMPILED, &owner, 0);
        if (n == GRAPH_NO_NODE)
            return n;
        for (unsigned k = 0; k < GRAPH_SAVED; k++)
            g->nodes[n].saved[k] = TAPE_NONE;
        g->nodes[n].saved_count = GRAPH_SAVED;
    }
    return first;
}

static uint32_t *kept_at(struct graph *g, int32_t nodes, unsigned which)
{
    return &g->nodes[nodes + (int32_t)(which / GRAPH_SAVED)].saved[which % GRAPH_SAVED];
}

// Hands a buffer over to backward; without gradients it dies here. Returns it for further use
// inside of forward.
void compile_keep(struct graph *g, int32_t nodes, unsigned which, uint32_t storage)
{
    if (nodes != GRAPH_NO_NODE && graph_ok(g))
        *kept_at(g, nodes, which) = storage;
    else
        tape_unref(g->t, storage);
}

void compile_forget(struct graph *g, int32_t nodes, unsigned which)
{
    if (graph_ok(g))
        compile_release(g, kept_at(g, nodes, which));
}

#ifndef VRAM_SMALL
uint32_t compile_kept(struct graph *g, int32_t nodes, unsigned which)
{
    return *kept_at(g, nodes, which);
}
#endif

uint32_t compile_take(struct graph *g, int32_t nodes, unsigned which)
{
    uint32_t *kept = kept_at(g, nodes, which), storage = *kept;
    *kept = TAPE_NONE;
    return storage;
}

// ---- forward -----------------------------------------------------------------------------------

// The weight as the product takes it; TAPE_NONE where it is used as it is. Its gradient's node is
// made on the way.
static uint32_t weight_cast(struct graph *g, bool global, uint16_t number)
{
    struct value w = graph_param(g, global, number);
    graph_drop(g, graph_param(g, global, (uint16_t)(number + LAYOUT_BIAS)));
    uint32_t cast =
        g->autocast && !(MODEL_IS_WHOLE && w.dtype == g->compute)
            ? compile_buffer(g, OP_TRITON, w.role, PART_WEIGHT_CAST, g->compute, w.shape)
            : TAPE_NONE;
    graph_drop(g, w);
    return cast;
}

static void norm_params(struct graph *g, bool global, uint16_t number)
{
    graph_drop(g, graph_param(g, global, number));
    graph_drop(g, graph_param(g, global, (uint16_t)(number + LAYOUT_BIAS)));
}

// Add and normalize in one kernel: the stream in place, x_hat, 1 / sigma and the normalized output.
static uint32_t norm(struct region *r, int32_t nodes, unsigned which, bool global, uint16_t number,
                     uint8_t role)
{
    struct graph *g = r->g;
    norm_params(g, global, number);
    if (nodes != GRAPH_NO_NODE)
        compile_keep(g, nodes, which,
                     compile_buffer(g, OP_TRITON, role, PART_NORMALIZED, DT_F32, SHAPE_U));
    compile_keep(g, nodes, which + 1,
                 compile_buffer(g, OP_TRITON, role, PART_RSTD, DT_F32, SHAPE_TOKENS));
    uint32_t out = compile_buffer(g, OP_TRITON, role, PART_OUTPUT, g->compute, SHAPE_U);
    compile_release(g, &r->branch);
    return out;
}

struct product {
    uint16_t number;
    uint8_t role;
    shape_id shape;
    unsigned cast;  // where the weight's cast is kept
};

static uint32_t product(struct region *r, int32_t nodes, const struct product *p)
{
    uint32_t cast = weight_cast(r->g, false, p->number);
    uint32_t out = compile_buffer(r->g, OP_MM, p->role, PART_OUTPUT, r->g->compute, p->shape);
    if (cast != TAPE_NONE)
        compile_keep(r->g, nodes, p->cast, cast);
    return out;
}

bool compile_is_flash(const struct graph *g)
{
    return attention_is_flash(g, g->compute);
}

static void forward_attention(struct region *r, int32_t nodes)
{
    static const struct product qkv = {P_QKV, ROLE_ATTN_QKV, SHAPE_QKV, QKV_CAST};
    static const struct product out = {P_O, ROLE_ATTN_PROJ, SHAPE_U, PROJ_CAST};
    struct graph *g = r->g;
    uint32_t normed = norm(r, nodes, LN1_HAT, false, P_LN1, ROLE_LN1);
    uint32_t heads = product(r, nodes, &qkv);
    compile_keep(g, nodes, LN1_OUT, normed);
    uint32_t y = compile_buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_OUTPUT, g->compute, SHAPE_Q);
    compile_keep(g, nodes, ATT_LSE,
                 compile_buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_LSE, DT_F32,
                                compile_is_flash(g) ? SHAPE_LSE : SHAPE_LSE32));
    compile_keep(g, nodes, ATT_RNG,
                 compile_buffer(g, OP_NEW_EMPTY, ROLE_ATTENTION, PART_RNG, DT_I64, SHAPE_RNG));
    compile_keep(g, nodes, QKV_OUT, heads);
    r->branch = product(r, nodes, &out);
    compile_keep(g, nodes, ATT_OUT, y);
}

static void forward_mlp(struct region *r, int32_t nodes)
{
    static const struct product fc = {P_UP, ROLE_FC, SHAPE_FF, FC_CAST};
    static const struct product down = {P_DOWN, ROLE_MLP_PROJ, SHAPE_U, DOWN_CAST};
    struct graph *g = r->g;
    uint32_t normed = norm(r, nodes, LN2_HAT, false, P_LN2, ROLE_LN2);
    uint32_t wide = product(r, nodes, &fc);
    compile_keep(g, nodes, LN2_OUT, normed);
    uint32_t active = compile_buffer(g, OP_TRITON, ROLE_ACT, PART_OUTPUT, g->compute, SHAPE_FF);
    compile_keep(g, nodes, FC_OUT, wide);
    if (!r->again)
        r->branch = product(r, nodes, &down);
    else if (g->autocast)
        compile_keep(g, nodes, DOWN_CAST, weight_cast(g, false, P_DOWN));
    compile_keep(g, nodes, GELU_OUT, active);
}

// torch.utils.checkpoint inside of what is compiled: its operations carry a tag, and the
// partitioner hands the block's input alone to the backward graph, which makes the rest of it
// again. SRC: pytorch torch/_functorch/partitioners.py (must_recompute, cleanup_recompute_tags);
// traces nanogpt_compiled_*.
bool compile_checkpoints(const struct graph *g, uint32_t layer)
{
    uint64_t kind = g->m->c.checkpointing;
    return g->grad && (kind == CHECKPOINTING_BLOCK ||
                       (kind == CHECKPOINTING_EVERY && layer % g->m->c.checkpoint_every == 0));
}

static void forward_checkpointed(struct region *r, int32_t nodes)
{
    struct graph *g = r->g;
    forward_attention(r, GRAPH_NO_NODE);
    forward_mlp(r, GRAPH_NO_NODE);
    compile_keep(g, nodes, BLOCK_INPUT, r->residual);
    r->residual = compile_buffer(g, OP_TRITON, ROLE_RESID2, PART_OUTPUT, DT_F32, SHAPE_U);
}

// The block's gradients are r->residual and r->gradient, which stay. Its last product is not
// needed.
void compile_again(struct region *r, int32_t nodes)
{
    r->again = r->g->recompute = true;
    forward_attention(r, nodes);
    forward_mlp(r, nodes);
    r->again = r->g->recompute = false;
    compile_forget(r->g, nodes, BLOCK_INPUT);
}

// Every layer makes the same number of nodes, so that a layer's are found again by counting.
static void region_layers(struct region *r)
{
    struct graph *g = r->g;
    g->compiled_first = (int32_t)g->node_count;
    for (uint32_t layer = 0; layer < graph_layers(g) && graph_ok(g); layer++) {
        graph_enter(g, layer);
        int32_t nodes = compile_kept_nodes(g, KEPT_NODES);
        if (compile_checkpoints(g, layer)) {
            forward_checkpointed(r, nodes);
        } else {
            forward_attention(r, nodes);
            forward_mlp(r, nodes);
        }
        if (layer == 0)
            g->compiled_stride = (int32_t)g->node_count - g->compiled_first;
    }
    graph_leave(g);
}

static uint32_t last_layer(const struct graph *g)
{
    return graph_layers(g) - 1;
}

// The last norm of a checkpointed block's output, which the backward graph makes again: nothing of
// it is kept.
static uint32_t last_norm(struct region *r)
{
    struct graph *g = r->g;
    bool again = compile_checkpoints(g, last_layer(g));
    uint32_t normed = norm(r, again ? GRAPH_NO_NODE : r->end, LNF_HAT, true, P_LN_F, ROLE_LN_F);
    compile_release(g, &r->residual);
    return normed;
}

struct value compile_loss(struct graph *g, uint32_t normed, uint32_t ids, uint32_t targets,
                          struct value *logits)
{
    int32_t end = g->compiled_end;
    uint16_t head = g->m->c.tie_embeddings ? P_WTE : P_HEAD;
    uint32_t cast = weight_cast(g, true, head);
    *logits = graph_make(g, OP_MM, ROLE_LOGITS, PART_SELF, g->compute, SHAPE_NV);
    bool frozen = MODEL_IS_WHOLE && !layout_find(&g->layout, false, head)->trained;
    compile_keep(g, frozen ? GRAPH_NO_NODE : end, LNF_OUT, normed);
    if (cast != TAPE_NONE)
        compile_keep(g, end, HEAD_CAST, cast);
    compile_keep(g, end, AMAX,
                 compile_buffer(g, OP_TRITON, ROLE_LOSS, PART_SCRATCH, DT_F32, SHAPE_TOKENS));
    compile_keep(g, end, LOG_SUM,
                 compile_buffer(g, OP_TRITON, ROLE_LOSS, PART_LSE, DT_F32, SHAPE_TOKENS));
    struct value loss = graph_make(g, OP_TRITON, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    if (g->grad && graph_ok(g)) {
        compile_keep(g, end, LOGITS, graph_copy(g, *logits).storage);
        if (compile_is_traced(g->m) &&
            (g->m->features & (HAS_SOFT_CAP | HAS_GLOBAL_HEADS))) {  // beside the product
            graph_drop(g, *logits);
            *logits = graph_make(g, OP_TRITON, ROLE_LOGITS, PART_SCALED, g->compute, SHAPE_NV);
        }
        tape_ref(g->t, targets);
        compile_keep(g, end, TARGETS, targets);
        tape_ref(g->t, ids);
        compile_keep(g, end, IDS, ids);
    }
    if (!g->m->c.compile_logits) {
        graph_drop(g, *logits);
        *logits = graph_none();
    }
    return loss;
}

// The embeddings are added as they are read; only their sum is stored.
struct value compile_forward(struct graph *g, uint32_t ids, uint32_t targets, struct value *logits)
{
    struct region r = {.g = g};
    norm_params(g, true, P_WTE);
    norm_params(g, true, P_WPE);
    r.residual = compile_buffer(g, OP_TRITON, ROLE_EMBED, PART_SELF, DT_F32, SHAPE_U);
    region_layers(&r);
    r.end = g->compiled_end = compile_kept_nodes(g, KEPT_END_NODES);
    return compile_loss(g, last_norm(&r), ids, targets, logits);
}
