// Owns the losses that never hold all logits: head and loss in chunks with the gradients made in
// forward (Liger), and the kernel that keeps one number a token (Cut Cross-Entropy). SRC:
// linkedin/Liger-Kernel src/liger_kernel/ops/fused_linear_cross_entropy.py (arXiv 2410.10989);
// apple/ml-cross-entropy cut_cross_entropy/cce.py (arXiv 2411.09009).

#include "calc/trace/loss_chunked.h"

#include "calc/model/unsloth.h"
#include "calc/trace/layers.h"
#include "calc/trace/linear.h"

// The head's weight and the last hidden state as the kernels take them.
struct fused {
    struct value in, w, cast;
};

static struct fused fused_open(struct graph *g, struct value x)
{
    struct fused f;
    uint16_t number = layer_head_weight(g);
    f.w = graph_param(g, true, number);
    f.cast = graph_weight_cast(g, true, number, f.w);
    f.in = graph_input_cast(g, x, ROLE_HEAD, PART_INPUT_CAST);
    return f;
}

static void fused_close(struct graph *g, const struct fused *f)
{
    graph_drop(g, f->in);
    graph_drop(g, f->cast);
    graph_drop(g, f->w);
}

// What the variables of the loop hold: the logits of a chunk, in which the kernel leaves their
// gradient, and that gradient scaled, where there is a copy of it.
struct chunk {
    uint32_t logits, scaled;
};

static uint32_t chunk_tensor(struct graph *g, enum op op, uint8_t dtype)
{
    return graph_scratch(g, op, ROLE_LOGITS, PART_SELF, dtype, SHAPE_CHUNK_V);
}

static void chunk_rebind(struct graph *g, uint32_t *variable, uint32_t with)
{
    tape_unref(g->t, *variable);
    *variable = with;
}

#ifndef VRAM_SMALL
// Unsloth's: compiled, the gradient of logits is a tensor beside them; from 2026.10 on in their
// buffer, which lasts, and the product has four bytes. SRC: unsloth_zoo
// fused_losses/cross_entropy_loss.py (accumulate_chunk), fused_losses/fused_linear.py (_ce_impl,
// _Buffers, _dz_w); traces uns_*.
static void chunk_run_unsloth(struct graph *g, struct chunk *c)
{
    bool wide = graph_has(g, TRAIT_UNSLOTH_WIDE_CHUNK);
    uint32_t gradient = TAPE_NONE;
    if (!wide) {
        uint32_t logits = chunk_tensor(g, OP_MM, g->compute);
        gradient = chunk_tensor(g, OP_TRITON, g->compute);
        tape_unref(g->t, logits);
    } else if (c->logits == TAPE_NONE) {
        c->logits = chunk_tensor(g, OP_MM, DT_F32);
    }
    uint8_t dtype = wide ? DT_F32 : g->compute;
    uint32_t product = graph_scratch(g, OP_MM, ROLE_LOSS, PART_TEMP, dtype, SHAPE_CHUNK_U);
    tape_unref(g->t, gradient);
    tape_unref(g->t, product);
}
#endif

// One chunk: its logits, and their gradient times the weight. The chunk before it is a variable
// until the names have gone to this one. fms-acceleration's copy of the kernel works in float32.
static void chunk_run(struct graph *g, struct chunk *c)
{
#ifndef VRAM_SMALL
    if (unsloth_patches(&g->m->c)) {
        chunk_run_unsloth(g, c);
        return;
    }
#endif
    bool wide = g->m->c.kernels == KERNELS_FOAK;
    bool buffer = graph_has(g, TRAIT_LIGER_BUFFER) && !wide;
    if (c->logits == TAPE_NONE || !buffer)
        chunk_rebind(g, &c->logits, chunk_tensor(g, OP_MM, g->compute));
    if (wide) {
        chunk_rebind(g, &c->logits, chunk_tensor(g, OP_TO_COPY, DT_F32));
        chunk_rebind(g, &c->logits, chunk_tensor(g, OP_TO_COPY, g->compute));
    }
    if (wide || graph_has(g, TRAIT_LIGER_COPIES))
        chunk_rebind(g, &c->scaled, chunk_tensor(g, OP_MUL, g->compute));
    if (g->grad && !buffer)
        tape_unref(g->t, graph_scratch(g, OP_MM, ROLE_LOSS, PART_TEMP, g->compute, SHAPE_CHUNK_U));
}

// hidden_states[..., :-1, :].contiguous(), which one sequence is already.
static struct value chunk_shifted(struct graph *g, struct value x)
{
    bool copies = g->m->c.kernels == KERNELS_FOAK || graph_has(g, TRAIT_LIGER_COPIES);
    if (!copies || unsloth_patches(&g->m->c) || !graph_has(g, TRAIT_INNER_MODEL) ||
        g->m->c.batch_size == 1)
        return graph_copy(g, x);
    struct value view = layer_view(g, graph_copy(g, x), NODE_SLICE);
    if (graph_has(g, TRAIT_SLICE_NODES))
        view = layer_view(g, view, NODE_SLICE);
    struct value out = layer_copy(g, view);
    graph_drop(g, view);
    return out;
}

