// Owns the reading of a memory snapshot's members.
//
// SRC: torch/csrc/cuda/memory_snapshot.cpp and torch/csrc/cuda/Module.cpp,
// THCPModule_memorySnapshot (the members); torch/cuda/_memory_viz.py, _block_extra_legacy
// ("history" of 1.13 and 2.0).

#include "calc/parse/snapshot_read.h"

#include "calc/base/text.h"

// Steps that reading takes: some 20 a byte where the frames of every event are named by two bytes
// each.
enum { STEPS_A_BYTE = 64, STEPS_LEAST = 1 << 20 };

static int grow(struct snapshot_read *s, void **at, size_t *cap, size_t need, size_t size)
{
    int rc = mem_grow(s->tree.mem, at, cap, need, size);
    return rc == VRAM_OK ? rc
                         : err_set(s->tree.err, MESSAGE_out_of_memory, NO_POS, NO_FIELD, NO_ARGS);
}

static uint64_t number(struct tree *t, const struct tree_value *dict, const char *key)
{
    struct tree_value v = tree_get(t, dict, key);
    return tree_u64(&v);
}

static struct span word(struct tree *t, const struct tree_value *dict, const char *key)
{
    struct tree_value v = tree_get(t, dict, key);
    return tree_str(t, &v);
}

// ---- frames ----------------------------------------------------------------------------------

// The number of the site that a list of frames tells; lists are shared, and read once.
static int site(struct snapshot_read *s, const struct tree_value *frames, uint32_t *out)
{
    *out = 0;
    if (frames->kind != TREE_LIST)
        return VRAM_OK;
    uint32_t *known = &s->site_of_list[frames->n];
    if (*known == 0) {
        struct snapshot_site found = snapshot_site_of(s, frames);
        int rc = found.empty ? VRAM_OK
                             : grow(s, (void **)&s->sites, &s->site_cap, s->site_count + 1,
                                    sizeof *s->sites);
        if (rc != VRAM_OK)
            return rc;
        if (!found.empty) {
            s->has_frames = true;
            s->sites[s->site_count++] = found;
        }
        *known = found.empty ? 1 : (uint32_t)s->site_count;
    }
    *out = *known - 1;
    return VRAM_OK;
}

// ---- segments --------------------------------------------------------------------------------

static uint32_t state_of(struct span name)
{
    return span_is(name, "active_allocated")       ? SNAPSHOT_ALLOCATED
           : span_is(name, "active_pending_free")  ? SNAPSHOT_PENDING
           : span_is(name, "active_awaiting_free") ? SNAPSHOT_PENDING
                                                   : SNAPSHOT_INACTIVE;
}

// Until 2.0 a block has a history, the last first, in place of frames and the size that was asked
// for.
static struct tree_value last_of_history(struct tree *t, const struct tree_value *block)
{
    struct tree_value history = tree_get(t, block, "history"), first = {TREE_NONE, 0, 0};
    struct tree_walk w = tree_items(t, &history);
    return tree_next(t, &w, &first) ? first : (struct tree_value){TREE_NONE, 0, 0};
}

static int read_block(struct snapshot_read *s, const struct tree_value *v, uint64_t address)
{
    struct tree *t = &s->tree;
    struct tree_value frames = tree_get(t, v, "frames"),
                      requested = tree_get(t, v, "requested_size");
    if (frames.kind != TREE_LIST) {
        struct tree_value last = last_of_history(t, v);
        frames = tree_get(t, &last, "frames");
        if (requested.kind != TREE_INT)
            requested = tree_get(t, &last, "real_size");
    }
    int rc = grow(s, (void **)&s->blocks, &s->block_cap, s->block_count + 1, sizeof *s->blocks);
    if (rc != VRAM_OK)
        return rc;
    struct snapshot_block *b = &s->blocks[s->block_count++];
    *b = (struct snapshot_block){address, number(t, v, "size"), tree_u64(&requested),
                                 state_of(word(t, v, "state")), 0};
    if (requested.kind != TREE_INT || b->requested > b->bytes)
        b->requested = b->bytes;
    return site(s, &frames, &b->site);
}

