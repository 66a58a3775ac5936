// A segment on its way through the player, for the player's own files only.

#ifndef CALC_PLAYER_TURN_H
#define CALC_PLAYER_TURN_H

#include "calc/replay/player.h"

// A segment as it is played for one unit of the model, or the part of it from one instruction to
// another.
struct player_turn {
    const struct reel *r;
    const struct tape_segment *segment;
    const uint32_t *code;
    uint32_t from, to;
    int64_t real;                    // the unit
    uint32_t begin[2 * REEL_UNITS];  // where a part of the slots begins
};

static inline uint32_t player_slot(const struct player_turn *t, uint32_t operand)
{
    const struct reel_place *at = &t->r->places[operand];
    return t->begin[at->part] + at->base;
}

// What was allocated with another batch's dimensions keeps its own bytes.
static inline void player_hold(struct player *p, uint32_t slot, uint64_t bytes)
{
    if (p->held && slot < player_lasting(p->m))
        p->held[slot] = bytes;
}

// Follows a MOVE, which is two words.
static inline void player_move(struct player *p, const struct player_turn *t, const uint32_t *code)
{
    uint32_t to = player_slot(t, code[1] >> 2);
    p->slots[to] = p->slots[player_slot(t, code[0] >> 2)];
    player_hold(p, to, reel_request(t->r, code[0] >> 2)->bytes);
}

// cuBLAS keeps its workspace for ever: only the first product of a thread allocates it.
int player_workspace(struct player *p, uint32_t slot);

// Plays a turn where nothing is asked for but what is reserved: in order; or by pools, where there
// are stretches. Errors: those of the allocator; VRAM_ENOMEM.
int player_lean(struct player *p, const struct player_turn *t);
int player_by_pools(struct player *p, const struct player_turn *t);

#endif
