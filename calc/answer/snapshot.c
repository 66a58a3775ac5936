// vram_read_snapshot: what a memory snapshot of PyTorch holds, by category, beside what the
// estimate expected.

#include "calc/answer/answers.h"
#include "calc/answer/snapshot_history.h"

// ---- what the estimate expects ---------------------------------------------------------------

// A storage of the estimate, and the events, counted from 1, that made it and freed it.
struct storage {
    struct live_item item;
    uint64_t born, died;  // born 0: there is none of this number
};

struct expected {
    struct vram *v;
    uint64_t peak, event, peak_event;
    struct storage *by_id;
    size_t cap;
};

static int note_event(void *ctx, const struct vram_event *e)
{
    struct expected *x = ctx;
    size_t before = x->cap;
    x->event++;
    if (e->live > x->peak) {
        x->peak = e->live;
        x->peak_event = x->event;
    }
    if (mem_grow(&x->v->mem, (void **)&x->by_id, &x->cap, (size_t)e->id + 1, sizeof *x->by_id) !=
        VRAM_OK)
        return VRAM_ENOMEM;
    for (size_t i = before; i < x->cap; i++)
        x->by_id[i].born = 0;
    if (e->is_free)
        x->by_id[e->id].died = x->event;
    else
        x->by_id[e->id] = (struct storage){.item = {.bytes = e->bytes,
                                                    .file = span_of(e->op),
                                                    .name = span_of(e->name),
                                                    .category = e->category},
                                           .born = x->event,
                                           .died = UINT64_MAX};
    return 0;
}

// The tensors that are alive at the estimate's peak.
static int expect(struct vram *v, struct live_set *out)
{
    struct expected x = {.v = v};
    int rc = vram_trace(v, note_event, &x);
    for (size_t i = 0; i < x.cap && rc == VRAM_OK; i++) {
        const struct storage *s = &x.by_id[i];
        if (s->born && s->born <= x.peak_event && s->died > x.peak_event && s->item.bytes)
            rc = live_set_add(out, &v->mem, s->item);
    }
    mem_free(&v->mem, x.by_id, x.cap * sizeof *x.by_id);
    if (rc == VRAM_OK)
        live_set_sort(out);
    return rc;
}

// ---- the parts of the answer -----------------------------------------------------------------

static void put_segment(struct vram_snapshot *out, const struct snapshot_read *s,
                        const struct snapshot_segment *g, struct vram_snapshot_segment *row)
{
    *row = (struct vram_snapshot_segment){.address = g->address,
                                          .bytes = g->bytes,
                                          .stream = g->stream,
                                          .blocks = g->count,
                                          .small = g->small,
                                          .expandable = g->expandable};
    for (size_t i = 0; i < g->count; i++) {
        const struct snapshot_block *b = &s->blocks[g->first + i];
        if (b->state == SNAPSHOT_ALLOCATED) {
            row->allocated_bytes += b->bytes;
            out->requested_bytes += b->requested;
        } else if (b->state == SNAPSHOT_PENDING) {
            out->pending_bytes += b->bytes;
        } else {
            out->free_bytes += b->bytes;
            row->largest_free_bytes =
                b->bytes > row->largest_free_bytes ? b->bytes : row->largest_free_bytes;
        }
    }
    out->reserved_bytes += g->bytes;
    out->allocated_bytes += row->allocated_bytes;
    if (row->largest_free_bytes > out->largest_free_bytes)
        out->largest_free_bytes = row->largest_free_bytes;
}

static int put_segments(struct vram_snapshot *out, const struct snapshot_read *s,
                        struct mem_arena *arena)
{
    struct vram_snapshot_segment *rows = mem_arena_new(arena, s->segment_count + 1, sizeof *rows);
    if (!rows)
        return VRAM_ENOMEM;
    for (size_t i = 0; i < s->segment_count; i++)
        if (s->segments[i].device == s->device)
            put_segment(out, s, &s->segments[i], &rows[out->segment_count++]);
    out->segments = rows;
    return VRAM_OK;
}

static int put_oom(struct vram_snapshot *out, const struct snapshot_read *s,
                   struct mem_arena *arena)
{
    for (size_t i = 0; i < s->event_count; i++) {
        const struct snapshot_event *e = &s->events[i];
        if (e->action != SNAPSHOT_OOM)
            continue;
        const struct snapshot_site *site = &s->sites[e->site];
        const char *category =
            site->category < VRAM_CAT_COUNT ? vram_category_name(site->category) : NULL;
        out->has_oom = true;
        out->oom_bytes = e->bytes;
        out->oom_free_bytes = e->address;
        out->oom_site = (struct vram_snapshot_block){.bytes = e->bytes,
                                                     .count = 1,
                                                     .category = category,
                                                     .file = span_keep(arena, site->file),
                                                     .name = span_keep(arena, site->name),
                                                     .line = site->line};
        if (!out->oom_site.file || !out->oom_site.name)
            return VRAM_ENOMEM;
    }
    return VRAM_OK;
}

// Autograd's own thread has no Python stack: where stacks were recorded, what has none is of the
// backward pass, and what of that has the size of a weight is its gradient. What was there before
// the recording has none either: it may be anything, most often the weights.
static void guess_backward(struct live_set *set, bool has_frames)
{
    for (size_t from = 0, to = 0; from < set->count && has_frames; from = to) {
        bool weight = false;
        for (; to < set->count && set->at[to].bytes == set->at[from].bytes; to++)
            weight = weight || set->at[to].category == VRAM_CAT_PARAM || set->at[to].early;
        for (size_t i = from; i < to; i++)
            if (set->at[i].no_frames && !set->at[i].early &&
                set->at[i].category == SNAPSHOT_UNKNOWN)
                set->at[i].category = weight ? VRAM_CAT_GRAD : VRAM_CAT_BACKWARD;
    }
}

