// Owns the way back through a snapshot's events.
//
// What is alive at the end is known from the segments, so that a history whose beginning was
// overwritten (max_entries) still gives every sum within it: backwards, an allocation takes its
// bytes away and a free gives them back. SRC: torch/utils/viz/MemoryViz.js, process_alloc_data,
// does the same.

#include "calc/answer/snapshot_history.h"

// A block by its address, at the event where the walk is.
struct place {
    uint64_t address, bytes;
    uint32_t site, category;
    bool used, live, told;  // told: its own allocation was met
};

struct walk {
    const struct snapshot_read *s;
    struct place *table;
    size_t cap;  // a power of two, at least twice the number of addresses
};

static struct place *place_of(struct walk *w, uint64_t address)
{
    uint64_t hash = (address >> 9) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(hash >> 20) & (w->cap - 1);
    while (w->table[at].used && w->table[at].address != address)
        at = (at + 1) & (w->cap - 1);
    if (!w->table[at].used)
        w->table[at] = (struct place){.address = address, .used = true};
    return &w->table[at];
}

static bool is_of_device(const struct snapshot_read *s, const struct snapshot_segment *g)
{
    return g->device == s->device;
}

// The table as it is at the end. Returns the requested bytes.
static uint64_t put_blocks(struct walk *w)
{
    const struct snapshot_read *s = w->s;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->segment_count; i++)
        for (size_t k = 0; is_of_device(s, &s->segments[i]) && k < s->segments[i].count; k++) {
            const struct snapshot_block *b = &s->blocks[s->segments[i].first + k];
            if (b->state != SNAPSHOT_ALLOCATED)
                continue;
            struct place *p = place_of(w, b->address);
            sum += b->requested - (p->live ? p->bytes : 0);
            *p = (struct place){b->address, b->requested, b->site, SNAPSHOT_UNKNOWN,
                                true,       true,         false};
        }
    return sum;
}

// One event back: changes the table and returns what the requested bytes were before it.
static uint64_t undo(struct walk *w, const struct snapshot_event *e, uint64_t live)
{
    if (e->action != SNAPSHOT_ALLOC && e->action != SNAPSHOT_FREE)
        return live;
    struct place *p = place_of(w, e->address);
    if (p->live) {
        live -= p->bytes;
        p->live = false;
    }
    if (e->action == SNAPSHOT_FREE) {
        *p = (struct place){e->address, e->bytes, 0, SNAPSHOT_UNKNOWN, true, true, false};
        live += e->bytes;
    }
    return live;
}

static uint64_t undo_segment(const struct snapshot_event *e, uint64_t reserved)
{
    if (e->action == SNAPSHOT_SEGMENT_GROWS)
        return reserved > e->bytes ? reserved - e->bytes : 0;
    return e->action == SNAPSHOT_SEGMENT_SHRINKS ? reserved + e->bytes : reserved;
}

// An allocation tells of the block that is at its address and has not been told of: where it is
// from.
static void tell(struct walk *w, const struct snapshot_event *e)
{
    if (e->action != SNAPSHOT_ALLOC && e->action != SNAPSHOT_FREE)
        return;
    struct place *p = place_of(w, e->address);
    if (p->live && !p->told && e->action == SNAPSHOT_ALLOC) {
        p->site = e->site ? e->site : p->site;
        p->category = e->category;
    }
    p->told = true;
}

static int collect(struct walk *w, struct live_set *out)
{
    const struct snapshot_read *s = w->s;
    for (size_t i = 0; i < w->cap; i++) {
        const struct place *p = &w->table[i];
        if (!p->used || !p->live)
            continue;
        const struct snapshot_site *site = &s->sites[p->site];
        uint32_t category = p->category == SNAPSHOT_UNKNOWN ? site->category : p->category;
        struct live_item item = {.bytes = p->bytes,
                                 .file = site->file,
                                 .name = site->name,
                                 .line = site->line,
                                 .category = category,
                                 .no_frames = site->empty,
                                 .early = s->event_count && site->empty && !p->told};
        if (item.early)
            item.name = span_of("allocated before the first event");
        if (live_set_add(out, s->tree.mem, item) != VRAM_OK)
            return VRAM_ENOMEM;
    }
    live_set_sort(out);
    return VRAM_OK;
}

// What was alive after event number `last`, each with the allocation that made it.
static int alive_after(struct walk *w, size_t last, struct live_set *out)
{
    const struct snapshot_read *s = w->s;
    for (size_t i = 0; i < w->cap; i++)
        w->table[i] = (struct place){.used = false};
    uint64_t live = put_blocks(w);
    for (size_t i = s->event_count; i > last; i--)
        live = undo(w, &s->events[i - 1], live);
    for (size_t i = last; i > 0; i--)
        tell(w, &s->events[i - 1]);
    return collect(w, out);
}

// Number of events up to the peak; s->event_count: it is the end.
static size_t find_peak(struct walk *w, struct history *h)
{
    const struct snapshot_read *s = w->s;
    uint64_t live = put_blocks(w), reserved = 0;
    size_t at = s->event_count;
    for (size_t i = 0; i < s->segment_count; i++)
        reserved += is_of_device(s, &s->segments[i]) ? s->segments[i].bytes : 0;
    h->peak_requested = live;
    h->peak_reserved = reserved;
    for (size_t i = s->event_count; i-- > 0;) {
        live = undo(w, &s->events[i], live);
        reserved = undo_segment(&s->events[i], reserved);
        if (live > h->peak_requested) {
            h->peak_requested = live;
            at = i;
        }
        h->peak_reserved = reserved > h->peak_reserved ? reserved : h->peak_reserved;
    }
    return at;
}

int history_of(const struct snapshot_read *s, struct history *h)
{
    struct walk w = {s, NULL, 1024};
    *h = (struct history){0};
    while (w.cap < 2 * (s->block_count + s->event_count))
        w.cap *= 2;
    w.table = mem_alloc(s->tree.mem, w.cap * sizeof *w.table);
    if (!w.table)
        return VRAM_ENOMEM;
    int rc = alive_after(&w, s->event_count, &h->now);
    if (rc == VRAM_OK && s->event_count) {
        for (size_t i = 0; i < w.cap; i++)
            w.table[i] = (struct place){.used = false};
        rc = alive_after(&w, find_peak(&w, h), &h->peak);
    }
    mem_free(s->tree.mem, w.table, w.cap * sizeof *w.table);
    return rc;
}

void history_done(const struct snapshot_read *s, struct history *h)
{
    live_set_free(&h->now, s->tree.mem);
    live_set_free(&h->peak, s->tree.mem);
}
