// Owns the contents of a memory snapshot as Lua tables.

#include <lua.h>

#include "calc/lua/lua_member.h"
#include "calc/lua/lua_push.h"

static void push_block(lua_State *L, const struct vram_snapshot_block *b)
{
    member_open(L, "vram.snapshot_block");
    member_bytes(L, "bytes", b->bytes);
    member_count(L, "count", b->count);
    member_string(L, "category", b->category);
    member_string(L, "file", b->file);
    member_count(L, "line", b->line);
    member_string(L, "name", b->name);
}

static void set_blocks(lua_State *L, const char *key, const struct vram_snapshot_block *b, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_block(L, &b[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, key);
}

static void set_categories(lua_State *L, const struct vram_snapshot *s)
{
    lua_createtable(L, (int)s->row_count, 0);
    for (size_t i = 0; i < s->row_count; i++) {
        member_open(L, "vram.snapshot_row");
        member_string(L, "category", s->rows[i].category);
        member_bytes(L, "now_bytes", s->rows[i].now_bytes);
        if (s->has_trace)
            member_bytes(L, "peak_bytes", s->rows[i].peak_bytes);
        if (s->has_config)
            member_bytes(L, "estimated_bytes", s->rows[i].estimated_bytes);
        member_append(L, i);
    }
    lua_setfield(L, -2, "categories");
}

static void set_segments(lua_State *L, const struct vram_snapshot *s)
{
    lua_createtable(L, (int)s->segment_count, 0);
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct vram_snapshot_segment *g = &s->segments[i];
        member_open(L, "vram.snapshot_segment");
        member_count(L, "address", g->address);
        member_bytes(L, "bytes", g->bytes);
        member_bytes(L, "allocated_bytes", g->allocated_bytes);
        member_bytes(L, "largest_free_bytes", g->largest_free_bytes);
        member_count(L, "stream", g->stream);
        member_count(L, "blocks", g->blocks);
        member_boolean(L, "small", g->small);
        member_boolean(L, "expandable", g->expandable);
        member_append(L, i);
    }
    lua_setfield(L, -2, "segments");
}

static void set_history(lua_State *L, const struct vram_snapshot *s)
{
    member_count(L, "events", s->events);
    if (s->has_trace) {
        member_bytes(L, "peak_requested_bytes", s->peak_requested_bytes);
        member_bytes(L, "peak_reserved_bytes", s->peak_reserved_bytes);
    }
    if (!s->has_oom)
        return;
    member_open(L, "vram.snapshot_oom");
    member_bytes(L, "tried_bytes", s->oom_bytes);
    member_bytes(L, "free_bytes", s->oom_free_bytes);
    push_block(L, &s->oom_site);
    lua_setfield(L, -2, "at");
    lua_setfield(L, -2, "oom");
}

void lua_push_snapshot(lua_State *L, const struct vram_snapshot *s)
{
    member_open(L, "vram.snapshot");
    member_string(L, "schema", VRAM_SCHEMA);
    member_count(L, "device", s->device);
    member_count(L, "devices", s->devices);
    member_bytes(L, "reserved_bytes", s->reserved_bytes);
    member_bytes(L, "allocated_bytes", s->allocated_bytes);
    member_bytes(L, "requested_bytes", s->requested_bytes);
    member_bytes(L, "pending_bytes", s->pending_bytes);
    member_bytes(L, "free_bytes", s->free_bytes);
    member_bytes(L, "largest_free_bytes", s->largest_free_bytes);
    member_string(L, "settings", s->settings);
    member_boolean(L, "has_frames", s->has_frames);
    set_history(L, s);
    if (s->has_config) {
        member_bytes(L, "estimated_requested_bytes", s->estimated_requested_bytes);
        member_bytes(L, "estimated_reserved_bytes", s->estimated_reserved_bytes);
        member_bytes(L, "matched_bytes", s->matched_bytes);
        member_bytes(L, "unmatched_bytes", s->unmatched_bytes);
        member_bytes(L, "missing_bytes", s->missing_bytes);
    }
    set_categories(L, s);
    set_blocks(L, "blocks", s->blocks, s->block_count);
    set_blocks(L, "missing", s->missing, s->missing_count);
    set_segments(L, s);
}
