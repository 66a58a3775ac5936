// Owns gradients of a compiled model before they are buffers: what a generated kernel would read
// for one, and which kernels are one. SRC: as inductor_backward.c.

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

static uint32_t gradient_new(struct inductor *d, int32_t node, uint8_t dtype, shape_id shape,
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
    if (!next)
        return 0;
    d->gradients[next].edge = (uint8_t)(e - d->joint.nodes[node].edges);
    link_to(d, &d->gradients[next].first, own);
    return next;
}

uint32_t inductor_gradient_buffer(struct inductor *d, enum op op, uint8_t role, uint8_t part,
                                  uint8_t dtype, shape_id shape)
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
                                 graph_param_dtype(d->g, row), row->shape);
    if (!b)
        return;
    d->buffers[b].weight = parameter->param;
    d->buffers[b].layer = parameter->unit < 0 ? INDUCTOR_NO_LAYER : (uint32_t)parameter->unit;
    d->buffers[b].leaves = true;
    inductor_use(d, b | INDUCTOR_MADE);
}

// Of a product the gradient of an argument takes the other one.
static void read_saved(struct inductor *d, const struct node *n, unsigned edge)
{
    for (unsigned k = 0; k < n->saved_count; k++)
        if (!(n->kind == NODE_MUL && k == edge) && n->saved[k] != TAPE_NONE &&
            !inductor_is_mask(inductor_storage(d, n->saved[k])))
            inductor_read(d, n->saved[k]);
}

// The gradient of repeated heads is a sum: a kernel that takes it in another order, as a rotation
// does, is not that sum's.
static bool is_sum_elsewhere(const struct inductor *d, const struct node *n)
{
    return n && n->kind == NODE_REPEAT && d->moved > 0;
}

static void make_sum(struct inductor *d, uint32_t which)
{
    size_t begin = d->use_count;
    unsigned moved = d->moved;
    d->moved = 0;
    d->walk++;
    inductor_read_gradient(d, which, which);
    inductor_kernel_end(d, begin, true);
    d->moved = moved;
}

// Before a kernel: what it reads of a checkpointed block is there.
void inductor_ensure_gradient(struct inductor *d, uint32_t which)
{
    struct inductor_gradient *e = &d->gradients[which];
    const struct node *n = e->node == GRAPH_NO_NODE ? NULL : &d->joint.nodes[e->node];
    bool elsewhere = is_sum_elsewhere(d, n);
    if (!which || e->buffer || (e->there && !elsewhere))
        return;
    e->there = true;
    bool moves = n && inductor_moves(d, n);
    d->moved += moves;
    for (uint32_t l = d->gradients[which].first; l; l = d->links[l].next)
        inductor_ensure_gradient(d, d->links[l].gradient);
    d->moved -= moves;
    if (elsewhere)
        make_sum(d, which);
    for (unsigned k = 0; n && k < n->saved_count; k++)
        if (n->saved[k] != TAPE_NONE && !inductor_is_mask(inductor_storage(d, n->saved[k])))
            inductor_ensure(d, n->saved[k]);
}

// A gradient's buffers, through all that is computed on the way. One that others want, too, is
// stored, if not all of them are in this kernel. SRC: pytorch torch/_inductor/codegen/simd.py
// (remove_kernel_local_buffers).
void inductor_read_gradient(struct inductor *d, uint32_t which, uint32_t target)
{
    struct inductor_gradient *e = &d->gradients[which];
    if (which && d->counts) {
        e->found = e->round == d->round ? e->found + 1 : 0;
        e->round = d->round;
    }
    if (!which || inductor_has_seen(d, &e->seen))
        return;
    if (e->buffer) {
        inductor_use_there(d, e->buffer);
        return;
    }
    bool moves = e->node != GRAPH_NO_NODE && inductor_moves(d, &d->joint.nodes[e->node]);
    d->moved += moves;
    for (uint32_t l = e->first; l; l = d->links[l].next)
        inductor_read_gradient(d, d->links[l].gradient, target);
    e = &d->gradients[which];
    if (e->node != GRAPH_NO_NODE)
        read_saved(d, &d->joint.nodes[e->node], e->edge);
    d->moved -= moves;
    e = &d->gradients[which];
    if (!d->looks && !e->buffer &&
        (which == target || (e->shared && (e->round != d->round || e->found < e->wanted)))) {
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

void inductor_look_at(struct inductor *d, uint32_t gradient)
{
    d->walk += !d->counts;
    d->looks = true;
    inductor_read_gradient(d, gradient, 0);
    d->looks = false;
}

// Calls that are ready and whose gradients come out of what this one reads.
// Numbers that a kernel goes through for a gradient whose reads these are.
static uint64_t numbers_of(const struct inductor *d, uint32_t gradient, size_t begin, size_t end)
{
    uint64_t most = d->elements[d->gradients[gradient].shape];
    for (size_t u = begin; u < end; u++) {
        uint64_t n = d->elements[d->buffers[inductor_used(d->uses[u])].shape];
        most = n > most ? n : most;
    }
    return most;
}

unsigned inductor_find_beside(struct inductor *d, uint32_t gradient, int32_t found[INDUCTOR_BESIDE])
{
    size_t begin = d->use_count;
    unsigned count = 0;
    inductor_look_at(d, gradient);
    size_t end = d->use_count;
    for (size_t k = d->ready_count; k-- > 0 && !d->failed && count < INDUCTOR_BESIDE;) {
        int32_t i = d->ready[k];
        uint32_t e = inductor_gradient_of(d, i);
        if (!inductor_is_extern_backward(&d->joint.nodes[i]) || !e || e == gradient ||
            d->gradients[e].buffer)
            continue;
        inductor_look_at(d, e);
        if (reads_one_of(d, begin, end) &&
            numbers_of(d, e, end, d->use_count) == numbers_of(d, gradient, begin, end))
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
    inductor_read_gradient(d, e, d->gradients[e].zeros ? 0 : e);
    if (d->gradients[e].zeros) {
        uint32_t sum = inductor_change(d, d->gradients[e].zeros);
        d->gradients[e].zeros = sum;
    }
    for (unsigned j = 0; j < GRAPH_OUTPUTS; j++)
        arrived[j] = 0;
    link_to(d, arrived, e);
}

uint32_t inductor_change(struct inductor *d, uint32_t buffer)
{
    struct inductor_buffer after = d->buffers[buffer];
    after.changes = true;
    after.place = buffer;
    uint32_t b = inductor_buffer(d, after);
    d->buffers[buffer].changed = d->buffers[buffer].taken = true;
    d->buffers[buffer].leaves = false;
    inductor_use(d, buffer);
    inductor_use(d, b | INDUCTOR_MADE);
    return b;
}

void inductor_deliver_buffer(struct inductor *d, const struct edge *e, uint32_t buffer)
{
    uint32_t gradient = gradient_new(d, GRAPH_NO_NODE, e->dtype, e->shape, e->role);
    if (gradient)
        d->gradients[gradient].buffer = buffer;
    inductor_deliver(d, e, gradient);
}
#endif
