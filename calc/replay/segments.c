// Owns vram_segments: the run replayed up to a moment, and the allocator's blocks as they lie
// there.

#include "calc/replay/allocator_pool.h"
#include "calc/replay/run.h"

// Whom a block was handed out to, by block number.
struct owner {
    uint16_t name, category;
    int32_t layer;
};

struct watch {
    struct vram *v;
    struct engine *e;
    struct owner *owners;
    size_t owners_cap;
    uint64_t stop;  // event after which the walk ends; UINT64_MAX: at the end
    uint64_t peak_event, growth_event, events;
    uint64_t peak, device_mallocs;
    uint16_t name, op;  // of the last event that was seen
    uint32_t phase;
    uint64_t bytes;
    bool is_free;
};

enum { STOPPED = 1 };

static int watch_own(struct watch *w, const struct storage *s, int32_t layer, uint32_t number)
{
    void *owners = w->owners;
    int rc = mem_grow(&w->v->mem, &owners, &w->owners_cap, (size_t)number + 1, sizeof *w->owners);
    w->owners = owners;
    if (rc == VRAM_OK)
        w->owners[number] = (struct owner){s->name, s->category, layer};
    return rc;
}

static int on_event(void *ctx, const struct player *p, const struct storage *s, uint64_t bytes,
                    int32_t layer, uint32_t number)
{
    struct watch *w = ctx;
    const struct allocator_stats *stats = &p->allocator->stats;
    uint64_t event = p->events - 1;
    w->events = p->events;
    w->name = s->name;
    w->op = s->op;
    w->phase = p->phase;
    w->bytes = bytes;
    w->is_free = !number && bytes;
    if (stats->allocated.now > w->peak) {
        w->peak = stats->allocated.now;
        w->peak_event = event;
    }
    if (stats->device_mallocs > w->device_mallocs)
        w->growth_event = event;
    w->device_mallocs = stats->device_mallocs;
    int rc = number ? watch_own(w, s, layer, number) : VRAM_OK;
    return rc == VRAM_OK && event == w->stop ? STOPPED : rc;
}

// Plays up to w->stop. What was seen before is forgotten.
static int watch_play(struct watch *w)
{
    struct player_watch watch = {on_event, w};
    w->peak = w->device_mallocs = w->events = 0;
    int rc = run_again(w->v, w->e, &watch);
    if (rc == STOPPED)
        return VRAM_OK;
    return rc == VRAM_OK ? rc : handle_failed(w->v, rc);
}

// ---- from numbers of blocks to segments
// ----------------------------------------------------------

// Which numbers are of blocks, and which were given back. NULL: out of memory.
static bool *segments_spare(const struct allocator *a, struct mem_arena *arena)
{
    bool *spare = mem_arena_new(arena, a->count, sizeof *spare);
    for (uint32_t i = a->spare; spare && i; i = a->blocks[i].next)
        spare[i] = true;
    return spare;
}

// A mapped block with nothing mapped before it.
static bool is_first(const struct allocator *a, uint32_t i)
{
    const struct allocator_block *b = &a->blocks[i];
    return b->state != BLOCK_UNMAPPED && (!b->prev || a->blocks[b->prev].state == BLOCK_UNMAPPED);
}

static uint32_t next_mapped(const struct allocator *a, uint32_t i)
{
    uint32_t next = a->blocks[i].next;
    return next && a->blocks[next].state != BLOCK_UNMAPPED ? next : 0;
}

static void sort_by_address(const struct allocator *a, uint32_t *list, size_t n)
{
    for (size_t step = n / 2; step > 0; step /= 2)
        for (size_t i = step; i < n; i++) {
            uint32_t x = list[i];
            size_t k = i;
            for (; k >= step && a->blocks[list[k - step]].address > a->blocks[x].address; k -= step)
                list[k] = list[k - step];
            list[k] = x;
        }
}

// The first blocks of all segments, in order of address. NULL: out of memory.
static uint32_t *segments_first(const struct allocator *a, struct mem_arena *arena, size_t *count)
{
    bool *spare = segments_spare(a, arena);
    uint32_t *first = mem_arena_new(arena, a->count, sizeof *first);
    *count = 0;
    if (!spare || !first)
        return NULL;
    for (uint32_t i = 1; i < a->count; i++)
        if (!spare[i] && is_first(a, i))
            first[(*count)++] = i;
    sort_by_address(a, first, *count);
    return first;
}

