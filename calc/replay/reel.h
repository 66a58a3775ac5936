// A tape ready to be played for given dimensions: the bytes of its storages, and what it does to
// the sum of live bytes.

#ifndef CALC_REEL_H
#define CALC_REEL_H

#include "calc/replay/allocator.h"
#include "calc/replay/stretch_list.h"
#include "calc/trace/pass.h"
#include "calc/trace/tape.h"

// Storages saved for backward, alike in everything but the layer.
struct reel_saved {
    uint8_t kind, which, dtype;  // node and number of the saved variable
    shape_id shape;
    uint16_t name;
    uint32_t count[4];  // outside of layers, in the first unit, in the middle one, in the last
};

// Storages of one shape and number format, and what is asked of the allocator for each of them.
struct reel_kind {
    struct allocator_request request;
    uint64_t times[2];  // how many the tape allocates: outside of its second unit, in it
    shape_id shape;
    uint8_t dtype;
    bool fetched;  // a batch: the one to come may have another length
};

// Parts of the slots that outlive tapes, and of those of a lane: what belongs to no unit that
// repeats, to one, to the last unit of a simulation of three.
enum { REEL_OUTSIDE, REEL_UNIT, REEL_LAST, REEL_UNITS };

// Where the block of a storage is noted: slot base, from where its part begins in the turn.
struct reel_place {
    uint32_t base;
    uint16_t kind, part;
};

// A free of what an earlier pass has left, as an instruction of the tape and among its changes.
struct reel_earlier {
    uint32_t code, change;
};

// The changes of a turn that stands for more.
struct reel_loop {
    uint32_t begin, end;
};

struct reel {
    struct tape tape;
    struct pass pass;
    struct reel_kind *kinds;
    struct reel_place *places;  // by storage
    size_t kind_count, kinds_cap, places_cap;
    uint16_t *changes;  // allocations and frees alone, as indices into reel_sizes
    size_t changes_cap;
    uint32_t change_count;
    uint32_t *ends;  // end in changes, by segment
    size_t ends_cap;
    struct reel_earlier *earlier;  // in order
    size_t earlier_count, earlier_cap;
    struct reel_saved *saved;
    size_t saved_count, saved_cap, saved_next;  // next: looked at first
    struct tape_stack stack;                    // of the model
    struct reel_loop *loops;                    // in order; none in the small module
    size_t loop_count, loops_cap;
    uint32_t more_turns;  // of each loop, beyond those that were recorded
    bool brief;           // the tape is without them
    bool whole;  // record every layer, for tests: what is repeated must equal what is written out
    bool failed;
    bool placed;                 // kinds and places are there: the first reel_fit makes them
    struct stretches stretches;  // none in the small module
    bool shapes[SHAPE_COUNT];    // that it has; not known in the small module
};

void reel_init(struct reel *r, const struct vram_mem *mem);
void reel_free(struct reel *r);

// Whether a stack is recorded by three of its units, if they are alike.
bool reel_folds(const struct tape_stack *s);

// Writes the tape of a pass. Depends on the kind of model only. Errors: VRAM_ENOMEM.
int reel_record(struct reel *r, struct graph *g, const struct model *m, const struct pass *p);

// The reel of the pass p, which finds gradients, from that of the first one. *made: false where it
// must be recorded. Errors: VRAM_ENOMEM.
int reel_again(struct reel *r, const struct reel *first, const struct pass *p, bool *made);

// Turns of a model's loops beyond those that are recorded; 0: all are.
uint32_t reel_more_turns(const struct reel *r, const struct model *m);

// Makes sure that the tape has all turns of its loops, before it is played. spare: takes its place.
// Errors: VRAM_ENOMEM.
int reel_unroll(struct reel *r, struct tape *spare);

// Bytes of every kind of tensor and their negatives, by shape and number format: what reel_rise
// adds up.
struct reel_sizes {
    int64_t change[SHAPE_COUNT * DT_COUNT * 2];
    uint64_t most;               // bytes of the largest
    uint64_t each[SHAPE_COUNT];  // of each in the widest format; none in the small module
};
void reel_sizes_make(struct reel_sizes *s, const uint64_t elements[SHAPE_COUNT],
                     const struct dims *d);

static inline uint64_t reel_bytes(const struct reel_sizes *s, shape_id shape, uint8_t dtype)
{
    return (uint64_t)s->change[(shape * DT_COUNT + dtype) * 2];
}

// Whether a tape of the same kind of model serves this one: it repeats, or has as many layers.
bool reel_serves(const struct reel *r, const struct model *m);

// How many units of the model the tape stands for. Cheap; before everything below.
void reel_aim(struct reel *r, const struct model *m);

// Slots from one unit of the tape to the next, in a lane or in the part that outlives tapes.
uint32_t reel_step(const struct reel *r, bool in_lane);

// Fits the tape to dimensions, for playing. Errors: VRAM_ENOMEM, VRAM_EOVERFLOW.
int reel_fit(struct reel *r, const struct reel_sizes *s, const struct allocator_config *config);

// The batch that a pass fetches for the one after it has `bytes`, each of its two tensors.
void reel_fit_next(struct reel *r, uint64_t bytes, const struct allocator_config *config);

// False: the sum of the tape's tensors may be beyond 2^53 bytes, only reel_fit knows.
bool reel_surely_fits(const struct reel *r, const struct reel_sizes *s);

// What is asked of the allocator for a storage, after reel_fit.
static inline const struct allocator_request *reel_request(const struct reel *r, uint32_t storage)
{
    return &r->kinds[r->places[storage].kind].request;
}

// The unit of the model that unit `sim` of the tape stands for, in a segment played for unit
// `real`.
static inline int64_t reel_unit(const struct reel *r, const struct tape_segment *s, int32_t sim,
                                int64_t real)
{
    if (!r->tape.repeats)
        return sim;
    if ((uint32_t)sim == r->tape.stack.units)
        return r->stack.units;
    if (s->unit < 0)
        return sim == 2 ? (int64_t)r->stack.units - 1 : sim;
    return real + sim - s->unit;
}

// How often a unit of the tape is in the model.
static inline uint64_t reel_times(const struct reel *r, int32_t sim)
{
    return r->tape.repeats && sim == 1 ? r->stack.units - 2 : 1;
}

// The storage that the tape leaves in a slot of HOME_PERSIST, TAPE_NONE if it leaves none.
uint32_t reel_kept(const struct reel *r, uint16_t slot);

// The largest rise above the live bytes at the start, and the change from start to end.
struct reel_rise {
    int64_t peak, net;
};
// Bits. REEL_FIRST: of the pass that finds nothing of an earlier one.
enum reel_part { REEL_FORWARD = 1, REEL_BACKWARD = 2, REEL_ALL = 3, REEL_FIRST = 4 };
struct reel_rise reel_rise(const struct reel *r, const struct reel_sizes *sizes, unsigned parts);
uint64_t reel_saved_bytes(const struct reel *r, const struct reel_sizes *s);

#endif
