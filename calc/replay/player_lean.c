// Owns the replay of which only the reserved memory counts: a short loop, and turns played pool by
// pool, without temporaries for which there is room.
#ifndef VRAM_SMALL

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

// The same for one pool's part of a turn, of plain segments and one stream.
POOL_HOT int player_pool_loop(struct player *p, const struct player_turn *t, bool small,
                              const uint32_t *code, const uint32_t *end)
{
    struct allocator *a = p->allocator;
    struct allocator_pool *pool = small ? &a->small : &a->large;
    int rc = VRAM_OK;
    for (; code < end && rc == VRAM_OK; code++) {
        uint32_t operand = *code >> 2, kind = *code & 3;
        if (kind == TAPE_FREE) {
            uint32_t block = p->slots[player_slot(t, operand)];
            if (!lean_free_to(a, pool, block))
                rc = allocator_free(a, block);
        } else if (kind == TAPE_ALLOC) {
            const struct allocator_request *r = reel_request(t->r, operand);
            if (code + 1 < end && code[1] == (operand << 2 | TAPE_FREE)) {
                if (!lean_lends_from(a, pool, r))
                    rc = allocator_borrow(a, r);
                code++;
                continue;
            }
            uint32_t *block = &p->slots[player_slot(t, operand)];
            if (!lean_take_from(a, pool, small, false, r, block))
                rc = allocator_take(a, r, block);
        } else if (kind == TAPE_MOVE) {
            player_move(p, t, code++);
        } else {
            rc = player_workspace(p, operand);
        }
    }
    return rc;
}

POOL_HOT int player_stretches(struct player *p, const struct player_turn *t, bool small)
{
    const struct stretch_list *l = &t->r->stretches.pools[small];
    size_t number = (size_t)(t->segment - t->r->tape.segments);
    const struct stretch *now = &l->at[number ? l->ends[number - 1] : 1], *end;
    int rc = VRAM_OK;
    for (end = &l->at[l->ends[number]]; now < end && rc == VRAM_OK; now++) {
        bool all = now->most && !stretch_has_room(p->allocator, small, now);
        p->passed += now->most && !all;
        rc = all ? player_pool_loop(p, t, small, l->all + now[-1].all, l->all + now->all)
                 : player_pool_loop(p, t, small, l->rest + now[-1].rest, l->rest + now->rest);
    }
    return rc;
}

// The pools have nothing in common but the device, which is without an end here: what takes more
// than there is has to be played in order.
int player_by_pools(struct player *p, const struct player_turn *t)
{
    struct allocator *a = p->allocator;
    uint64_t device_bytes = a->config.device_bytes;
    a->config.device_bytes = 0;
    int rc = player_stretches(p, t, false);
    rc = rc == VRAM_OK ? player_stretches(p, t, true) : rc;
    a->config.device_bytes = device_bytes;
    if (!device_bytes || (rc == VRAM_OK && a->stats.reserved.now <= device_bytes))
        return rc;
    p->over = p->turns + 1;
    return VRAM_ENOFIT;
}

#endif
