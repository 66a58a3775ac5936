// Owns stretches: which allocations of a segment may be passed over, and what they need.
#ifndef VRAM_SMALL

#include "calc/replay/stretch.h"

#include "calc/replay/allocator_pool.h"

// A stretch ends where no temporary is left and it has had as many.
enum { STRETCH_TEMPORARIES = 24 };

enum { MARK_SMALL = 1, MARK_TEMPORARY = 2, MARK_ALLOCATES = 4 };

// One that is there, or lies below one that is there.
struct stretch_temporary {
    uint32_t freed;
    uint64_t bytes;
};

void stretch_scratch_free(struct stretch_scratch *s, const struct vram_mem *mem)
{
    mem_free(mem, s->freed, s->freed_cap * sizeof *s->freed);
    mem_free(mem, s->marks, s->marks_cap);
    mem_free(mem, s->stack, s->stack_cap * sizeof *s->stack);
}

static bool stretch_grow(const struct reel *r, void *ptr_to_ptr, size_t *cap, size_t need,
                         size_t size)
{
    void **ptr = ptr_to_ptr;
    return mem_grow(r->tape.mem, ptr, cap, need, size) == VRAM_OK;
}

static bool stretch_renew(const struct reel *r, void *ptr_to_ptr, size_t *cap, size_t need,
                          size_t size)
{
    void **ptr = ptr_to_ptr;
    return mem_renew(r->tape.mem, ptr, cap, need, size) == VRAM_OK;
}

static bool stretch_make_room(struct reel *r, struct stretch_scratch *x)
{
    const struct tape *t = &r->tape;
    bool ok = stretch_renew(r, &x->freed, &x->freed_cap, t->count, sizeof *x->freed) &&
              stretch_renew(r, &x->marks, &x->marks_cap, t->code_count, 1) &&
              stretch_renew(r, &x->stack, &x->stack_cap, t->code_count, sizeof *x->stack);
    for (unsigned i = 0; i < STRETCH_POOLS && ok; i++) {
        struct stretch_list *l = &r->stretches.pools[i];
        ok = stretch_renew(r, &l->all, &l->all_cap, t->code_count, sizeof *l->all) &&
             stretch_renew(r, &l->rest, &l->rest_cap, t->code_count, sizeof *l->rest) &&
             stretch_renew(r, &l->ends, &l->ends_cap, t->segment_count, sizeof *l->ends) &&
             stretch_grow(r, &l->at, &l->cap, t->code_count / 16 + 1, sizeof *l->at);
    }
    if (ok)
        mem_zero(x->freed, t->count * sizeof *x->freed);
    return ok;
}

// Marks a segment's instructions, from its end. What is freed in another segment, or under another
// number after a MOVE, stays.
static void stretch_mark(const struct reel *r, const struct tape_segment *seg,
                         struct stretch_scratch *x)
{
    uint32_t stays[STRETCH_POOLS] = {UINT32_MAX, UINT32_MAX};  // the next allocation that does
    for (uint32_t i = seg->end; i-- > seg->begin;) {
        uint32_t operand = r->tape.code[i] >> 2, kind = r->tape.code[i] & 3;
        bool plain = kind != TAPE_WORKSPACE;
        uint64_t bytes = plain ? reel_request(r, operand)->rounded : 0;
        uint8_t small = plain ? bytes <= ALLOCATOR_SMALL : r->stretches.workspace_small;
        x->marks[i] = small;
        if (kind == TAPE_FREE)
            x->freed[operand] = i;
        if (kind == TAPE_FREE || kind == TAPE_MOVE)
            continue;
        uint32_t freed = plain ? x->freed[operand] : 0;
        x->marks[i] = small | MARK_ALLOCATES;
        if (bytes && freed > i && freed < seg->end && stays[small] >= freed) {
            x->marks[i] |= MARK_TEMPORARY;
            x->marks[freed] |= MARK_TEMPORARY;
        } else {
            stays[small] = i;
        }
    }
}

// Making a pool's part of a segment.
struct stretch_maker {
    const struct reel *r;
    struct stretch_list *list;
    struct stretch_temporary *stack;
    struct stretch now;
    uint32_t depth, temporaries;  // on the stack; so far
    uint64_t bytes;               // on the stack
    bool stays;                   // an allocation that stays is in it
    bool failed;
};

static void stretch_close(struct stretch_maker *m)
{
    struct stretch_list *l = m->list;
    if (l->count < l->cap || stretch_grow(m->r, &l->at, &l->cap, l->count + 1, sizeof *l->at))
        l->at[l->count++] = m->now;
    else
        m->failed = true;
    m->now = (struct stretch){.all = m->now.all, .rest = m->now.rest};
    m->temporaries = 0;
    m->stays = false;
}

