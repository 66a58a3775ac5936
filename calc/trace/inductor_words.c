// Owns the embedding in a compiled model's backward graph, and what a head with the same weights
// leaves for it. SRC: pytorch torch/_decomp/decompositions.py (embedding_dense_backward); traces
// *_whole*.

#include "calc/trace/inductor.h"

#include "calc/trace/compiled.h"

#ifndef VRAM_SMALL

// A kernel of the embedding: what it reads, and what it makes of that, or 0.
static void run_words_kernel(struct inductor *d, uint32_t a, uint32_t b, uint32_t made)
{
    size_t begin = d->use_count;
    inductor_use(d, a);
    inductor_use(d, b);
    inductor_use(d, made | (made ? INDUCTOR_MADE : 0));
    inductor_kernel_end(d, begin, false);
}

static uint32_t words_gradient(struct inductor *d, const struct node *table, enum op op)
{
    size_t begin = d->use_count;
    inductor_make_parameter(d, table, op);
    uint32_t made = d->use_count > begin ? inductor_used(d->uses[begin]) : 0;
    d->use_count = begin;
    return made;
}

static uint32_t add_words(struct inductor *d, uint32_t gradient, uint32_t zeros)
{
    size_t begin = d->use_count;
    inductor_use(d, gradient);
    uint32_t sum = inductor_change(d, zeros);
    inductor_kernel_end(d, begin, false);
    return sum;
}

// What words get is summed in float32, in zeros that wait for nothing. A head that has the same
// weights adds what it gets: in two bytes as a product with the sum.
static void run_words(struct inductor *d, const struct node *table, uint32_t gradient)
{
    const struct graph *g = d->g;
    bool tied = g->m->c.tie_embeddings,
         apart = compile_leaves_loss(d->g->m) || compile_is_in_buckets(d->g->m);
    if ((g->autocast && !tied) || (apart && g->residual == DT_F32)) {
        uint32_t all = words_gradient(d, table, OP_TRITON);
        run_words_kernel(d, 0, 0, all);
        add_words(d, gradient, all);
        return;
    }
    uint32_t sum =
        inductor_gradient_buffer(d, OP_TRITON, ROLE_WTE, PART_SCRATCH, DT_F32, SHAPE_W_WTE);
    run_words_kernel(d, 0, 0, sum);
    sum = add_words(d, gradient, sum);
    uint32_t other = d->head;
    if (other && d->buffers[other].shape == SHAPE_NV) {
        uint32_t low = inductor_gradient_buffer(d, OP_TRITON, ROLE_WTE, PART_WEIGHT_GRAD_LOW,
                                                g->compute, SHAPE_W_WTE);
        run_words_kernel(d, g->autocast ? other : sum, 0, low);
        other = g->autocast ? sum : other;
        sum = low;
    }
    run_words_kernel(d, sum, other, words_gradient(d, table, OP_MM));
}

// What positions get is generated code.
void inductor_run_embedding(struct inductor *d, const struct node *n, uint32_t gradient)
{
    const struct node *table = &d->joint.nodes[n->edges[0].to];
    if (table->param == P_WTE) {
        uint32_t layer = d->layer;
        d->layer = d->layers;
        run_words(d, table, gradient);
        d->layer = layer;
        return;
    }
    size_t begin = d->use_count;
    inductor_use(d, gradient);
    inductor_make_parameter(d, table, OP_TRITON);
    inductor_kernel_end(d, begin, true);
}

// Hidden states that nothing takes have a gradient of zeros, which is added to the head's.
void inductor_open_unused(struct inductor *d)
{
    struct graph *g = &d->joint;
    const struct node *n = &g->nodes[d->root];
    struct edge e = {.to = d->root, .dtype = n->dtype, .shape = n->shape, .role = n->role};
    if (d->block || (d->g->m->c.family != FAMILY_GPT2 && !compile_leaves_loss(d->g->m)))
        return;
    if (n->kind == NODE_TO_COPY)
        e = n->edges[0];
    d->unused = inductor_gradient_buffer(d, OP_ZEROS, e.role, PART_GRAD, e.dtype, e.shape);
    g->nodes[e.to].link++;
    inductor_deliver_buffer(d, &e, d->unused);
}

// The logits' gradient, if the weight's is a product at the end: with the sum, or where depth first
// is the order of least memory.
void inductor_open_head(struct inductor *d)
{
    const struct graph *g = d->g;
    if (!g->m->c.tie_embeddings || compile_is_in_buckets(g->m))
        return;
    if (g->autocast && g->m->c.family != FAMILY_GPT2)
        d->head = inductor_gradient_buffer(d, OP_MM, ROLE_HEAD, PART_WEIGHT_GRAD_LOW, g->compute,
                                           SHAPE_W_WTE);
    else
        d->head =
            inductor_gradient_buffer(d, OP_TRITON, ROLE_HEAD, PART_GRAD, g->compute, SHAPE_NV);
}
#endif
