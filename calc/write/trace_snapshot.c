// The trace as PyTorch's memory snapshot, by replaying it through the allocator: a pickle or JSON.
//
// SRC: torch/utils/viz/MemoryViz.js, annotate_snapshot and process_alloc_data (what the viewer
// reads) and unpickle (which opcodes it knows); torch/cuda/memory.py, _snapshot (the fields).

#include "calc/write/trace_snapshot.h"

#include "calc/base/text.h"
#include "calc/replay/allocator.h"

enum { MIB = 1048576, BATCH = 500 };  // list items between two APPENDS

// Dictionaries and lists, in either notation.
struct out {
    struct writer *w;
    bool pickle;
    bool empty;      // JSON: no comma needed
    unsigned items;  // pickle: in the outer list since the last APPENDS
};

static void byte(struct out *o, unsigned char c)
{
    writer_char(o->w, (char)c);
}

static void little(struct out *o, uint64_t n, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, n >>= 8)
        byte(o, n & 0xff);
}

static void put_str(struct out *o, const char *s)
{
    size_t len = text_len(s);
    if (!o->pickle) {
        writer_json(o->w, s, len);
        return;
    }
    byte(o, 'X');
    little(o, len, 4);
    writer_bytes(o->w, s, len);
}

static void put_int(struct out *o, uint64_t n)
{
    if (!o->pickle) {
        writer_u64(o->w, n);
    } else if (n < (uint64_t)1 << 31) {
        byte(o, 'J');
        little(o, n, 4);
    } else {
        byte(o, 0x8a);  // LONG1
        byte(o, 8);
        little(o, n, 8);
    }
}

static void comma(struct out *o)
{
    if (!o->pickle && !o->empty)
        writer_char(o->w, ',');
    o->empty = false;
}

static void open(struct out *o, char bracket)
{
    if (o->pickle) {
        byte(o, bracket == '{' ? '}' : ']');
        byte(o, '(');
    } else {
        writer_char(o->w, bracket);
    }
    o->empty = true;
}

static void close(struct out *o, char bracket)
{
    if (o->pickle)
        byte(o, bracket == '{' ? 'u' : 'e');
    else
        writer_char(o->w, bracket == '{' ? '}' : ']');
    o->empty = false;
}

static void key(struct out *o, const char *name)
{
    comma(o);
    put_str(o, name);
    if (!o->pickle)
        writer_char(o->w, ':');
}

static void pair_int(struct out *o, const char *name, uint64_t n)
{
    key(o, name);
    put_int(o, n);
}

static void pair_str(struct out *o, const char *name, const char *s)
{
    key(o, name);
    put_str(o, s);
}

// Between the items of a long list, so that no reader's stack grows without bound.
static void next_item(struct out *o)
{
    comma(o);
    if (!o->pickle)
        writer_char(o->w, '\n');
    else if (o->items++ == BATCH) {
        byte(o, 'e');
        byte(o, '(');
        o->items = 1;
    }
}

struct live {
    uint64_t address, size, requested;
    const char *name;
    bool used;
};

struct segment {
    uint64_t address, size;
};

struct snapshot {
    struct out o;
    struct vram *v;
    struct allocator a;
    uint32_t *block;  // by id of the event
    size_t block_cap;
    struct live *live;  // by block number
    size_t live_cap;
    struct segment *segments;
    size_t segment_count, segment_cap;
    int rc;
};

static void put_frames(struct out *o, const struct vram_event *e)
{
    key(o, "frames");
    open(o, '[');
    comma(o);
    open(o, '{');
    pair_str(o, "name", e->name);
    pair_str(o, "filename", e->op);
    pair_int(o, "line", e->block >= 0 ? (uint64_t)e->block : 0);
    close(o, '{');
    comma(o);
    open(o, '{');
    pair_str(o, "name", e->phase);
    pair_str(o, "filename", "phase");
    pair_int(o, "line", 0);
    close(o, '{');
    close(o, '[');
}

static void put_action(struct snapshot *s, const char *action, uint64_t address, uint64_t size,
                       const struct vram_event *e)
{
    struct out *o = &s->o;
    next_item(o);
    open(o, '{');
    pair_str(o, "action", action);
    pair_int(o, "addr", address);
    pair_int(o, "size", size);
    pair_int(o, "stream", 0);
    if (e) {
        // the viewer colours by category, and its own name for the rest must occur
        pair_str(o, "category",
                 e->category == VRAM_CAT_WORKSPACE ? "unknown" : vram_category_name(e->category));
        put_frames(o, e);
    }
    close(o, '{');
}

