// Owns the contents of a memory snapshot as JSON.

#include "calc/answer/answers.h"
#include "calc/write/json_parts.h"
#include "calc/write/write_json.h"

static void number(struct json *j, const char *key, bool there, uint64_t n)
{
    if (there)
        json_u64(j, key, n);
    else
        json_null(j, key);
}

static void block(struct json *j, const char *key, const struct vram_snapshot_block *b)
{
    json_open(j, key, '{');
    json_u64(j, "bytes", b->bytes);
    json_u64(j, "count", b->count);
    json_str(j, "category", b->category);
    json_str(j, "file", b->file);
    json_u64(j, "line", b->line);
    json_str(j, "name", b->name);
    json_close(j, '}');
}

static void blocks(struct json *j, const char *key, const struct vram_snapshot_block *b, size_t count)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < count; i++)
        block(j, NULL, &b[i]);
    json_close(j, ']');
}

static void oom(struct json *j, const struct vram_snapshot *s)
{
    if (!s->has_oom) {
        json_null(j, "oom");
        return;
    }
    json_open(j, "oom", '{');
    json_u64(j, "tried_bytes", s->oom_bytes);
    json_u64(j, "free_bytes", s->oom_free_bytes);
    block(j, "at", &s->oom_site);
    json_close(j, '}');
}

static void rows(struct json *j, const struct vram_snapshot *s)
{
    json_open(j, "categories", '[');
    for (size_t i = 0; i < s->row_count; i++) {
        json_open(j, NULL, '{');
        json_str(j, "category", s->rows[i].category);
        json_u64(j, "now_bytes", s->rows[i].now_bytes);
        number(j, "peak_bytes", s->has_trace, s->rows[i].peak_bytes);
        number(j, "estimated_bytes", s->has_config, s->rows[i].estimated_bytes);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void segments(struct json *j, const struct vram_snapshot *s)
{
    json_open(j, "segments", '[');
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct vram_snapshot_segment *g = &s->segments[i];
        json_open(j, NULL, '{');
        json_u64(j, "address", g->address);
        json_u64(j, "bytes", g->bytes);
        json_u64(j, "allocated_bytes", g->allocated_bytes);
        json_u64(j, "largest_free_bytes", g->largest_free_bytes);
        json_u64(j, "stream", g->stream);
        json_u64(j, "blocks", g->blocks);
        json_bool(j, "small", g->small);
        json_bool(j, "expandable", g->expandable);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void json_snapshot(struct vram *v)
{
    const struct vram_snapshot *s = &answers_made(v)->snapshot;
    struct json j = json_of(&v->text);
    json_open(&j, NULL, '{');
    json_str(&j, "schema", VRAM_SCHEMA);
    json_u64(&j, "device", s->device);
    json_u64(&j, "devices", s->devices);
    json_u64(&j, "reserved_bytes", s->reserved_bytes);
    json_u64(&j, "allocated_bytes", s->allocated_bytes);
    json_u64(&j, "requested_bytes", s->requested_bytes);
    json_u64(&j, "pending_bytes", s->pending_bytes);
    json_u64(&j, "free_bytes", s->free_bytes);
    json_u64(&j, "largest_free_bytes", s->largest_free_bytes);
    json_str(&j, "settings", s->settings);
    json_bool(&j, "has_frames", s->has_frames);
    json_u64(&j, "events", s->events);
    number(&j, "peak_requested_bytes", s->has_trace, s->peak_requested_bytes);
    number(&j, "peak_reserved_bytes", s->has_trace, s->peak_reserved_bytes);
    oom(&j, s);
    number(&j, "estimated_requested_bytes", s->has_config, s->estimated_requested_bytes);
    number(&j, "estimated_reserved_bytes", s->has_config, s->estimated_reserved_bytes);
    number(&j, "matched_bytes", s->has_config, s->matched_bytes);
    number(&j, "unmatched_bytes", s->has_config, s->unmatched_bytes);
    number(&j, "missing_bytes", s->has_config, s->missing_bytes);
    rows(&j, s);
    blocks(&j, "blocks", s->blocks, s->block_count);
    blocks(&j, "missing", s->missing, s->missing_count);
    segments(&j, s);
    json_close(&j, '}');
    json_end(&j);
}