enum { NOW, PEAK, ESTIMATED };

static void add_to_rows(struct vram_snapshot_row *rows, const struct live_set *set, int column)
{
    for (size_t i = 0; i < set->count; i++) {
        struct vram_snapshot_row *row = &rows[set->at[i].category];
        *(column == NOW    ? &row->now_bytes
          : column == PEAK ? &row->peak_bytes
                           : &row->estimated_bytes) += set->at[i].bytes;
    }
}

static int put_rows(struct vram_snapshot *out, const struct live_set *now,
                    const struct live_set *peak, const struct live_set *tensors,
                    struct mem_arena *arena)
{
    struct vram_snapshot_row *rows = mem_arena_new(arena, VRAM_CAT_COUNT + 1, sizeof *rows);
    if (!rows)
        return VRAM_ENOMEM;
    for (uint32_t i = 0; i <= VRAM_CAT_COUNT; i++)
        rows[i].category = i < VRAM_CAT_COUNT ? vram_category_name(i) : "unknown";
    add_to_rows(rows, now, NOW);
    add_to_rows(rows, peak, PEAK);
    add_to_rows(rows, tensors, ESTIMATED);
    out->rows = rows;
    out->row_count = VRAM_CAT_COUNT + 1;
    return VRAM_OK;
}

static void sum_matches(struct vram_snapshot *out, const struct live_set *blocks,
                        const struct live_set *tensors)
{
    for (size_t i = 0; i < blocks->count; i++)
        *(blocks->at[i].matched ? &out->matched_bytes : &out->unmatched_bytes) +=
            blocks->at[i].bytes;
    for (size_t i = 0; i < tensors->count; i++)
        out->missing_bytes += tensors->at[i].matched ? 0 : tensors->at[i].bytes;
}

// ---- the whole -------------------------------------------------------------------------------

static int compare(struct answers *a, const struct snapshot_read *s, struct history *h,
                   struct live_set *tensors)
{
    struct vram_snapshot *out = &a->snapshot;
    struct live_set *shown = s->event_count ? &h->peak : &h->now;
    if (out->has_config) {
        live_set_match(shown, tensors);
        sum_matches(out, shown, tensors);
    }
    guess_backward(&h->now, s->has_frames);
    guess_backward(&h->peak, s->has_frames);
    live_set_sort(shown);
    int rc = put_rows(out, &h->now, &h->peak, tensors, &a->snapshot_arena);
    if (rc == VRAM_OK)
        rc = live_set_rows(shown, !out->has_config, &a->snapshot_arena, &out->blocks,
                           &out->block_count);
    if (rc == VRAM_OK && out->has_config)
        rc = live_set_rows(tensors, false, &a->snapshot_arena, &out->missing, &out->missing_count);
    return rc;
}

static int explain(struct vram *v, struct answers *a, const struct snapshot_read *s)
{
    struct vram_snapshot *out = &a->snapshot;
    struct history h = {0};
    struct live_set tensors = {0};
    int rc = history_of(s, &h);
    out->peak_requested_bytes = h.peak_requested;
    out->peak_reserved_bytes = h.peak_reserved;
    if (rc == VRAM_OK)
        rc = put_segments(out, s, &a->snapshot_arena);
    if (rc == VRAM_OK)
        rc = put_oom(out, s, &a->snapshot_arena);
    if (rc == VRAM_OK && out->has_config)
        rc = vram_run(v);
    if (rc == VRAM_OK && out->has_config) {
        out->estimated_requested_bytes = v->result.peak_requested_bytes;
        out->estimated_reserved_bytes = v->result.peak_reserved.bytes;
        rc = expect(v, &tensors);
    }
    if (rc == VRAM_OK)
        rc = compare(a, s, &h, &tensors);
    live_set_free(&tensors, &v->mem);
    history_done(s, &h);
    return rc;
}

static int begin(struct answers *a, const struct snapshot_read *s, bool with_config)
{
    a->snapshot = (struct vram_snapshot){.device = s->device,
                                         .devices = s->devices,
                                         .has_frames = s->has_frames,
                                         .has_trace = s->event_count > 0,
                                         .events = s->event_count,
                                         .has_config = with_config};
    if (s->settings.len == 0)
        return VRAM_OK;
    a->snapshot.settings = span_keep(&a->snapshot_arena, s->settings);
    return a->snapshot.settings ? VRAM_OK : VRAM_ENOMEM;
}

int vram_read_snapshot(vram *v, const void *data, size_t len, const char *file, bool with_config,
                       const struct vram_snapshot **out)
{
    struct snapshot_read s = {0};
    message_clear(&v->err);
    struct answers *a = answers_of(v);
    if (!a)
        return VRAM_ENOMEM;
    a->has_snapshot = false;
    mem_arena_free(&a->snapshot_arena);
    int rc = snapshot_read(&s, &v->mem, &v->err, data, len, file);
    if (rc == VRAM_OK)
        rc = begin(a, &s, with_config);
    if (rc == VRAM_OK)
        rc = explain(v, a, &s);
    snapshot_done(&s);
    if (rc == VRAM_ENOMEM)
        return handle_no_memory(v);
    a->has_snapshot = rc == VRAM_OK;
    *out = &a->snapshot;
    return rc;
}