static bool block_fill(const struct watch *w, uint32_t i, struct vram_block *out)
{
    const struct allocator_block *b = &w->e->allocator.blocks[i];
    *out = (struct vram_block){.bytes = b->size, .state = VRAM_BLOCK_FREE, .layer = -1};
    if (b->state == BLOCK_FREE)
        return true;
    out->state = b->requested ? VRAM_BLOCK_USED : VRAM_BLOCK_PENDING;
    out->requested = b->requested;
    if (!b->requested)
        return true;
    out->category = w->owners[i].category;
    out->layer = w->owners[i].layer;
    return (out->name = engine_name(w->e, w->owners[i].name)) != NULL;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void block_count(struct vram_segments *all, struct vram_segment *g,
                        const struct vram_block *b)
{
    g->bytes += b->bytes;
    if (b->state == VRAM_BLOCK_USED) {
        g->used_bytes += b->bytes;
        all->requested_bytes += b->requested;
    } else if (b->state == VRAM_BLOCK_PENDING) {
        all->pending_bytes += b->bytes;
    } else {
        g->largest_free_bytes = larger(g->largest_free_bytes, b->bytes);
        all->free_blocks++;
    }
}

static bool segment_fill(const struct watch *w, uint32_t first, struct vram_segments *all,
                         struct vram_segment *g)
{
    const struct allocator *a = &w->e->allocator;
    size_t n = 0;
    for (uint32_t i = first; i; i = next_mapped(a, i))
        n++;
    struct vram_block *blocks = mem_arena_new(&w->e->segments_arena, n, sizeof *blocks);
    *g = (struct vram_segment){.small = a->blocks[first].small,
                               .stream = a->blocks[first].stream,
                               .blocks = blocks,
                               .block_count = n};
    if (!blocks)
        return false;
    n = 0;
    for (uint32_t i = first; i; i = next_mapped(a, i), n++) {
        if (!block_fill(w, i, &blocks[n]))
            return false;
        block_count(all, g, &blocks[n]);
    }
    all->reserved_bytes += g->bytes;
    all->allocated_bytes += g->used_bytes;
    all->largest_free_bytes = larger(all->largest_free_bytes, g->largest_free_bytes);
    return true;
}

static int segments_fill(const struct watch *w, struct vram_segments *out)
{
    struct engine *e = w->e;
    size_t count;
    uint32_t *first = segments_first(&e->allocator, &e->segments_arena, &count);
    struct vram_segment *list =
        first ? mem_arena_new(&e->segments_arena, count + 1, sizeof *list) : NULL;
    if (!list)
        return VRAM_ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (!segment_fill(w, first[i], out, &list[i]))
            return VRAM_ENOMEM;
    out->segments = list;
    out->segment_count = count;
    out->event = w->events - 1;
    out->event_bytes = w->bytes;
    out->event_is_free = w->is_free;
    out->name = engine_name(e, w->name);
    out->op = trace_op_name(w->op);
    out->phase = trace_phase_name(w->phase, e->segments_phase);
    return out->name ? VRAM_OK : VRAM_ENOMEM;
}

const struct vram_segments *segments_made(const struct vram *v)
{
    const struct engine *e = v->parts[HANDLE_ENGINE].ptr;
    return v->has_result && e && e->has_segments ? &e->segments : NULL;
}

// ---- the call
// --------------------------------------------------------------------------------------

// One walk to the end finds the moments, a second stops there.
static int segments_at(struct watch *w, uint32_t moment, uint64_t event, struct vram_segments *out)
{
    w->stop = UINT64_MAX;
    int rc = watch_play(w);
    if (rc != VRAM_OK)
        return rc;
    *out = (struct vram_segments){.moment = moment, .events = w->events};
    if (moment >= VRAM_MOMENT_COUNT || (moment == VRAM_MOMENT_EVENT && event >= w->events))
        return err_set(&w->v->err, MESSAGE_no_such_event, NO_POS, NO_FIELD,
                       ARGS(arg_u64("event", event), arg_u64("events", w->events)));
    if (moment != VRAM_MOMENT_END) {
        w->stop = moment == VRAM_MOMENT_PEAK     ? w->peak_event
                  : moment == VRAM_MOMENT_GROWTH ? w->growth_event
                                                 : event;
        rc = watch_play(w);
    }
    if (rc == VRAM_OK && segments_fill(w, out) != VRAM_OK)
        rc = handle_no_memory(w->v);
    return rc;
}

int vram_segments(struct vram *v, uint32_t moment, uint64_t event, const struct vram_segments **out)
{
    int rc = run_once(v);
    if (rc != VRAM_OK)
        return rc;
    struct watch w = {.v = v, .e = v->parts[HANDLE_ENGINE].ptr};
    w.e->has_segments = false;
    mem_arena_free(&w.e->segments_arena);
    rc = segments_at(&w, moment, event, &w.e->segments);
    mem_free(&v->mem, w.owners, w.owners_cap * sizeof *w.owners);
    if (rc != VRAM_OK)
        return rc;
    w.e->has_segments = true;
    *out = &w.e->segments;
    return VRAM_OK;
}
