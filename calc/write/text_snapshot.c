// Owns the contents of a memory snapshot as text.

#include "calc/answer/answers.h"
#include "calc/base/text.h"
#include "calc/write/number.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_text.h"

enum { NAME_WIDTH = 34, COLUMN = 12, PATH_SHOWN = 44, SHOWN_LEAST = NUMBER_MIB / 20 };

static void put_columns(struct writer *w, const struct vram_snapshot *s, const char *name,
                        uint64_t now, uint64_t peak, uint64_t estimated)
{
    writer_str(w, "  ");
    put_cell(w, name, NAME_WIDTH);
    put_mib_right(w, now, COLUMN);
    if (s->has_trace)
        put_mib_right(w, peak, COLUMN);
    if (s->has_config)
        put_mib_right(w, estimated, COLUMN);
    writer_char(w, '\n');
}

static void put_right(struct writer *w, const char *word)
{
    for (size_t i = text_len(word); i < COLUMN; i++)
        writer_char(w, ' ');
    writer_str(w, word);
}

static void put_categories(struct writer *w, const struct vram_snapshot *s)
{
    put_cell(w, "MiB that were asked for", NAME_WIDTH + 2);
    put_right(w, "now");
    if (s->has_trace)
        put_right(w, "at the peak");
    if (s->has_config)
        put_right(w, "estimated");
    writer_char(w, '\n');
    for (size_t i = 0; i < s->row_count; i++) {
        const struct vram_snapshot_row *r = &s->rows[i];
        const char *name = i == VRAM_CAT_COUNT ? "what nothing tells of" : r->category;
        if (r->now_bytes || r->peak_bytes || r->estimated_bytes)
            put_columns(w, s, name, r->now_bytes, r->peak_bytes, r->estimated_bytes);
    }
    put_columns(w, s, "in all", s->requested_bytes, s->peak_requested_bytes,
                s->estimated_requested_bytes);
    put_columns(w, s, "reserved in segments", s->reserved_bytes, s->peak_reserved_bytes,
                s->estimated_reserved_bytes);
    writer_char(w, '\n');
}

// The end of a path, which tells more than its beginning.
static void put_place(struct writer *w, const struct vram_snapshot_block *b)
{
    size_t len = text_len(b->file), from = len > PATH_SHOWN ? len - PATH_SHOWN : 0;
    if (len == 0) {
        writer_str(w, b->name[0] ? b->name : "no Python frame");
        return;
    }
    while (from > 0 && from < len && b->file[from - 1] != '/')
        from++;
    from = from == len && len > PATH_SHOWN ? len - PATH_SHOWN : from;
    writer_f(w, "%s%s:%u %s", from ? ".../" : "", b->file + from, b->line, b->name);
}

static void put_times(struct writer *w, const struct vram_snapshot_block *b)
{
    writer_str(w, "  ");
    if (b->count > 1) {
        put_mib_right(w, b->bytes * b->count, COLUMN);
        writer_f(w, "  %u x ", b->count);
        put_mib(w, b->bytes);
        writer_str(w, ": ");
    } else {
        put_mib_right(w, b->bytes, COLUMN);
        writer_str(w, "  ");
    }
}

// Less is 0.0 MiB.
static bool is_shown(const struct vram_snapshot_block *b)
{
    return b->bytes * b->count >= SHOWN_LEAST;
}

static void put_blocks(struct writer *w, const struct vram_snapshot *s)
{
    if (s->block_count == 0 || !is_shown(&s->blocks[0]))
        return;
    writer_str(w, s->has_config ? "The largest blocks for which the estimate has no tensor"
                                : "The largest blocks");
    writer_str(w, s->has_trace ? ", at the peak, MiB\n" : ", MiB\n");
    for (size_t i = 0; i < s->block_count; i++) {
        if (!is_shown(&s->blocks[i]))
            continue;
        put_times(w, &s->blocks[i]);
        put_place(w, &s->blocks[i]);
        writer_f(w, "%s%s\n", s->blocks[i].category ? ", " : "",
                 s->blocks[i].category ? s->blocks[i].category : "");
    }
    writer_char(w, '\n');
}

static void put_missing(struct writer *w, const struct vram_snapshot *s)
{
    if (s->missing_count == 0 || !is_shown(&s->missing[0]))
        return;
    writer_str(w, "The largest tensors of the estimate for which there is no block, MiB\n");
    for (size_t i = 0; i < s->missing_count; i++) {
        if (!is_shown(&s->missing[i]))
            continue;
        put_times(w, &s->missing[i]);
        writer_f(w, "%s, %s\n", s->missing[i].name, s->missing[i].category);
    }
    writer_char(w, '\n');
}

static void put_device(struct writer *w, const struct vram_snapshot *s, const char *conf)
{
    uint64_t expandable = 0;
    for (size_t i = 0; i < s->segment_count; i++)
        expandable += s->segments[i].expandable;
    writer_f(w, "device %u: ", s->device);
    put_mib(w, s->reserved_bytes);
    writer_f(w, " MiB in %u segment%s, ", (uint64_t)s->segment_count,
             s->segment_count == 1 ? "" : "s");
    put_mib(w, s->allocated_bytes);
    writer_str(w, " in tensors; ");
    put_mib(w, s->free_bytes);
    writer_str(w, " are free, the largest piece ");
    put_mib(w, s->largest_free_bytes);
    if (s->pending_bytes) {
        writer_str(w, "; ");
        put_mib(w, s->pending_bytes);
        writer_str(w, " wait for another stream");
    }
    if (expandable)
        writer_f(w, "; %u of the segments can grow", expandable);
    writer_char(w, '\n');
    if (s->devices > 1)
        writer_f(w, "the snapshot has %u devices with memory: this one has the most\n", s->devices);
    if (s->settings)
        writer_f(w, "%s=%s\n", conf, s->settings);
}

static void put_history(struct writer *w, const struct vram_snapshot *s)
{
    if (!s->has_trace) {
        writer_str(w, "no history of allocations: the peak is not known "
                      "(torch.cuda.memory._record_memory_history() before the "
                      "run keeps one)\n");
        return;
    }
    put_count(w, s->events);
    writer_str(w, s->has_frames ? " events of its history are read\n"
                                : " events of its history are read; they have no frames\n");
    if (!s->has_oom)
        return;
    writer_str(w, "out of memory: ");
    put_mib(w, s->oom_bytes);
    writer_str(w, " MiB were asked for, ");
    put_mib(w, s->oom_free_bytes);
    writer_str(w, " were free on the card; at ");
    put_place(w, &s->oom_site);
    writer_char(w, '\n');
}

static void put_matches(struct writer *w, const struct vram_snapshot *s)
{
    if (!s->has_config)
        return;
    put_mib(w, s->matched_bytes);
    writer_str(w, s->has_trace ? " MiB of the peak" : " MiB");
    writer_str(w, " are in blocks as large as a tensor of the estimate's peak, ");
    put_mib(w, s->unmatched_bytes);
    writer_str(w, " are not; ");
    put_mib(w, s->missing_bytes);
    writer_str(w, " that it expects are missing\n\n");
}

void text_snapshot(struct vram *v)
{
    const struct vram_snapshot *s = &answers_made(v)->snapshot;
    struct writer *w = &v->text;
    put_device(w, s, config_alloc_conf(&v->config));
    put_history(w, s);
    writer_char(w, '\n');
    put_categories(w, s);
    put_matches(w, s);
    put_blocks(w, s);
    put_missing(w, s);
}
