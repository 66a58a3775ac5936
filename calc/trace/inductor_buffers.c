// Owns the memory of a compiled model's kernels: whose place a buffer takes, and both graphs as
// they run. SRC: pytorch torch/_inductor/codegen/wrapper.py (AllocateLine.plan,
// should_reuse_buffer, buffer_reuse_key, FreeIfNotReusedLine), torch/_inductor/memory.py
// (estimate_peak_memory), torch/_inductor/scheduler.py (decide_inplace_update).

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

#include "calc/model/shape.h"
#include "calc/trace/compiled.h"

enum { NEVER = UINT32_MAX };

// What a library borrows in a call is none of Inductor's buffers; what a block is given does not
// end in it.
static bool is_borrowed(const struct inductor_buffer *b)
{
    return b->op == OP_DEQUANTIZE || (b->op == OP_NEW_EMPTY && b->part == PART_SCRATCH);
}

static int64_t buffer_bytes(const struct inductor *d, uint32_t which)
{
    const struct inductor_buffer *b = &d->buffers[which];
    return is_borrowed(b) || b->given ? 0 : (int64_t)inductor_bytes(d, b->dtype, b->shape);
}

int64_t inductor_made_bytes(const struct inductor *d, uint32_t which)
{
    return d->buffers[which].changes ? 0 : buffer_bytes(d, which);
}

int64_t inductor_ended_bytes(const struct inductor *d, uint32_t which)
{
    return d->buffers[which].changed ? 0 : buffer_bytes(d, which);
}

static void plan_lives(struct inductor *d)
{
    for (size_t b = 0; b < d->buffer_count; b++)
        d->buffers[b].first = NEVER;
    for (uint32_t k = 0; k < d->kernel_count; k++)
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++) {
            struct inductor_buffer *b = &d->buffers[inductor_used(d->uses[u])];
            if (b->first == NEVER)
                b->first = k;
            b->last = k;
        }
    for (size_t b = 1; b < d->buffer_count; b++)
        if (d->buffers[b].leaves)
            d->buffers[b].last = NEVER;
}

// What a kernel's end gives back: the buffers that it was the last to use, each once.
static bool ends_here(const struct inductor *d, uint32_t k, uint32_t u)
{
    uint32_t b = inductor_used(d->uses[u]);
    for (uint32_t before = d->kernels[k].begin; before < u; before++)
        if (inductor_used(d->uses[before]) == b)
            return false;
    return d->buffers[b].last == k;
}

struct plan {
    struct inductor *d;
    int64_t *peaks;  // by kernel, as Inductor expects them
    size_t peak_cap;
    int64_t most;
    uint32_t *pool;  // buffers that have ended
    size_t pool_count, pool_cap;
};

// What is there when a graph begins.
static int64_t plan_begin(const struct inductor *d, uint32_t from)
{
    int64_t live = 0;
    for (uint32_t b = 1; b < d->buffer_count; b++)
        if (d->buffers[b].first < from && d->buffers[b].last >= from)
            live += buffer_bytes(d, b);
    return live;
}

// Inductor's own expectation, without buffers that take each other's place; the head's logits
// and their gradient are a part of both graphs.
static void plan_peaks(struct plan *p, uint32_t from, uint32_t to)
{
    struct inductor *d = p->d;
    bool backward = from > 0;
    int64_t live = plan_begin(d, from),
            logits = (int64_t)inductor_bytes(d, d->g->compute, SHAPE_NV);
    p->most = live + (backward ? d->logits[1] * logits : 0);
    for (uint32_t k = from; k < to; k++) {
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++)
            if (d->uses[u] & INDUCTOR_MADE)
                live += inductor_made_bytes(d, inductor_used(d->uses[u]));
        p->peaks[k] = live;
        p->most = p->most > live ? p->most : live;
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++)
            if (ends_here(d, k, u))
                live -= inductor_ended_bytes(d, inductor_used(d->uses[u]));
    }
    if (!backward && p->most < live + d->logits[0] * logits)
        p->most = live + d->logits[0] * logits;
}