static int store(struct snapshot *s, const struct vram_event *e, uint32_t block)
{
    int rc = mem_grow(&s->v->mem, (void **)&s->block, &s->block_cap, (size_t)e->id + 1,
                      sizeof *s->block);
    size_t before = s->live_cap;
    if (rc == VRAM_OK)
        rc = mem_grow(&s->v->mem, (void **)&s->live, &s->live_cap, (size_t)block + 1,
                      sizeof *s->live);
    if (rc != VRAM_OK)
        return rc;
    for (size_t i = before; i < s->live_cap; i++)
        s->live[i].used = false;
    s->block[e->id] = block;
    s->live[block] = (struct live){allocator_block_address(&s->a, block),
                                   allocator_block_bytes(&s->a, block), e->bytes, e->name, true};
    return VRAM_OK;
}

// A segment that this request made: it begins where the block does.
static int note_segment(struct snapshot *s, uint64_t address, uint64_t size)
{
    int rc = mem_grow(&s->v->mem, (void **)&s->segments, &s->segment_cap, s->segment_count + 1,
                      sizeof *s->segments);
    if (rc == VRAM_OK)
        s->segments[s->segment_count++] = (struct segment){address, size};
    return rc;
}

static int on_alloc(struct snapshot *s, const struct vram_event *e)
{
    uint32_t block = 0;
    uint64_t before = s->a.stats.reserved.now;
    int rc = allocator_malloc(&s->a, e->bytes, &block);
    if (rc == VRAM_OK)
        rc = store(s, e, block);
    if (rc != VRAM_OK || block == 0)
        return rc;
    uint64_t grown = s->a.stats.reserved.now - before;
    if (grown) {
        rc = note_segment(s, s->live[block].address, grown);
        put_action(s, "segment_alloc", s->live[block].address, grown, NULL);
    }
    put_action(s, "alloc", s->live[block].address, e->bytes, e);
    return rc;
}

static int on_free(struct snapshot *s, const struct vram_event *e)
{
    uint32_t block = e->id < s->block_cap ? s->block[e->id] : 0;
    if (block == 0)
        return VRAM_OK;
    put_action(s, "free_requested", s->live[block].address, s->live[block].requested, e);
    put_action(s, "free_completed", s->live[block].address, s->live[block].requested, e);
    s->live[block].used = false;
    return allocator_free(&s->a, block);
}

static int on_event(void *ctx, const struct vram_event *e)
{
    struct snapshot *s = ctx;
    s->rc = e->is_free ? on_free(s, e) : on_alloc(s, e);
    return s->rc != VRAM_OK || s->o.w->failed;
}

// The blocks in use at the end, in order of address: packs and sorts the table in place (shell
// sort).
static size_t sort_live(struct live *l, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < cap; i++)
        if (l[i].used)
            l[n++] = l[i];
    for (size_t step = n / 2; step > 0; step /= 2)
        for (size_t i = step; i < n; i++) {
            struct live x = l[i];
            size_t k = i;
            for (; k >= step && l[k - step].address > x.address; k -= step)
                l[k] = l[k - step];
            l[k] = x;
        }
    return n;
}

static void put_block(struct out *o, uint64_t address, uint64_t size, const struct live *l)
{
    comma(o);
    open(o, '{');
    pair_int(o, "address", address);
    pair_int(o, "size", size);
    pair_int(o, "requested_size", l ? l->requested : 0);
    pair_str(o, "state", l ? "active_allocated" : "inactive");
    key(o, "frames");
    open(o, '[');
    if (l) {
        comma(o);
        open(o, '{');
        pair_str(o, "name", l->name);
        pair_str(o, "filename", "alive at the end");
        pair_int(o, "line", 0);
        close(o, '{');
    }
    close(o, '[');
    close(o, '{');
}

