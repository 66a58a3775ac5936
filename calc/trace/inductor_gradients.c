// Owns gradients of a compiled model before they are buffers: what a generated kernel would read
// for one, and which kernels are one. SRC: as inductor_backward.c.

#include "calc/trace/inductor.h"

#ifndef __wasm__

static uint32_t gradient_new(struct inductor *d, int32_t node, uint8_t dtype, uint8_t shape,
                             uint8_t role)
{
    d->gradient_count += d->gradient_count == 0;
    if (!graph_grow(d->g, &d->gradients, &d->gradient_cap, d->gradient_count + 1,
                    sizeof *d->gradients)) {
        d->failed = true;
        return 0;
    }
    d->gradients[0] = (struct inductor_gradient){.node = GRAPH_NO_NODE};
    d->gradients[d->gradient_count] =
        (struct inductor_gradient){.node = node, .dtype = dtype, .shape = shape, .role = role};
    return (uint32_t)d->gradient_count++;
}

static void link_to(struct inductor *d, uint32_t *first, uint32_t gradient)
{
    d->link_count += d->link_count == 0;
    if (!graph_grow(d->g, &d->links, &d->link_cap, d->link_count + 1, sizeof *d->links)) {
        d->failed = true;
        return;
    }
    d->links[d->link_count] = (struct inductor_link){gradient, *first};
    *first = (uint32_t)d->link_count++;
}

uint32_t inductor_gradient_through(struct inductor *d, int32_t node, const struct edge *e,
                                   uint32_t own)
{
    uint32_t next = gradient_new(d, node, e->dtype, e->shape, e->role);
    if (next)
        link_to(d, &d->gradients[next].first, own);
    return next;
}

uint32_t inductor_gradient_buffer(struct inductor *d, enum op op, uint8_t role, uint8_t part,
                                  uint8_t dtype, uint8_t shape)
{
    return inductor_buffer(d, (struct inductor_buffer){.op = (uint8_t)op,
                                                       .role = role,
                                                       .part = part,
                                                       .dtype = dtype,
                                                       .shape = shape,
                                                       .weight = GRAPH_NO_PARAM});
}

// A parameter's gradient, a result of the graph.
void inductor_make_parameter(struct inductor *d, const struct node *parameter, enum op op)
{
    bool bias = parameter->extra == PART_BIAS;
    const struct layout_param *row =
        layout_find(&d->g->layout, parameter->unit >= 0, parameter->param);
    uint32_t b =
        inductor_gradient_buffer(d, op, parameter->role, bias ? PART_BIAS_GRAD : PART_WEIGHT_GRAD,
                                 d->g->residual, row->shape);
    if (!b)
        return;
    d->buffers[b].weight = parameter->param;
    d->buffers[b].global = parameter->unit < 0;
    d->buffers[b].leaves = true;
    inductor_use(d, b | INDUCTOR_MADE);
}

static void read_saved(struct inductor *d, const struct node *n)
{
    for (unsigned k = 0; k < n->saved_count; k++)
        if (n->saved[k] != TAPE_NONE && !inductor_is_mask(inductor_storage(d, n->saved[k])))
            inductor_read(d, n->saved[k]);
}

// Before a kernel: what it reads of a checkpointed block is there.
void inductor_ensure_gradient(struct inductor *d, uint32_t which)
{
    struct inductor_gradient *e = &d->gradients[which];
    if (!which || e->buffer || e->there)
        return;
    e->there = true;
    for (uint32_t l = e->first; l; l = d->links[l].next)
        inductor_ensure_gradient(d, d->links[l].gradient);
    const struct node *n = e->node == GRAPH_NO_NODE ? NULL : &d->joint.nodes[e->node];
    for (unsigned k = 0; n && k < n->saved_count; k++)
        if (n->saved[k] != TAPE_NONE && !inductor_is_mask(inductor_storage(d, n->saved[k])))
            inductor_ensure(d, n->saved[k]);
}

