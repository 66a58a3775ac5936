// Owns the order in which a compiled model's backward kernels run: that of the code, or "least peak
// memory first", if Inductor expects less at its peak of that. Its other two ways, breadth and
// depth first, are not here: depth first was the least in GPT-2's traces alone. SRC: pytorch
// torch/_inductor/memory.py (reorder_for_peak_memory, topological_sort_lpmf, estimate_peak_memory).

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

enum { NOWHERE = UINT32_MAX };

struct order_kernel {
    int64_t made, freed;  // bytes
    uint32_t waits;       // buffers that are not there
};

struct order_buffer {
    int64_t made, bytes;          // when it is made, and when it ends
    uint32_t maker;               // kernel, or NOWHERE
    uint32_t first, users, left;  // of those that have not run; one more for a result of the graph
};

struct order {
    struct inductor *d;
    uint32_t from, count;
    struct order_kernel *kernels;
    struct order_buffer *buffers;
    uint32_t *users;  // kernels, by buffer
    uint32_t *ready;
    struct inductor_kernel *sorted;
    size_t kernel_cap, buffer_cap, user_cap, ready_cap, sorted_cap;
    uint32_t ready_count;
    int64_t begin, kept, live, most;  // bytes
};

static const struct inductor_kernel *kernel_at(const struct order *o, uint32_t k)
{
    return &o->d->kernels[o->from + k];
}

// A buffer that a kernel reads and does not make, at its first use there; 0: none.
static uint32_t read_at(const struct order *o, uint32_t k, uint32_t u)
{
    const struct inductor *d = o->d;
    uint32_t b = inductor_used(d->uses[u]);
    if ((d->uses[u] & INDUCTOR_MADE) || o->buffers[b].maker == k)
        return 0;
    for (uint32_t before = kernel_at(o, k)->begin; before < u; before++)
        if (inductor_used(d->uses[before]) == b)
            return 0;
    return b;
}

static bool order_room(struct order *o)
{
    struct graph *g = o->d->g;
    size_t count = o->count + 1;
    return graph_grow(g, &o->kernels, &o->kernel_cap, count, sizeof *o->kernels) &&
           graph_grow(g, &o->buffers, &o->buffer_cap, o->d->buffer_count, sizeof *o->buffers) &&
           graph_grow(g, &o->users, &o->user_cap, o->d->use_count + 1, sizeof *o->users) &&
           graph_grow(g, &o->ready, &o->ready_cap, count, sizeof *o->ready) &&
           graph_grow(g, &o->sorted, &o->sorted_cap, count, sizeof *o->sorted);
}

static void order_free(struct order *o)
{
    const struct vram_mem *mem = o->d->g->mem;
    mem_free(mem, o->kernels, o->kernel_cap * sizeof *o->kernels);
    mem_free(mem, o->buffers, o->buffer_cap * sizeof *o->buffers);
    mem_free(mem, o->users, o->user_cap * sizeof *o->users);
    mem_free(mem, o->ready, o->ready_cap * sizeof *o->ready);
    mem_free(mem, o->sorted, o->sorted_cap * sizeof *o->sorted);
}

static void find_makers(struct order *o)
{
    const struct inductor *d = o->d;
    for (uint32_t b = 0; b < d->buffer_count; b++)
        o->buffers[b] = (struct order_buffer){
            inductor_made_bytes(d, b), inductor_ended_bytes(d, b), NOWHERE, 0, 0, 0};
    for (uint32_t k = 0; k < o->count; k++)
        for (uint32_t u = kernel_at(o, k)->begin; u < kernel_at(o, k)->end; u++)
            if (d->uses[u] & INDUCTOR_MADE)
                o->buffers[inductor_used(d->uses[u])].maker = k;
}

// Users by buffer: counted, then written.
static void find_users(struct order *o)
{
    uint32_t first = 0, b;
    for (uint32_t k = 0; k < o->count; k++)
        for (uint32_t u = kernel_at(o, k)->begin; u < kernel_at(o, k)->end; u++)
            if ((b = read_at(o, k, u)) != 0)
                o->buffers[b].users++;
    for (b = 0; b < o->d->buffer_count; b++) {
        o->buffers[b].first = first;
        first += o->buffers[b].users;
        o->buffers[b].users = 0;
    }
    for (uint32_t k = 0; k < o->count; k++)
        for (uint32_t u = kernel_at(o, k)->begin; u < kernel_at(o, k)->end; u++)
            if ((b = read_at(o, k, u)) != 0)
                o->users[o->buffers[b].first + o->buffers[b].users++] = k;
}