static inline void stretch_need(struct stretch_maker *m, const struct allocator_request *q)
{
    struct stretch *now = &m->now;
    m->temporaries++;
    now->before = m->bytes > now->before ? m->bytes : now->before;
    now->most = m->depth + 1 > now->most ? m->depth + 1 : now->most;
    if (q->rounded > now->largest) {
        now->largest = q->rounded;
        now->class = q->class;
    }
}

static inline void stretch_push(struct stretch_maker *m, uint32_t word, uint32_t freed)
{
    const struct allocator_request *q = reel_request(m->r, word >> 2);
    if (m->stays)
        stretch_close(m);
    stretch_need(m, q);
    m->stack[m->depth++] = (struct stretch_temporary){freed, q->rounded};
    m->bytes += q->rounded;
}

// What lies below one that is there counts as if it were there, too.
static inline void stretch_pop(struct stretch_maker *m, uint32_t at)
{
    while (m->depth && m->stack[m->depth - 1].freed <= at)
        m->bytes -= m->stack[--m->depth].bytes;
}

static inline void stretch_add(struct stretch_maker *m, uint32_t at, uint32_t word, uint8_t mark,
                               const uint32_t *freed)
{
    bool allocates = mark & MARK_ALLOCATES, temporary = mark & MARK_TEMPORARY;
    if (allocates && temporary)
        stretch_push(m, word, freed[word >> 2]);
    else if (allocates && m->temporaries)
        stretch_close(m);
    m->list->all[m->now.all++] = word;
    if (!temporary) {
        m->list->rest[m->now.rest++] = word;
        m->stays |= allocates;
    } else if (!allocates) {
        stretch_pop(m, at);
        if (!m->depth && m->temporaries >= STRETCH_TEMPORARIES)
            stretch_close(m);
    }
}

static void stretch_segment(struct stretch_maker m[STRETCH_POOLS], const struct stretch_scratch *x,
                            size_t number)
{
    const struct tape *t = &m->r->tape;
    for (uint32_t i = t->segments[number].begin; i < t->segments[number].end; i++)
        stretch_add(&m[x->marks[i] & MARK_SMALL], i, t->code[i], x->marks[i], x->freed);
    for (unsigned pool = 0; pool < STRETCH_POOLS; pool++) {
        stretch_close(&m[pool]);
        m[pool].list->ends[number] = m[pool].list->count;
    }
}

static struct stretch_maker stretch_begin(struct reel *r, struct stretch_temporary *stack,
                                          unsigned pool)
{
    struct stretch_list *l = &r->stretches.pools[pool];
    l->at[0] = (struct stretch){0};
    l->count = 1;
    return (struct stretch_maker){.r = r, .list = l, .stack = stack};
}

// Both stacks together have no more than a segment's allocations, and those are half of it at most.
static int stretch_all(struct reel *r, struct stretch_scratch *x)
{
    uint32_t half = (uint32_t)r->tape.code_count / 2;
    struct stretch_maker m[STRETCH_POOLS] = {stretch_begin(r, x->stack, STRETCH_LARGE),
                                             stretch_begin(r, x->stack + half, STRETCH_SMALL)};
    for (size_t i = 0; i < r->tape.segment_count; i++) {
        stretch_mark(r, &r->tape.segments[i], x);
        stretch_segment(m, x, i);
    }
    r->stretches.made = !m[0].failed && !m[1].failed;
    return r->stretches.made ? VRAM_OK : VRAM_ENOMEM;
}

int stretches_make(struct reel *r, uint64_t workspace, struct stretch_scratch *scratch)
{
    struct stretches *s = &r->stretches;
    bool small = workspace <= ALLOCATOR_SMALL;
    if (s->made && s->workspace_small == small)
        return VRAM_OK;
    s->made = false;
    s->workspace_small = small;
    return stretch_make_room(r, scratch) ? stretch_all(r, scratch) : VRAM_ENOMEM;
}

// A free block serves every temporary as long as what is left of it is no smaller than the largest.
// Until that is over it takes as many temporaries as the largest goes into the block, whole, and as
// many bytes as the block is larger. All free blocks together outlast what a stretch has.
bool stretch_has_room(const struct allocator *a, bool small, const struct stretch *s)
{
    const struct allocator_pool *p = small ? &a->small : &a->large;
    uint64_t temporaries = 0, bytes = 0;
    uint32_t last = pool_last(p);  // nearly always enough
    if (last && a->blocks[last].size >= s->largest + s->before)
        return true;
    for (uint32_t i = pool_lower_bound(p, a->blocks, s->largest, s->class); i;
         i = pool_after(p, a->blocks, i)) {
        temporaries += a->blocks[i].size / s->largest;
        bytes += a->blocks[i].size - s->largest;
        if (temporaries >= s->most || bytes >= s->before)
            return true;
    }
    return false;
}

#endif