static int read_segment(struct snapshot_read *s, const struct tree_value *v)
{
    struct tree *t = &s->tree;
    struct tree_value blocks = tree_get(t, v, "blocks"),
                      expandable = tree_get(t, v, "is_expandable"), block;
    int rc =
        grow(s, (void **)&s->segments, &s->segment_cap, s->segment_count + 1, sizeof *s->segments);
    if (rc != VRAM_OK)
        return rc;
    struct snapshot_segment g = {.address = number(t, v, "address"),
                                 .bytes = number(t, v, "total_size"),
                                 .stream = number(t, v, "stream"),
                                 .device = number(t, v, "device"),
                                 .small = span_is(word(t, v, "segment_type"), "small"),
                                 .expandable = tree_is_true(&expandable),
                                 .first = s->block_count};
    uint64_t at = g.address;
    struct tree_walk w = tree_items(t, &blocks);
    while (rc == VRAM_OK && tree_next(t, &w, &block)) {
        rc = read_block(s, &block, at);
        at += rc == VRAM_OK ? s->blocks[s->block_count - 1].bytes : 0;
    }
    g.count = s->block_count - g.first;
    s->segments[s->segment_count++] = g;
    return rc;
}

static int read_segments(struct snapshot_read *s, const struct tree_value *list)
{
    struct tree_value v;
    struct tree_walk w = tree_items(&s->tree, list);
    int rc = VRAM_OK;
    while (rc == VRAM_OK && tree_next(&s->tree, &w, &v))
        rc = read_segment(s, &v);
    return rc;
}

// ---- events ----------------------------------------------------------------------------------

static uint32_t action_of(struct span name)
{
    static const struct {
        const char *name;
        uint32_t action;
    } actions[] = {{"alloc", SNAPSHOT_ALLOC},
                   {"free_requested", SNAPSHOT_FREE},
                   {"segment_alloc", SNAPSHOT_SEGMENT_GROWS},
                   {"segment_map", SNAPSHOT_SEGMENT_GROWS},
                   {"segment_free", SNAPSHOT_SEGMENT_SHRINKS},
                   {"segment_unmap", SNAPSHOT_SEGMENT_SHRINKS},
                   {"oom", SNAPSHOT_OOM}};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (span_is(name, actions[i].name))
            return actions[i].action;
    return SNAPSHOT_OTHER;
}

static uint32_t category_of(struct span name)
{
    for (uint32_t i = 0; name.len && i < VRAM_CAT_COUNT; i++)
        if (span_is(name, vram_category_name(i)))
            return i;
    return SNAPSHOT_UNKNOWN;
}

static int read_event(struct snapshot_read *s, const struct tree_value *v)
{
    struct tree *t = &s->tree;
    struct snapshot_event e = {.action = action_of(word(t, v, "action")),
                               .bytes = number(t, v, "size")};
    if (e.action == SNAPSHOT_OTHER)
        return VRAM_OK;
    struct tree_value frames = tree_get(t, v, "frames");
    e.address = number(t, v, e.action == SNAPSHOT_OOM ? "device_free" : "addr");
    e.category = category_of(word(t, v, "category"));
    int rc = site(s, &frames, &e.site);
    if (rc == VRAM_OK)
        rc = grow(s, (void **)&s->events, &s->event_cap, s->event_count + 1, sizeof *s->events);
    if (rc == VRAM_OK)
        s->events[s->event_count++] = e;
    return rc;
}

static int read_events(struct snapshot_read *s, const struct tree_value *traces)
{
    struct tree_value trace, v;
    struct tree_walk w = tree_items(&s->tree, traces);
    int rc = VRAM_OK;
    for (uint64_t i = 0; rc == VRAM_OK && tree_next(&s->tree, &w, &trace); i++) {
        if (i != s->device)
            continue;
        struct tree_walk inside = tree_items(&s->tree, &trace);
        while (rc == VRAM_OK && tree_next(&s->tree, &inside, &v))
            rc = read_event(s, &v);
    }
    return rc;
}

// ---- the whole -------------------------------------------------------------------------------

// The device with the most reserved; without segments that with the longest trace.
static void choose_device(struct snapshot_read *s, const struct tree_value *traces)
{
    uint64_t most = 0;
    for (size_t i = 0; i < s->segment_count; i++) {
        uint64_t sum = 0, device = s->segments[i].device;
        if (i > 0 && device == s->segments[i - 1].device)
            continue;
        for (size_t k = 0; k < s->segment_count && tree_pay(&s->tree, 1); k++)
            sum += s->segments[k].device == device ? s->segments[k].bytes : 0;
        s->devices += sum > 0;
        if (sum > most) {
            most = sum;
            s->device = device;
        }
    }
    if (s->segment_count)
        return;
    struct tree_value trace;
    struct tree_walk w = tree_items(&s->tree, traces);
    for (uint64_t i = 0; tree_next(&s->tree, &w, &trace); i++) {
        uint64_t n = trace.kind == TREE_LIST ? s->tree.lists[trace.n].count : 0;
        s->devices += n > 0;
        if (n > most) {
            most = n;
            s->device = i;
        }
    }
}

