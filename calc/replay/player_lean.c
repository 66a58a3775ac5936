// Owns the replay of which only the reserved memory counts: a short loop, and turns played pool by
// pool, without temporaries for which there is room.
#ifndef __wasm__

#include "calc/replay/allocator_lean.h"
#include "calc/replay/player.h"
#include "calc/replay/stretch.h"

POOL_HOT int player_lean_loop(struct player *p, const struct player_turn *t, bool expands,
                              bool streams)
{
    const uint32_t *code = t->code;
    struct allocator *a = p->allocator;
    int rc = VRAM_OK;
    for (uint32_t i = t->from, end = t->to; i < end && rc == VRAM_OK; i++) {
        uint32_t operand = code[i] >> 2, kind = code[i] & 3;
        if (kind == TAPE_FREE) {
            uint32_t block = p->slots[player_slot(t, operand)];
            if (!lean_free(a, streams, block))
                rc = allocator_free(a, block);
        } else if (kind == TAPE_MOVE) {
            player_move(p, t, &code[i++]);
        } else if (kind == TAPE_WORKSPACE) {
            rc = player_workspace(p, operand);
        } else {
            uint32_t stream = streams ? t->r->tape.storages[operand].stream : 0;
            if (streams)
                allocator_stream(a, stream);
            if (i + 1 < end && code[i + 1] == (operand << 2 | TAPE_FREE)) {
                if (expands || !lean_lends(a, stream, reel_request(t->r, operand)))
                    rc = allocator_borrow(a, reel_request(t->r, operand));
                i++;
                continue;
            }
            uint32_t *block = &p->slots[player_slot(t, operand)];
            if (!lean_take(a, expands, stream, reel_request(t->r, operand), block))
                rc = allocator_take(a, reel_request(t->r, operand), block);
        }
    }
    return rc;
}

// The loop with virtual segments and without them, with several streams and with one.
int player_lean(struct player *p, const struct player_turn *t)
{
    bool expands = !p->allocator->plain;
    if (p->streams)
        return expands ? player_lean_loop(p, t, true, true) : player_lean_loop(p, t, false, true);
    return expands ? player_lean_loop(p, t, true, false) : player_lean_loop(p, t, false, false);
}

static int player_stretches(struct player *p, const struct player_turn *t, bool small)
{
    const struct stretch_list *l = &t->r->stretches.pools[small];
    size_t number = (size_t)(t->segment - t->r->tape.segments);
    struct player_turn part = *t;
    int rc = VRAM_OK;
    for (uint32_t i = number ? l->ends[number - 1] : 1; i < l->ends[number] && rc == VRAM_OK; i++) {
        const struct stretch *now = &l->at[i], *last = now - 1;
        bool all = now->most && !stretch_has_room(p->allocator, small, now);
        p->passed += now->most && !all;
        part.code = all ? l->all : l->rest;
        part.from = all ? last->all : last->rest;
        part.to = all ? now->all : now->rest;
        rc = part.from < part.to ? player_lean(p, &part) : VRAM_OK;
    }
    return rc;
}

// The pools have nothing in common but the device.
int player_by_pools(struct player *p, const struct player_turn *t)
{
    int rc = player_stretches(p, t, false);
    return rc == VRAM_OK ? player_stretches(p, t, true) : rc;
}

#endif