static bool is_alike(const struct inductor *d, uint32_t a, uint32_t b)
{
    const struct inductor_buffer *x = &d->buffers[a], *y = &d->buffers[b];
    return x->dtype == y->dtype && d->elements[x->shape] == d->elements[y->shape];
}

// Whether a kernel reads a buffer at other places than its result's, or for another result, too.
static bool is_read_else(const struct inductor *d, uint32_t k, uint32_t at)
{
    for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++)
        if (u != at && inductor_used(d->uses[u]) == d->uses[at])
            return true;
    return false;
}

// A generated kernel's result goes where an argument was that is not needed any more, which it
// reads at the same places, and no other result does.
static uint32_t plan_in_place(const struct plan *p, uint32_t k, uint32_t u)
{
    const struct inductor *d = p->d;
    uint32_t b = inductor_used(d->uses[u]);
    for (uint32_t v = d->kernels[k].begin; d->kernels[k].generated && !d->buffers[b].apart && v < u;
         v++) {
        uint32_t other = d->uses[v];
        if (inductor_used(other) == other && !d->buffers[other].given &&
            d->buffers[other].last == k && !d->buffers[other].taken && is_alike(d, b, other) &&
            !is_read_else(d, k, v))
            return other;
    }
    return 0;
}

static bool plan_may_take(struct plan *p, uint32_t b, uint32_t other, uint32_t k)
{
    uint32_t end = p->d->buffers[other].last;
    int64_t bytes = buffer_bytes(p->d, b), highest = 0;
    if (end + 1 == k)
        return true;
    for (uint32_t i = end + 1; i < k; i++)
        highest = p->peaks[i] > highest ? p->peaks[i] : highest;
    if (bytes + highest > p->most)
        return false;
    for (uint32_t i = end + 1; i < k; i++)
        p->peaks[i] += bytes;
    return true;
}

static uint32_t plan_from_pool(struct plan *p, uint32_t b, uint32_t k)
{
    for (size_t i = p->pool_count; i-- > 0;) {
        uint32_t other = p->pool[i];
        if (!is_alike(p->d, b, other))
            continue;
        if (!plan_may_take(p, b, other, k))
            return 0;
        for (; i + 1 < p->pool_count; i++)
            p->pool[i] = p->pool[i + 1];
        p->pool_count--;
        return other;
    }
    return 0;
}

static void plan_kernel(struct plan *p, uint32_t k)
{
    struct inductor *d = p->d;
    const struct inductor_kernel *kernel = &d->kernels[k];
    for (uint32_t u = kernel->begin; u < kernel->end; u++) {
        uint32_t b = inductor_used(d->uses[u]);
        if (!(d->uses[u] & INDUCTOR_MADE) || d->buffers[b].op == OP_NEW_EMPTY ||
            is_borrowed(&d->buffers[b]) || d->buffers[b].changes)
            continue;
        // of a gradient's kernel, whose results share what they read, one
        uint32_t other = plan_in_place(p, k, u);
        d->buffers[b].place = other ? other : plan_from_pool(p, b, k);
        d->buffers[d->buffers[b].place].taken = true;
    }
    for (uint32_t u = kernel->begin; u < kernel->end; u++) {
        uint32_t b = inductor_used(d->uses[u]);
        bool given = d->buffers[b].given || is_borrowed(&d->buffers[b]) ||
                     (k >= d->backward && d->buffers[b].handed);
        if (ends_here(d, k, u) && !given && !(b && d->buffers[b].taken) &&
            graph_grow(d->g, &p->pool, &p->pool_cap, p->pool_count + 1, sizeof *p->pool))
            p->pool[p->pool_count++] = b;
    }
}

static void plan_graph(struct plan *p, uint32_t from, uint32_t to)
{
    p->pool_count = 0;
    plan_peaks(p, from, to);
    for (uint32_t k = from; k < to; k++)
        plan_kernel(p, k);
}