static void open_kernel(struct order *o, uint32_t k)
{
    struct order_kernel *kernel = &o->kernels[k];
    *kernel = (struct order_kernel){0, 0, 0};
    for (uint32_t u = kernel_at(o, k)->begin; u < kernel_at(o, k)->end; u++) {
        bool made = o->d->uses[u] & INDUCTOR_MADE;
        const struct order_buffer *b =
            &o->buffers[made ? inductor_used(o->d->uses[u]) : read_at(o, k, u)];
        kernel->made += made ? b->made : 0;
        kernel->waits += !made && b->maker != NOWHERE;
        kernel->freed += b->left == (made ? 0 : 1) ? b->bytes : 0;
    }
    if (!kernel->waits)
        o->ready[o->ready_count++] = k;
}

// Nothing has run.
static void order_open(struct order *o, int64_t head)
{
    for (uint32_t b = 1; b < o->d->buffer_count; b++)
        o->buffers[b].left = o->buffers[b].users + o->d->buffers[b].leaves;
    o->live = o->begin;
    o->most = head;
    o->ready_count = 0;
    for (uint32_t k = 0; k < o->count; k++)
        open_kernel(o, k);
}

static void run_read(struct order *o, struct order_buffer *b)
{
    if (--b->left == 1)
        for (uint32_t i = 0; i < b->users; i++)
            o->kernels[o->users[b->first + i]].freed += b->bytes;
}

static void run_made(struct order *o, const struct order_buffer *b)
{
    for (uint32_t i = 0; i < b->users; i++)
        if (--o->kernels[o->users[b->first + i]].waits == 0)
            o->ready[o->ready_count++] = o->users[b->first + i];
}

static void order_run(struct order *o, uint32_t k)
{
    uint32_t b;
    o->live += o->kernels[k].made;
    o->most = o->most > o->live ? o->most : o->live;
    o->live -= o->kernels[k].freed;
    for (uint32_t u = kernel_at(o, k)->begin; u < kernel_at(o, k)->end; u++)
        if (o->d->uses[u] & INDUCTOR_MADE)
            run_made(o, &o->buffers[inductor_used(o->d->uses[u])]);
        else if ((b = read_at(o, k, u)) != 0)
            run_read(o, &o->buffers[b]);
}

// Of what fits below the peak so far what leaves least behind, else what needs least.
static bool is_before(const struct order *o, uint32_t a, uint32_t b)
{
    const struct order_kernel *x = &o->kernels[a], *y = &o->kernels[b];
    int64_t gap = o->most - o->live, over_x = x->made > gap ? x->made : 0,
            over_y = y->made > gap ? y->made : 0;
    if (over_x != over_y)
        return over_x < over_y;
    if (x->made - x->freed != y->made - y->freed)
        return x->made - x->freed < y->made - y->freed;
    return a < b;
}

static uint32_t order_next(struct order *o)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < o->ready_count; i++)
        if (is_before(o, o->ready[i], o->ready[best]))
            best = i;
    uint32_t k = o->ready[best];
    o->ready[best] = o->ready[--o->ready_count];
    return k;
}

// What the graph leaves, which no order is below.
static int64_t order_left(const struct order *o)
{
    int64_t left = o->kept;
    for (uint32_t b = 1; b < o->d->buffer_count; b++)
        left += o->d->buffers[b].leaves && o->buffers[b].maker != NOWHERE ? o->buffers[b].bytes : 0;
    return left;
}

static void order_kernels(struct order *o, int64_t head)
{
    int64_t left = order_left(o);
    order_open(o, head);
    for (uint32_t k = 0; k < o->count; k++)
        order_run(o, k);
    int64_t as_it_is = o->most;
    if (as_it_is == head)
        return;
    order_open(o, left > head ? left : head);
    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t k = order_next(o);
        o->sorted[i] = *kernel_at(o, k);
        order_run(o, k);
    }
    if (o->most < as_it_is)
        mem_copy(&o->d->kernels[o->from], o->sorted, o->count * sizeof *o->sorted);
}

void inductor_order(struct inductor *d, int64_t begin, int64_t head, int64_t kept)
{
    struct order o = {.d = d, .from = d->backward, .begin = begin, .kept = kept};
    o.count = (uint32_t)d->kernel_count - d->backward;
    if (order_room(&o)) {
        find_makers(&o);
        find_users(&o);
        order_kernels(&o, head);
    }
    order_free(&o);
}
#endif