bool loss_is_one_chunk(const struct model *m)
{
    struct dims d;
    if (m->c.cross_entropy == CROSS_ENTROPY_EAGER)
        return false;
    dims_make(&d, m);
    return d.chunk >= d.N;
}

// All chunks after the second are like it: what they allocate has just been freed.
struct value loss_chunked(struct graph *g, struct value x)
{
    struct value shifted = chunk_shifted(g, x);
    struct fused f = fused_open(g, shifted);
    graph_drop(g, shifted);
    bool weight = graph_needs(g, f.w), input = graph_needs(g, f.in);
    uint32_t d_in = input ? graph_scratch(g, OP_ZEROS, ROLE_HEAD, PART_GRAD, f.in.dtype, f.in.shape)
                          : TAPE_NONE;
    uint32_t d_w =
        weight ? graph_scratch(g, OP_ZEROS, f.w.role, PART_WEIGHT_GRAD, f.w.dtype, f.w.shape)
               : TAPE_NONE;
    uint32_t losses = graph_scratch(g, OP_ZEROS, ROLE_LOSS, PART_SCRATCH, DT_F32, SHAPE_TOKENS);
    struct chunk last = {TAPE_NONE, TAPE_NONE};
    chunk_run(g, &last);
    if (!loss_is_one_chunk(g->m))
        chunk_run(g, &last);
    struct value loss = graph_make(g, OP_SUM, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    if (input || weight) {
        int32_t n = graph_node(g, NODE_FUSED_LOSS, &loss, 0);
        graph_save(g, n, d_in);
        graph_save(g, n, d_w);
        graph_edge(g, n, f.in);
        graph_edge(g, n, f.w);
    }
    tape_unref(g->t, last.scaled);
    tape_unref(g->t, last.logits);
    tape_unref(g->t, losses);
    tape_unref(g->t, d_w);
    tape_unref(g->t, d_in);
    fused_close(g, &f);
    return loss;
}

static bool unsloth_scales(const struct graph *g)
{
#ifndef VRAM_SMALL
    return unsloth_patches(&g->m->c) && graph_has(g, TRAIT_UNSLOTH_SCALED);
#else
    (void)g;
    return false;
#endif
}

struct value loss_cut(struct graph *g, struct value x, uint32_t targets)
{
    struct fused f = fused_open(g, x);
    uint32_t lse = graph_scratch(g, OP_TRITON, ROLE_LOSS, PART_LSE, DT_F32, SHAPE_TOKENS);
    uint32_t dots = graph_scratch(g, OP_TRITON, ROLE_LOSS, PART_SCRATCH, DT_F32, SHAPE_TOKENS);
    struct value loss = graph_make(g, OP_MEAN, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    if (graph_needs(g, f.in) || graph_needs(g, f.cast)) {
        int32_t n = graph_node(g, NODE_CCE, &loss, 0);
        graph_save(g, n, f.in.storage);
        graph_save(g, n, f.cast.storage);
        graph_save(g, n, lse);
        graph_save(g, n, targets);
        graph_edge(g, n, f.in);
        graph_edge(g, n, f.cast);
    }
    tape_unref(g->t, dots);
    tape_unref(g->t, lse);
    fused_close(g, &f);
    return loss;
}

// Liger: the gradients are there since forward and are handed on; Unsloth scales them.
void node_fused_loss(struct graph *g, const struct node *n, uint32_t results[])
{
    static const uint8_t part[2] = {PART_GRAD, PART_WEIGHT_GRAD};
    bool scales = unsloth_scales(g);
    for (unsigned k = 0; k < 2; k++) {
        const struct edge *e = &n->edges[k];
        if (e->to == GRAPH_NO_NODE || n->saved[k] == TAPE_NONE)
            continue;
        if (scales) {
            results[k] = graph_scratch(g, OP_MUL, e->role, part[k], e->dtype, e->shape);
            continue;
        }
        tape_ref(g->t, n->saved[k]);
        results[k] = n->saved[k];
    }
}

void node_cut_loss(struct graph *g, const struct node *n, uint32_t results[])
{
    static const uint8_t part[2] = {PART_GRAD, PART_WEIGHT_GRAD_LOW};
    for (unsigned k = 0; k < 2; k++)
        if (n->edges[k].to != GRAPH_NO_NODE)
            results[k] = graph_scratch(g, OP_TRITON, n->edges[k].role, part[k], n->edges[k].dtype,
                                       n->edges[k].shape);
}