// What the head leaves until the backward graph ends: its weight's gradient, or what it is made of.
static int64_t plan_head(const struct inductor *d)
{
    const struct layout_param *p = layout_find(&d->g->layout, false, P_HEAD);
    if (d->head)
        return d->buffers[d->head].last ? buffer_bytes(d, d->head) : 0;
    return p && p->trained ? (int64_t)inductor_bytes(d, d->g->residual, p->shape) : 0;
}

// The head: the logits and their gradient, then that and both of its products.
static void plan_order(struct inductor *d)
{
    if (d->block || compile_leaves_loss(d->g->m)) {
        int64_t there = plan_begin(d, d->backward) + (d->block ? 0 : buffer_bytes(d, d->unused));
        inductor_order(d, there, there, 0);
        return;
    }
    int64_t begin = plan_begin(d, d->backward), kept = plan_head(d),
            in = buffer_bytes(d, d->incoming),
            logits = (int64_t)inductor_bytes(d, d->g->compute, SHAPE_NV);
    int64_t first = begin + d->logits[1] * logits,
            products = begin + (d->logits[1] > 0) * logits + kept + in;
    inductor_order(d, begin + kept + in, first > products ? first : products, d->head ? 0 : kept);
}

void inductor_plan(struct inductor *d)
{
    struct plan p = {.d = d};
    const struct vram_mem *mem = d->g->mem;
    inductor_drop_random(d);
    plan_lives(d);
    if (d->kernel_count > d->backward) {
        plan_order(d);
        plan_lives(d);
    }
    if (!d->failed &&
        graph_grow(d->g, &p.peaks, &p.peak_cap, d->kernel_count + 1, sizeof *p.peaks)) {
        plan_graph(&p, 0, d->backward);
        plan_graph(&p, d->backward, (uint32_t)d->kernel_count);
    }
    mem_free(mem, p.peaks, p.peak_cap * sizeof *p.peaks);
    mem_free(mem, p.pool, p.pool_cap * sizeof *p.pool);
}

// ---- running ------------------------------------------------------------------------------------

static void run_enter(struct inductor *d, uint32_t layer)
{
    if (layer < d->layers)
        graph_enter(d->g, layer);
    else
        graph_leave(d->g);
}

// A parameter's gradient may come in a kernel of the next layer.
static void run_make(struct inductor *d, uint32_t which, uint32_t layer)
{
    struct graph *g = d->g;
    struct inductor_buffer *b = &d->buffers[which];
    run_enter(d, b->weight == GRAPH_NO_PARAM ? layer : b->layer);
    b->storage = b->place ? d->buffers[b->place].storage
                          : graph_scratch(g, (enum op)b->op, b->role, b->part, b->dtype, b->shape);
    if (b->weight == GRAPH_NO_PARAM)
        return;
    struct value w = graph_param(g, b->layer == INDUCTOR_NO_LAYER, b->weight);
    if (w.node != GRAPH_NO_NODE && graph_ok(g))
        g->nodes[w.node].gradient[0] = b->storage;
    graph_drop(g, w);
}

static void run_kernel(struct inductor *d, uint32_t k)
{
    const struct inductor_kernel *kernel = &d->kernels[k];
    struct graph *g = d->g;
    g->recompute = kernel->again;
    for (uint32_t u = kernel->begin; u < kernel->end; u++)
        if (d->uses[u] & INDUCTOR_MADE)
            run_make(d, inductor_used(d->uses[u]), kernel->layer);
    run_enter(d, kernel->layer);
    for (uint32_t u = kernel->begin; u < kernel->end; u++) {
        struct inductor_buffer *b = &d->buffers[inductor_used(d->uses[u])];
        bool later = b->given && k < d->backward;  // the caller's still
        if (ends_here(d, k, u) && !b->taken && !later)
            tape_unref(g->t, b->storage);
    }
    g->recompute = false;
}

void inductor_run(struct inductor *d, bool backward)
{
    uint32_t to = backward ? (uint32_t)d->kernel_count : d->backward;
    for (uint32_t k = backward ? d->backward : 0; k < to && graph_ok(d->g); k++)
        run_kernel(d, k);
    graph_leave(d->g);
}
#endif
