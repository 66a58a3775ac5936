// Owns the memory of a compiled model's kernels: whose place a buffer takes, and both graphs as
// they run. SRC: pytorch torch/_inductor/codegen/wrapper.py (AllocateLine.plan,
// should_reuse_buffer, buffer_reuse_key, FreeIfNotReusedLine), torch/_inductor/memory.py
// (estimate_peak_memory), torch/_inductor/scheduler.py (decide_inplace_update).

#include "calc/trace/inductor.h"

#ifndef __wasm__

#include "calc/model/shape.h"

enum { NEVER = UINT32_MAX };

static int64_t buffer_bytes(const struct inductor *d, const struct inductor_buffer *b)
{
    return (int64_t)inductor_bytes(d, b->dtype, b->shape);
}

static void plan_lives(struct inductor *d)
{
    for (size_t b = 0; b < d->buffer_count; b++)
        d->buffers[b].first = NEVER;
    for (uint32_t k = 0; k < d->kernel_count; k++)
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++) {
            struct inductor_buffer *b = &d->buffers[d->uses[u] & ~INDUCTOR_MADE];
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
    uint32_t b = d->uses[u] & ~INDUCTOR_MADE;
    for (uint32_t before = d->kernels[k].begin; before < u; before++)
        if ((d->uses[before] & ~INDUCTOR_MADE) == b)
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

// Inductor's own expectation, without buffers that take each other's place; the head's logits
// and their gradient are a part of both graphs.
static void plan_peaks(struct plan *p, uint32_t from, uint32_t to)
{
    struct inductor *d = p->d;
    bool backward = from > 0;
    int64_t live = 0, logits = (int64_t)inductor_bytes(d, d->g->compute, SHAPE_NV);
    for (size_t b = 1; b < d->buffer_count; b++)
        if (d->buffers[b].first < from && d->buffers[b].last >= from)
            live += buffer_bytes(d, &d->buffers[b]);
    p->most = live + (backward ? 2 * logits : 0);
    for (uint32_t k = from; k < to; k++) {
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++)
            if (d->uses[u] & INDUCTOR_MADE)
                live += buffer_bytes(d, &d->buffers[d->uses[u] & ~INDUCTOR_MADE]);
        p->peaks[k] = live;
        p->most = p->most > live ? p->most : live;
        for (uint32_t u = d->kernels[k].begin; u < d->kernels[k].end; u++)
            if (ends_here(d, k, u))
                live -= buffer_bytes(d, &d->buffers[d->uses[u] & ~INDUCTOR_MADE]);
    }
    if (!backward && p->most < live + logits)
        p->most = live + logits;
}

static bool is_alike(const struct inductor *d, uint32_t a, uint32_t b)
{
    const struct inductor_buffer *x = &d->buffers[a], *y = &d->buffers[b];
    return x->dtype == y->dtype && d->elements[x->shape] == d->elements[y->shape];
}

static bool is_read_after(const struct inductor *d, uint32_t k, uint32_t u, uint32_t buffer)
{
    for (uint32_t later = u + 1; later < d->kernels[k].end; later++)
        if (d->uses[later] == buffer)
            return true;
    return false;
}

// A generated kernel's result goes where an argument was that is not needed any more.
static uint32_t plan_in_place(const struct plan *p, uint32_t k, uint32_t u)
{
    const struct inductor *d = p->d;
    uint32_t b = d->uses[u] & ~INDUCTOR_MADE;
    for (uint32_t v = d->kernels[k].begin; d->kernels[k].generated && !d->buffers[b].apart && v < u;
         v++) {
        uint32_t other = d->uses[v];
        if (!(other & INDUCTOR_MADE) && d->buffers[other].last == k && !d->buffers[other].taken &&
            is_alike(d, b, other) && !is_read_after(d, k, u, other))
            return other;
    }
    return 0;
}

static bool plan_may_take(struct plan *p, uint32_t b, uint32_t other, uint32_t k)
{
    uint32_t end = p->d->buffers[other].last;
    int64_t bytes = buffer_bytes(p->d, &p->d->buffers[b]), highest = 0;
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
    bool placed = false;
    for (uint32_t u = kernel->begin; u < kernel->end; u++) {
        uint32_t b = d->uses[u] & ~INDUCTOR_MADE;
        if (!(d->uses[u] & INDUCTOR_MADE) || d->buffers[b].op == OP_NEW_EMPTY)
            continue;
        // of a gradient's kernel, whose results share what they read, one
        uint32_t other = k >= d->backward && placed ? 0 : plan_in_place(p, k, u);
        placed |= other > 0;
        d->buffers[b].place = other ? other : plan_from_pool(p, b, k);
        d->buffers[d->buffers[b].place].taken = true;
    }
    for (uint32_t u = kernel->begin; u < kernel->end; u++) {
        uint32_t b = d->uses[u] & ~INDUCTOR_MADE;
        bool given = k >= d->backward && d->buffers[b].handed;  // an argument of the graph
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

void inductor_plan(struct inductor *d)
{
    struct plan p = {.d = d};
    const struct vram_mem *mem = d->g->mem;
    plan_lives(d);
    if (!d->failed &&
        graph_grow(d->g, &p.peaks, &p.peak_cap, d->kernel_count + 1, sizeof *p.peaks)) {
        plan_graph(&p, 0, d->backward);
        plan_graph(&p, d->backward, (uint32_t)d->kernel_count);
    }
    mem_free(mem, p.peaks, p.peak_cap * sizeof *p.peaks);
    mem_free(mem, p.pool, p.pool_cap * sizeof *p.pool);
}

// ---- running ------------------------------------------------------------------------------------

static void run_make(struct inductor *d, uint32_t which)
{
    struct graph *g = d->g;
    struct inductor_buffer *b = &d->buffers[which];
    b->storage = b->place ? d->buffers[b->place].storage
                          : graph_scratch(g, (enum op)b->op, b->role, b->part, b->dtype, b->shape);
    if (b->weight == GRAPH_NO_PARAM)
        return;
    struct value w = graph_param(g, b->global, b->weight);
    if (w.node != GRAPH_NO_NODE && graph_ok(g))
        g->nodes[w.node].gradient[0] = b->storage;
    graph_drop(g, w);
}

static void run_kernel(struct inductor *d, uint32_t k)
{
    const struct inductor_kernel *kernel = &d->kernels[k];
    struct graph *g = d->g;
    if (kernel->layer < d->layers)
        graph_enter(g, kernel->layer);
    else
        graph_leave(g);
    g->recompute = kernel->again;
    for (uint32_t u = kernel->begin; u < kernel->end; u++)
        if (d->uses[u] & INDUCTOR_MADE)
            run_make(d, d->uses[u] & ~INDUCTOR_MADE);
    for (uint32_t u = kernel->begin; u < kernel->end; u++) {
        struct inductor_buffer *b = &d->buffers[d->uses[u] & ~INDUCTOR_MADE];
        if (ends_here(d, k, u) && !b->taken)
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