// A gradient's buffers, through all that is computed on the way. One that others want, too, is
// stored.
void inductor_read_gradient(struct inductor *d, uint32_t which, uint32_t target)
{
    struct inductor_gradient *e = &d->gradients[which];
    if (!which || e->seen == d->walk)
        return;
    e->seen = d->walk;
    if (e->buffer) {
        inductor_use(d, e->buffer);
        return;
    }
    if (e->node != GRAPH_NO_NODE)
        read_saved(d, &d->joint.nodes[e->node]);
    for (uint32_t l = e->first; l; l = d->links[l].next)
        inductor_read_gradient(d, d->links[l].gradient, target);
    e = &d->gradients[which];
    if (!d->looks && (which == target || e->shared)) {
        uint32_t b = inductor_gradient_buffer(d, OP_TRITON, e->role, PART_GRAD, e->dtype, e->shape);
        d->gradients[which].buffer = b;
        inductor_use(d, b | INDUCTOR_MADE);
    }
}

// The gradient of a node's result: one that has arrived, or the sum of several.
uint32_t inductor_gradient_of(struct inductor *d, int32_t i)
{
    const struct node *n = &d->joint.nodes[i];
    uint32_t *arrived = &d->arrived[(size_t)i * GRAPH_OUTPUTS], count = 0, only = 0;
    for (unsigned k = 0; k < GRAPH_OUTPUTS; k++)
        for (uint32_t l = arrived[k]; l; l = d->links[l].next, count++)
            only = d->links[l].gradient;
    if (count == 1 && d->gradients[only].shape == n->shape)
        return only;
    uint32_t sum = gradient_new(d, GRAPH_NO_NODE, n->dtype, n->shape, n->role);
    for (unsigned k = 0; k < GRAPH_OUTPUTS && sum; k++)
        for (uint32_t l = arrived[k]; l; l = d->links[l].next)
            link_to(d, &d->gradients[sum].first, d->links[l].gradient);
    return sum;
}

void inductor_deliver(struct inductor *d, const struct edge *e, uint32_t gradient)
{
    link_to(d, &d->arrived[(size_t)e->to * GRAPH_OUTPUTS + e->input], gradient);
    if (--d->joint.nodes[e->to].link > 0)
        return;
    if (graph_grow(d->g, &d->ready, &d->ready_cap, d->ready_count + 1, sizeof *d->ready))
        d->ready[d->ready_count++] = e->to;
    else
        d->failed = true;
}

// The buffers in a gradient that calls of libraries have made: whether two kernels share one.
static bool reads_one_of(const struct inductor *d, size_t begin, size_t end)
{
    for (size_t a = begin; a < end; a++) {
        const struct inductor_buffer *made = &d->buffers[d->uses[a]];
        for (size_t b = end; b < d->use_count; b++)
            if (d->uses[a] == d->uses[b] && !made->handed && made->op != OP_TRITON)
                return true;
    }
    return false;
}

static void look(struct inductor *d, uint32_t gradient)
{
    d->walk++;
    d->looks = true;
    inductor_read_gradient(d, gradient, 0);
    d->looks = false;
}

// Calls that are ready and whose gradients come out of what this one reads.
unsigned inductor_find_beside(struct inductor *d, uint32_t gradient, int32_t found[INDUCTOR_BESIDE])
{
    size_t begin = d->use_count;
    unsigned count = 0;
    look(d, gradient);
    size_t end = d->use_count;
    for (size_t k = d->ready_count; k-- > 0 && !d->failed && count < INDUCTOR_BESIDE;) {
        int32_t i = d->ready[k];
        uint32_t e = inductor_gradient_of(d, i);
        if (!inductor_is_extern_backward(&d->joint.nodes[i]) || !e || e == gradient ||
            d->gradients[e].buffer)
            continue;
        look(d, e);
        if (reads_one_of(d, begin, end))
            found[count++] = i;
        d->use_count = end;
    }
    d->use_count = begin;
    return count;
}

void inductor_realize_beside(struct inductor *d, int32_t i)
{
    uint32_t e = inductor_gradient_of(d, i), *arrived = &d->arrived[(size_t)i * GRAPH_OUTPUTS];
    if (!e || d->gradients[e].buffer)
        return;
    d->walk++;
    inductor_read_gradient(d, e, e);
    for (unsigned j = 0; j < GRAPH_OUTPUTS; j++)
        arrived[j] = 0;
    link_to(d, arrived, e);
}

void inductor_deliver_buffer(struct inductor *d, const struct edge *e, uint32_t buffer)
{
    uint32_t gradient = gradient_new(d, GRAPH_NO_NODE, e->dtype, e->shape, e->role);
    if (gradient)
        d->gradients[gradient].buffer = buffer;
    inductor_deliver(d, e, gradient);
}
#endif
