// A tape: one forward (and backward) pass as instructions "allocate", "free" over numbered
// storages. Layers that are alike are on it once, in units; the player repeats them. Sizes are rows
// of the shape table, so a tape depends on the kind of model and not on its dimensions.

#ifndef CALC_TAPE_H
#define CALC_TAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "calc/base/mem.h"
#include "calc/model/names.h"
#include "calc/model/shape.h"

enum op {
#define OP(id, name) OP_##id,
#include "calc/trace/ops.def"
    OP_COUNT
};

enum { TAPE_GLOBAL = -1 };  // unit of what lies outside of the layers

// How layers lie in units: units 0 to units - 1 have `period` layers each. The layers before them,
// `lead` in number, are one unit more, with the number `units`: it stands for itself alone.
struct tape_stack {
    uint32_t lead, units, period;
};

static inline uint32_t tape_stack_layers(const struct tape_stack *s)
{
    return s->lead + s->units * s->period;
}

static inline int32_t tape_stack_unit(const struct tape_stack *s, uint32_t layer)
{
    return (int32_t)(layer < s->lead ? s->units : (layer - s->lead) / s->period);
}

static inline uint8_t tape_stack_sub(const struct tape_stack *s, uint32_t layer)
{
    return (uint8_t)(layer < s->lead ? layer : (layer - s->lead) % s->period);
}

static inline uint32_t tape_stack_layer(const struct tape_stack *s, int32_t unit, uint8_t sub)
{
    return (uint32_t)unit == s->units ? sub : s->lead + (uint32_t)unit * s->period + sub;
}

// Where the handle of a live storage is kept.
enum tape_home {
    HOME_TAPE,     // dies within the tape
    HOME_PERSIST,  // survives it: gradients, batch, logits
    HOME_NONE,     // no event: weights, allocated before
    HOME_CPU       // no event: numbers that autograd keeps on the CPU
};

struct storage {
    uint16_t name;
    shape_id shape;
    uint8_t op, category, dtype, home;
    uint8_t sub;  // layer within the unit
    uint8_t
        stream;  // on which it is allocated: the caching allocator keeps its memory for that one
    int16_t refs;
    uint32_t slot;  // within its unit and home
    int32_t unit;   // of the simulation, or TAPE_GLOBAL
    uint32_t with;  // goes with it, TAPE_NONE if nothing does
    uint32_t made;  // how many allocations were on the tape before it
    bool saved;     // counted as saved for backward
    bool sent;      // a collective on a stream of its own uses it
    bool taken;     // the other end of such a collective
    bool view;      // a gradient that is a view: nothing is added to it in place
    bool parts;     // a gradient whose receivers take views of a part of it
    bool stays;     // on the card: it was saved once more while its copy to the host was running
    bool earlier;   // an earlier pass has left it: the first one finds none, and frees nothing
};

// Instructions: kind in the low two bits, storage above. MOVE is followed by the storage that it
// becomes.
enum tape_kind { TAPE_ALLOC, TAPE_FREE, TAPE_MOVE, TAPE_WORKSPACE };

struct tape_segment {
    uint32_t begin, end;  // instructions
    int32_t unit;         // of the simulation, or TAPE_GLOBAL
    bool backward;
};

// A gradient that stays: where the next pass, which adds to it, frees its own, and the slot of that
// one.
struct tape_left {
    uint32_t at, storage;  // before this instruction
    uint32_t slot;         // of HOME_TAPE
};

// Where a turn of a loop begins, 0: where something else does. The rest is tape_unroll's.
struct tape_turn {
    uint32_t code, storage, turn;
    uint32_t first;                // the mark with which its loop begins
    uint32_t by_code, by_storage;  // how far it moves
};

