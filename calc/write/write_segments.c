// Owns the allocator's segments at a moment as text and as rows of blocks.

#include "calc/replay/run.h"
#include "calc/write/number.h"
#include "calc/write/table.h"
#include "calc/write/text_parts.h"
#include "calc/write/write_table.h"
#include "calc/write/write_text.h"

// ---- text
// ------------------------------------------------------------------------------------------

enum { MAP_WIDTH = 44 };

// A segment as characters, each an equal part of it: # handed out, + pending, . free, by what has
// most of the part.
static void put_map(struct writer *w, const struct vram_segment *g)
{
    static const char signs[VRAM_BLOCK_COUNT] = {'.', '#', '+'};
    size_t i = 0;
    uint64_t begin = 0;  // of block i
    for (uint64_t k = 0; k < MAP_WIDTH; k++) {
        uint64_t from = g->bytes * k / MAP_WIDTH, to = g->bytes * (k + 1) / MAP_WIDTH,
                 by[VRAM_BLOCK_COUNT] = {0};
        while (i < g->block_count && from < to) {
            uint64_t end = begin + g->blocks[i].bytes, part = (end < to ? end : to) - from;
            by[g->blocks[i].state] += part;
            from += part;
            if (from == end) {
                begin = end;
                i++;
            }
        }
        uint32_t most =
            by[VRAM_BLOCK_USED] >= by[VRAM_BLOCK_FREE] ? VRAM_BLOCK_USED : VRAM_BLOCK_FREE;
        writer_char(w, signs[by[VRAM_BLOCK_PENDING] > by[most] ? VRAM_BLOCK_PENDING : most]);
    }
}

static void put_line(struct writer *w, const char *name, uint64_t bytes)
{
    put_cell(w, name, 22);
    put_mib_right(w, bytes, 12);
}

static void put_sums(struct writer *w, const struct vram_segments *s)
{
    put_line(w, "reserved", s->reserved_bytes);
    writer_f(w, "   %u segments\n", (uint64_t)s->segment_count);
    put_line(w, "handed out", s->allocated_bytes);
    writer_str(w, "   to tensors of ");
    put_mib(w, s->requested_bytes);
    writer_str(w, " MiB\n");
    if (s->pending_bytes) {
        put_line(w, "pending", s->pending_bytes);
        writer_str(w, "   given back, and still used by another stream\n");
    }
    put_line(w, "reserved and unused", s->reserved_bytes - s->allocated_bytes - s->pending_bytes);
    writer_f(w, "   %u free blocks, the largest of ", s->free_blocks);
    put_mib(w, s->largest_free_bytes);
    writer_str(w, " MiB\n\n");
}

void text_segments(struct vram *v)
{
    const struct vram_segments *s = segments_made(v);
    struct writer *w = &v->text;
    char phase[NUMBER_PHASE];
    writer_str(w, "after event ");
    put_count(w, s->event);
    writer_str(w, " of ");
    put_count(w, s->events);
    writer_f(w, ", %s: %s %s ", phase_words(s->phase, phase), s->name,
             s->event_is_free ? "gives back" : "asks for");
    put_mib(w, s->event_bytes);
    writer_str(w, " MiB\n\n");
    put_sums(w, s);
    put_heading(w, "segments, MiB    unused   largest   # handed out, . free, in order of address");
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct vram_segment *g = &s->segments[i];
        put_mib_right(w, g->bytes, 13);
        put_mib_right(w, g->bytes - g->used_bytes, 10);
        put_mib_right(w, g->largest_free_bytes, 10);
        writer_str(w, "   ");
        put_map(w, g);
        writer_char(w, '\n');
    }
}

// ---- CSV: a row a block
// --------------------------------------------------------------------------------

void csv_segments(struct vram *v)
{
    static const char *const names[] = {"segment", "small",          "state",  "category",
                                        "tensor",  "layer",          "stream", "offset",
                                        "bytes",   "requested_bytes"};
    const struct vram_segments *s = segments_made(v);
    struct table t = table_of(&v->text, false);
    table_head(&t, names, sizeof names / sizeof *names, 5);
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct vram_segment *g = &s->segments[i];
        uint64_t offset = 0;
        for (size_t k = 0; k < g->block_count; offset += g->blocks[k++].bytes) {
            const struct vram_block *b = &g->blocks[k];
            bool used = b->state == VRAM_BLOCK_USED;
            table_u64(&t, i);
            table_str(&t, g->small ? "yes" : "no");
            table_str(&t, vram_block_state_name(b->state));
            table_str(&t, used ? vram_category_name(b->category) : "");
            table_str(&t, used ? b->name : "");
            table_i64(&t, b->layer);
            table_u64(&t, g->stream);
            table_u64(&t, offset);
            table_u64(&t, b->bytes);
            table_u64(&t, b->requested);
            table_end(&t);
        }
    }
}
