// The player: walks tapes and single allocations in the order of a run, into the allocator or into
// a sink, and keeps the sum of live bytes with its peaks.

#ifndef CALC_PLAYER_H
#define CALC_PLAYER_H

#include "calc/replay/allocator.h"
#include "calc/replay/reel.h"
#include "calc/trace/trace.h"

enum { PLAYER_PHASES = 128, PLAYER_LATE = 1024 };

struct player_phase {
    uint32_t phase;
    uint64_t peak;  // of live bytes
};

// A block that a collective has used: free for the program, and not yet for the card.
struct player_late {
    uint32_t block;
    uint64_t due;  // launch with which the card is surely past it
};

struct player;

// Is told of every event of a replay, after the allocator has done it. number: of the block that
// was handed out; of a free 0. A non-zero answer stops the walk and is handed back.
struct player_watch {
    int (*event)(void *ctx, const struct player *p, const struct storage *s, uint64_t bytes,
                 int32_t layer, uint32_t number);
    void *ctx;
};

struct player {
    const struct model *m;
    struct allocator *allocator;       // replay, or NULL
    const struct trace_sink *sink;     // hand out, or NULL
    const struct player_watch *watch;  // of a replay, or NULL
    uint32_t *slots;                   // by slot: the allocator's block, or the sink's id
    uint64_t *held;       // bytes of what outlives tapes, by slot, where batches differ; or NULL
    uint32_t tape_base;   // slots of tapes follow those that survive them
    uint32_t lane_slots;  // of one lane
    uint32_t ids;         // next id for the sink
    uint32_t workspaces;  // bits: which cuBLAS workspaces exist
    uint32_t temps;       // temporaries of an optimizer step made so far
    uint32_t phase;       // trace_phase()
    uint32_t phase_count;
    bool phase_open;  // the phase that runs is the last of these: further ones are not kept
    struct player_phase phases[PLAYER_PHASES];
    uint64_t live, phase_peak, events;
    uint64_t peak;        // of live bytes, workspaces left out
    uint64_t peak_event;  // number of the event that made it, from 1
    uint32_t peak_phase;
    uint16_t peak_op;
    int32_t peak_block;
    uint64_t workspace_bytes;
    bool lean;  // only what the allocator reserves: no other sums, no peak of live bytes of tapes
    uint64_t
        enough;      // lean: once this many bytes are reserved the rest is not played (VRAM_ENOFIT)
    bool first;      // the pass is the first of its kind: an earlier one has left nothing to free
    bool streams;    // some storages are on a stream of their own
    bool lags;       // the card runs behind: what collectives have used comes back late
    uint64_t queue;  // launches by which it comes late
    bool ahead;      // the program is through with its step before the card
    uint64_t launches;         // kernels and events so far
    struct player_late *late;  // a ring of PLAYER_LATE, oldest first; set where lags is
    uint32_t late_first, late_count;
    uint32_t iterations;  // played
    uint64_t steady_end, first_step_peak,
        eval_peak;  // live bytes: at the end; peaks of iteration 0, of evaluation
    // lean, and none in the small module:
    uint64_t turns;            // segments played so far
    uint64_t by_pools;         // as many are played pool by pool where their reels have stretches
    uint64_t passed;           // stretches whose temporaries were not
    const uint64_t *in_order;  // but for these, by number from 1, up to 0; NULL: none
    uint64_t most, over;  // bytes reserved, 0: any; number of the turn that has reserved more, or 0
};

void player_init(struct player *p, const struct model *m);

// Slots of what outlives tapes: those of the run and of each layer.
static inline uint32_t player_lasting(const struct model *m)
{
    return SLOT_COUNT + (uint32_t)m->c.n_layer * LAYOUT_BLOCK_NUMBERS;
}

// How many slots a pass or an optimizer step takes; player_slots: all of a run.
uint32_t player_lane_slots(const struct model *m, const struct reel *reels, size_t count);
static inline size_t player_slots(const struct player *p)
{
    return p->tape_base + (size_t)p->m->in_flight * p->lane_slots;
}

// Begins a phase; the one before it is complete. The last one's end.
void player_phase(struct player *p, uint32_t phase);
void player_end_phase(struct player *p);

// One allocation or free. block: layer or -1. Errors: those of the allocator, or what the sink
// answered.
int player_alloc(struct player *p, uint32_t slot, const struct storage *s, uint64_t bytes,
                 int32_t block);
int player_free(struct player *p, uint32_t slot, const struct storage *s, uint64_t bytes,
                int32_t block);

// What is in a slot of those that survive tapes is in another from now on.
void player_rename(struct player *p, uint32_t from, uint32_t to);

// What a collective puts into the queue: a kernel with an event and a wait before it and after it;
// for each whole sequence that goes to one there is another that gathers into a buffer that stays.
// What the driver's queue takes: so far the program runs ahead. SRC: measured on tests/oracle with
// NULLCUDA_LAG; CUDA's launch queue of 1,024 entries; pytorch
// torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (collective: syncStream, recordStream of what it
// takes and fills, ncclEndEvent_; WorkNCCL::synchronizeStream).
// PLAYER_NEXT: as a queue, what a collective has used is back with the next one and not before.
enum { PLAYER_COLLECTIVE = 2 * 5, PLAYER_QUEUE = 1024, PLAYER_NEXT = 1 << 30 };

// launches: kernels and events that the program has put into the queue of a card that runs behind.
void player_launch(struct player *p, uint64_t launches);

// Frees what a collective has used: the block comes back when the card is past it. Errors: those of
// the allocator.
int player_late(struct player *p, uint32_t block);

// Waits for the card: what it has run behind with comes back.
void player_drain(struct player *p);

// Whether allocations of as many bytes, rounded, in each pool, all given back before anything else
// happens, need not be played: nothing but reserved memory counts, and a free block has room for
// them all.
bool player_passes_over(const struct player *p, uint64_t large, uint64_t small);

// An allocation that is never given back.
int player_forever(struct player *p, const struct storage *s, uint64_t bytes, int32_t block);

// A tensor that is never given back in a block that others share, and that the allocator has handed
// out before.
int player_within(struct player *p, const struct storage *s, uint64_t bytes, int32_t layer,
                  uint32_t block);

// The slot of a parameter's gradient.
static inline uint32_t player_gradient(int32_t layer, uint16_t number)
{
    return layer < 0 ? (uint32_t)SLOT_GRADIENT + number
                     : SLOT_COUNT + (uint32_t)layer * LAYOUT_BLOCK_NUMBERS + number;
}

// Plays a reel: forward under one phase, backward under the next kind of it.
int player_reel(struct player *p, const struct reel *r, uint32_t forward, uint32_t backward);

// Plays one direction of a reel whose storages lie in a lane of their own: several passes are under
// way at once.
int player_part(struct player *p, const struct reel *r, uint32_t phase, bool backward,
                uint32_t lane);

// ---- for the player's own files ---------------------------------------------------------------

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