struct tape {
    const struct vram_mem *mem;
    struct storage *storages;
    size_t count, cap;
    uint32_t *code;
    size_t code_count, code_cap;
    struct tape_segment *segments;
    size_t segment_count, segment_cap;
    int64_t open;          // which of a unit's two parts the last segment is; of none INT64_MAX
    uint32_t *unit_slots;  // storages numbered so far, by unit
    size_t unit_slots_cap;
    struct tape_left *left;  // in order
    size_t left_count, left_cap;
    struct tape_turn *turns;  // in order; none in the small module
    size_t turn_count, turns_cap;
    uint32_t turn;            // that is being recorded, or 0
    bool left_alone;          // nothing else differs in a pass that finds gradients
    struct tape_stack stack;  // of the simulation
    bool repeats;             // unit 1 stands for all between the first and the last
    uint32_t slots_global, slots_lead,
        slots_unit;        // storages of HOME_TAPE: outside of layers, before the units, in each
    uint32_t allocations;  // so far
    uint32_t limit;        // further ones do not happen: a recomputation that has stopped
    int32_t unit;          // where the next instruction belongs
    uint8_t sub;
    bool backward;
    bool ahead;  // storages are made for another unit, within the instructions of `here`
    int32_t here;
    uint8_t here_sub;
    bool failed;  // out of memory, sticky
};

enum {
    TAPE_NONE = 0,           // storage 0 is none
    TAPE_TURNS = 6,          // of a loop that are recorded of more
    TAPE_MIDDLE = 4,         // the one among them that stands for more
    TAPE_STORAGES = 1 << 22  // on a tape, at most; a tape with more has failed, as without memory
};

void tape_init(struct tape *t, const struct vram_mem *mem);
void tape_reset(struct tape *t, struct tape_stack stack);
void tape_free(struct tape *t);

// Room for as many, at once: growing copies.
void tape_expect(struct tape *t, size_t storages, size_t instructions);

// What is made between these two belongs to another unit: memory that a layer gets before its turn.
// Not nested.
void tape_ahead(struct tape *t, int32_t unit, uint8_t sub);
void tape_ahead_end(struct tape *t);

// A storage with one reference and its allocation.
uint32_t tape_alloc(struct tape *t, enum op op, uint16_t name, uint8_t category, uint8_t dtype,
                    shape_id shape);
// A storage that exists already: a weight, the batch, a number on the CPU.
uint32_t tape_existing(struct tape *t, uint16_t name, uint8_t category, uint8_t dtype,
                       shape_id shape, enum tape_home home, uint16_t slot);
// What an earlier pass has left in a slot of HOME_PERSIST goes here.
void tape_earlier_goes(struct tape *t, uint16_t name, uint8_t category, uint8_t dtype,
                       shape_id shape, uint16_t slot);
void tape_ref(struct tape *t, uint32_t storage);
void tape_unref(struct tape *t, uint32_t storage);  // the last one frees; TAPE_NONE is nothing
// The storage, from its allocation on, lives in a slot of HOME_PERSIST of the given unit. The
// reference is used up.
void tape_keep(struct tape *t, uint32_t storage, int32_t unit, uint16_t slot);
// The same for a gradient that a pass which finds one there adds to that and frees.
void tape_leave(struct tape *t, uint32_t storage, int32_t unit, uint16_t slot);
// From here on it lives in a slot of HOME_PERSIST of the given unit that something else held when
// it was allocated. The caller's reference goes over to its new number, which is the answer;
// whoever holds another one of the old number frees nothing with it.
uint32_t tape_move(struct tape *t, uint32_t storage, int32_t unit, uint16_t slot);
void tape_workspace(struct tape *t, uint16_t which);

// After the last instruction: finds out whether the middle may be repeated.
void tape_finish(struct tape *t);

// Numbers of slots, after the last storage.
void tape_count_slots(struct tape *t);

// From here on instructions belong to a turn of a loop, of TAPE_TURNS that are recorded, or to
// none (0).
void tape_turn(struct tape *t, uint32_t turn);

// Whether it has loops whose turns are alike, so that tape_unroll can write more of them. False,
// too: there is no memory (t->failed).
bool tape_has_turns(struct tape *t);

// Writes the tape whose loops have as many more turns. False: there is no memory.
bool tape_unroll(struct tape *to, struct tape *from, uint32_t more);

// Where an instruction outside of loops has gone, after tape_unroll.
uint32_t tape_unrolled(const struct tape *from, uint32_t at);

// Writes the tape of the pass that finds gradients from that of the first one. False: more may
// differ, or there is no memory (to->failed).
bool tape_again(struct tape *to, const struct tape *from);

#endif
