// Owns the walk over a step's events that keeps few of them.

#include "calc/write/timeline_points.h"

#include "calc/base/text.h"

// One phase for a pass: micro-steps and iterations apart, a last one takes what is too much.
static void follow(struct timeline *t, const char *name)
{
    struct timeline_phase *last = t->phases ? &t->phase[t->phases - 1] : NULL;
    if (last && (text_equal(name, text_len(name), last->name) || t->phases == TIMELINE_PHASES)) {
        last->end = t->at + 1;
        return;
    }
    last = &t->phase[t->phases++];
    *last = (struct timeline_phase){{0}, t->at, t->at + 1};
    for (size_t i = 0; i + 1 < TIMELINE_PHASE_TEXT && name[i]; i++)
        last->name[i] = name[i];
}

static bool is_empty(const struct timeline_moment *m)
{
    return m->total == 0;
}

static int on_event(void *ctx, const struct vram_event *e)
{
    struct timeline *t = ctx;
    follow(t, e->phase);
    if (e->is_free) {
        t->now.by[e->category] -= e->bytes;
        t->now.total -= e->bytes;
    } else {
        t->now.by[e->category] += e->bytes;
        t->now.total += e->bytes;
    }
    t->now.event = t->at;
    size_t column = t->at * TIMELINE_COLUMNS / t->events;
    if (t->now.total > t->high[column].total)
        t->high[column] = t->now;
    if (is_empty(&t->low[column]) || t->now.total < t->low[column].total)
        t->low[column] = t->now;
    if (t->now.total > t->peak) {
        t->peak = t->now.total;
        t->peak_event = t->at;
    }
    t->at++;
    return 0;
}

static int on_count(void *ctx, const struct vram_event *e)
{
    (void)e;
    (*(uint64_t *)ctx)++;
    return 0;
}

static void fill_gaps(struct timeline *t)
{
    for (size_t i = 1; i < TIMELINE_COLUMNS; i++)
        if (is_empty(&t->high[i]))
            t->low[i] = t->high[i] = t->high[i - 1];
}

int timeline_record(struct vram *v, struct timeline **out)
{
    uint64_t events = 0;
    *out = NULL;
    int rc = vram_trace(v, on_count, &events);
    if (rc != VRAM_OK)
        return rc;
    struct timeline *t = *out = mem_alloc(&v->mem, sizeof *t);
    if (!t)
        return handle_no_memory(v);
    mem_zero(t, sizeof *t);
    t->events = events;
    rc = vram_trace(v, on_event, t);
    fill_gaps(t);
    return rc;
}

void timeline_free(struct vram *v, struct timeline *t)
{
    if (t)
        mem_free(&v->mem, t, sizeof *t);
}