static void put_segment(struct out *o, const struct segment *g, const struct live *l, size_t n)
{
    uint64_t at = g->address, end = g->address + g->size, used = 0;
    next_item(o);
    open(o, '{');
    pair_int(o, "device", 0);
    pair_int(o, "address", g->address);
    pair_int(o, "total_size", g->size);
    pair_int(o, "stream", 0);
    pair_str(o, "segment_type", g->size == 2 * MIB ? "small" : "large");
    key(o, "frames");
    open(o, '[');
    close(o, '[');
    key(o, "blocks");
    open(o, '[');
    for (size_t i = 0; i < n; i++) {
        if (l[i].address < at || l[i].address >= end)
            continue;
        if (l[i].address > at)
            put_block(o, at, l[i].address - at, NULL);
        put_block(o, l[i].address, l[i].size, &l[i]);
        at = l[i].address + l[i].size;
        used += l[i].size;
    }
    if (at < end)
        put_block(o, at, end - at, NULL);
    close(o, '[');
    pair_int(o, "allocated_size", used);
    pair_int(o, "active_size", used);
    close(o, '{');
}

// With expandable segments one range of addresses grows: its pieces are joined into what they are.
static void join_segments(struct snapshot *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->segment_count; i++) {
        struct segment *last = n ? &s->segments[n - 1] : NULL;
        if (last && s->v->config.expandable_segments &&
            last->address + last->size == s->segments[i].address)
            last->size += s->segments[i].size;
        else
            s->segments[n++] = s->segments[i];
    }
    s->segment_count = n;
}

static void release(struct snapshot *s)
{
    allocator_done(&s->a);
    mem_free(&s->v->mem, s->block, s->block_cap * sizeof *s->block);
    mem_free(&s->v->mem, s->live, s->live_cap * sizeof *s->live);
    mem_free(&s->v->mem, s->segments, s->segment_cap * sizeof *s->segments);
}

static int write_events(struct snapshot *s)
{
    struct out *o = &s->o;
    key(o, "device_traces");
    open(o, '[');
    comma(o);
    open(o, '[');
    o->items = 0;
    // makes the viewer's category for unnamed allocations known, without which it stops
    next_item(o);
    open(o, '{');
    pair_str(o, "action", "snapshot");
    pair_int(o, "addr", 0);
    pair_int(o, "size", 0);
    pair_int(o, "stream", 0);
    pair_str(o, "category", "unknown");
    close(o, '{');
    int rc = vram_trace(s->v, on_event, s);
    close(o, '[');
    close(o, '[');
    return s->rc != VRAM_OK ? s->rc : rc == 1 ? VRAM_OK : rc;
}

static void write_segments(struct snapshot *s)
{
    struct out *o = &s->o;
    size_t n = sort_live(s->live, s->live_cap);
    join_segments(s);
    key(o, "segments");
    open(o, '[');
    o->items = 0;
    for (size_t i = 0; i < s->segment_count; i++)
        put_segment(o, &s->segments[i], s->live, n);
    close(o, '[');
}

static struct allocator_config allocator_settings(const struct vram_config *c)
{
    return (struct allocator_config){
        .max_split_bytes = c->max_split_size_mb * MIB,
        .roundup_divisions = (uint32_t)c->roundup_power2_divisions,
        .expandable = c->expandable_segments != 0,
        .falling = c->mode == MODE_PROCESS,
    };
}

static int snapshot(struct vram *v, bool pickle)
{
    struct snapshot s = {.o = {&v->text, pickle, true, 0}, .v = v};
    struct allocator_config settings = allocator_settings(&v->config);
    int rc = allocator_init(&s.a, &v->mem, &settings);
    if (rc != VRAM_OK)
        return err_set(&v->err, MESSAGE_allocator_refuses, NO_POS, NO_FIELD, NO_ARGS);
    if (pickle) {
        byte(&s.o, 0x80);  // protocol 2: the oldest that the viewer takes
        byte(&s.o, 2);
    }
    open(&s.o, '{');
    rc = write_events(&s);
    if (rc == VRAM_OK) {
        write_segments(&s);
        close(&s.o, '{');
        writer_char(&v->text, pickle ? '.' : '\n');
    } else if (!err_is_set(&v->err)) {
        handle_no_memory(v);
    }
    release(&s);
    return rc;
}

int trace_pickle(struct vram *v)
{
    return snapshot(v, true);
}

int trace_json(struct vram *v)
{
    return snapshot(v, false);
}
