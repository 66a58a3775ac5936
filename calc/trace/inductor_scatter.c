// Owns gradients that are added up at places of a tensor of zeros: one kernel fills that, one adds,
// generated where the card adds numbers of that format at once, else a call of a library. SRC:
// pytorch torch/_inductor/lowering.py (index_put_impl_), torch/_inductor/utils.py
// (needs_fallback_due_to_atomic_add_limitations).

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

#include "calc/vram.h"

static bool is_generated(const struct inductor *d, uint8_t dtype)
{
    enum { HOPPER = 90 };
    int32_t card = d->g->m->c.gpu;
    const struct vram_gpu *gpu = card < 0 ? NULL : vram_gpu_at((size_t)card);
    return dtype != DT_LOW || (gpu && gpu->compute_capability >= HOPPER);
}

bool inductor_scatters(const struct node *n)
{
    return n->kind == NODE_INDEX || n->kind == NODE_ROUTE;
}

static uint32_t make_zeros(struct inductor *d, const struct edge *e)
{
    uint32_t b = inductor_gradient_buffer(d, OP_ZEROS, e->role, PART_GRAD, e->dtype, e->shape);
    size_t begin = d->use_count;
    inductor_use(d, b | INDUCTOR_MADE);
    inductor_kernel_end(d, begin, true);
    return b;
}

// Zeros for a generated kernel that adds to them.
void inductor_open_scatter(struct inductor *d, int32_t i)
{
    const struct node *n = &d->joint.nodes[i];
    uint32_t e = inductor_gradient_of(d, i);
    if (!inductor_scatters(n) || !is_generated(d, n->edges[0].dtype) || !e)
        return;
    uint32_t zeros = make_zeros(d, &n->edges[0]);
    d->gradients[e].zeros = zeros;
}

static uint32_t add_alone(struct inductor *d, uint32_t gradient, uint32_t zeros, bool generated)
{
    size_t begin = d->use_count;
    d->walk++;
    inductor_read_gradient(d, gradient, 0);
    uint32_t sum = inductor_change(d, zeros);
    inductor_kernel_end(d, begin, generated);
    return sum;
}

// realize: makes the gradient of a node's result a buffer.
void inductor_run_scatter(struct inductor *d, int32_t i,
                          uint32_t realize(struct inductor *d, int32_t i))
{
    const struct edge e = d->joint.nodes[i].edges[0];
    if (!inductor_needs(d, e.to))
        return;
    bool generated = is_generated(d, e.dtype);
    if (!generated)
        realize(d, i);
    uint32_t gradient = inductor_gradient_of(d, i), sum = d->gradients[gradient].zeros;
    if (!sum) {
        inductor_ensure_gradient(d, gradient);
        sum = add_alone(d, gradient, make_zeros(d, &e), generated);
    }
    inductor_deliver_flat(d, &e, sum);
}

// ---- what is added to it ------------------------------------------------------------------------

void inductor_find_flat(struct inductor *d)
{
    for (size_t i = 0; i < d->joint.node_count; i++) {
        const struct node *n = &d->joint.nodes[i];
        if (n->kind == NODE_ROUTE && n->link > 0 && inductor_needs(d, n->edges[0].to) &&
            d->joint.nodes[n->edges[0].to].kind != NODE_ACCUMULATE)
            d->values[inductor_result(d, n->edges[0].to)].flat = true;
    }
}

uint32_t inductor_take_flat(struct inductor *d, const struct edge *e)
{
    uint32_t *at = &d->arrived[(size_t)e->to * GRAPH_OUTPUTS + e->input];
    for (; *at; at = &d->links[*at].next) {
        const struct inductor_gradient *g = &d->gradients[d->links[*at].gradient];
        if (g->flat && g->dtype == e->dtype && g->shape == e->shape) {
            *at = d->links[*at].next;
            return g->buffer;
        }
    }
    return 0;
}

void inductor_deliver_flat(struct inductor *d, const struct edge *e, uint32_t buffer)
{
    size_t made = d->gradient_count;
    inductor_deliver_buffer(d, e, buffer);
    if (d->gradient_count > made)
        d->gradients[d->gradient_count - 1].flat = true;
}
#endif