// {"segments": [...], "device_traces": [[...]]}, or the segments alone, as
// torch.cuda.memory_snapshot returns them.
static int read_root(struct snapshot_read *s)
{
    struct tree *t = &s->tree;
    struct tree_value segments =
        t->root.kind == TREE_LIST ? t->root : tree_get(t, &t->root, "segments");
    struct tree_value traces = tree_get(t, &t->root, "device_traces"),
                      settings = tree_get(t, &t->root, "allocator_settings");
    if (segments.kind != TREE_LIST && traces.kind != TREE_LIST)
        return err_set(t->err, MESSAGE_snapshot_no_members, (struct err_pos){t->file, 0, 0},
                       NO_FIELD, NO_ARGS);
    s->settings = word(t, &settings, "PYTORCH_CUDA_ALLOC_CONF");
    if (s->settings.len == 0)
        s->settings = word(t, &settings, "PYTORCH_ALLOC_CONF");
    int rc = read_segments(s, &segments);
    if (rc == VRAM_OK)
        choose_device(s, &traces);
    return rc == VRAM_OK ? read_events(s, &traces) : rc;
}

static int read_tree(struct tree *t)
{
    unsigned char first = t->len ? (unsigned char)t->text[0] : 0;
    struct err_pos pos = {t->file, 0, 0};
    if (first == 'P' && t->len > 3 && t->text[1] == 'K' && t->text[2] == 3)
        return err_set(t->err, MESSAGE_snapshot_archive, pos, NO_FIELD, NO_ARGS);
    if (first == 0x80)
        return tree_read_pickle(t);
    if (first == '{' || first == '[' || first == ' ' || first == '\n' || first == '\r' ||
        first == '\t')
        return tree_read_json(t);
    return err_set(t->err, MESSAGE_snapshot_unknown, pos, NO_FIELD, NO_ARGS);
}

int snapshot_read(struct snapshot_read *s, const struct vram_mem *mem, struct message *err,
                  const char *text, size_t len, const char *file)
{
    *s = (struct snapshot_read){
        .tree = {.mem = mem, .text = text, .len = len, .file = file, .err = err}};
    s->tree.budget = STEPS_LEAST + STEPS_A_BYTE * (uint64_t)len;
    int rc = read_tree(&s->tree);
    if (rc == VRAM_OK)
        rc = grow(s, (void **)&s->site_of_list, &s->list_cap, s->tree.list_count + 1,
                  sizeof *s->site_of_list);
    if (rc == VRAM_OK)
        rc = grow(s, (void **)&s->rule_of_frame, &s->rule_cap, s->tree.list_count + 1,
                  sizeof *s->rule_of_frame);
    if (rc == VRAM_OK)
        rc = grow(s, (void **)&s->sites, &s->site_cap, 1, sizeof *s->sites);
    if (rc != VRAM_OK)
        return rc;
    mem_zero(s->site_of_list, s->list_cap * sizeof *s->site_of_list);
    mem_zero(s->rule_of_frame, s->rule_cap);
    s->sites[s->site_count++] = (struct snapshot_site){{"", 0}, {"", 0}, 0, SNAPSHOT_UNKNOWN, true};
    rc = read_root(s);
    return rc == VRAM_OK && err_is_set(err) ? err->out.code : rc;
}

void snapshot_done(struct snapshot_read *s)
{
    const struct vram_mem *mem = s->tree.mem;
    tree_free(&s->tree);
    mem_free(mem, s->segments, s->segment_cap * sizeof *s->segments);
    mem_free(mem, s->blocks, s->block_cap * sizeof *s->blocks);
    mem_free(mem, s->events, s->event_cap * sizeof *s->events);
    mem_free(mem, s->sites, s->site_cap * sizeof *s->sites);
    mem_free(mem, s->rule_of_frame, s->rule_cap);
    mem_free(mem, s->site_of_list, s->list_cap * sizeof *s->site_of_list);
}
