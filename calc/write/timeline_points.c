// Owns the walk over a step's events that keeps few of them.

#include "calc/write/timeline_points.h"

// One phase for a pass: micro-steps and iterations apart, a last one takes what is too much.
static void follow(struct timeline *t, uint32_t phase)
{
    struct timeline_phase *last = t->phases ? &t->phase[t->phases - 1] : NULL;
    if (last && (t->pass == phase || t->phases == TIMELINE_PHASES)) {
        last->end = t->at + 1;
        return;
    }
    last = &t->phase[t->phases++];
    *last = (struct timeline_phase){{0}, t->at, t->at + 1};
    trace_phase_name(t->pass = phase, last->name);
}

static bool is_empty(const struct timeline_moment *m)
{
    return m->total == 0;
}

static int on_event(void *ctx, const struct trace_event *e)
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
    while ((t->column + 1) * t->events <= t->at * TIMELINE_COLUMNS)
        t->column++;
    struct timeline_moment *low = &t->low[t->column], *high = &t->high[t->column];
    if (t->now.total > high->total)
        *high = t->now;
    if (is_empty(low) || t->now.total < low->total)
        *low = t->now;
    if (t->now.total > t->peak) {
        t->peak = t->now.total;
        t->peak_event = t->at;
    }
    t->at++;
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
    *out = NULL;
    int rc = run_once(v);
    if (rc != VRAM_OK)
        return rc;
    struct timeline *t = *out = mem_alloc(&v->mem, sizeof *t);
    if (!t)
        return handle_no_memory(v);
    mem_zero(t, sizeof *t);
    t->events = v->result.events;
    rc = run_events(v, &(struct trace_sink){.event = on_event, .ctx = t, .sums = true});
    fill_gaps(t);
    return rc;
}

void timeline_free(struct vram *v, struct timeline *t)
{
    if (t)
        mem_free(&v->mem, t, sizeof *t);
}
