// A reel's instructions by pool of the allocator, and which of them need not be played where
// nothing but what is reserved counts: temporaries for which there is room already.
//
// An allocation may be passed over if it is freed in the same segment of the tape and no other of
// its pool that stays in the list is made before that: then nothing lies where it does because of
// it. Free blocks are joined with their neighbours, so in the end they are as if it had never been,
// unless it had to ask the device. A stretch says when none of its temporaries has to.

#ifndef CALC_STRETCH_H
#define CALC_STRETCH_H

#include "calc/replay/allocator.h"
#include "calc/trace/tape.h"

enum { STRETCH_LARGE, STRETCH_SMALL, STRETCH_POOLS };

// What lies behind the end of the one before.
struct stretch {
    uint32_t all, rest;    // ends in the lists: of all instructions, of those without temporaries
    uint32_t most, class;  // temporaries at once, 0: there is none; pool_class of the largest
    uint64_t largest;      // bytes of it
    uint64_t before;       // bytes of temporaries that may lie there before one more is made
};

// A pool's part of a reel.
struct stretch_list {
    struct stretch *at;    // the first is empty
    uint32_t *all, *rest;  // instructions as on the tape
    uint32_t *ends;        // in the list, by segment
    uint32_t count;
    size_t cap, all_cap, rest_cap, ends_cap;
};

struct stretches {
    struct stretch_list pools[STRETCH_POOLS];
    bool made;  // for the sizes as they are
    bool workspace_small;
};

// What making them takes, for all reels of an engine.
struct stretch_scratch {
    uint32_t *freed;  // by storage: the instruction
    uint8_t *marks;   // by instruction
    struct stretch_temporary *stack;
    size_t freed_cap, marks_cap, stack_cap;
};

struct reel;

void stretches_free(struct stretches *s, const struct vram_mem *mem);
void stretch_scratch_free(struct stretch_scratch *s, const struct vram_mem *mem);

// Makes those of a reel that reel_fit has fitted, if they are not there. workspace: bytes of
// cuBLAS's. Errors: VRAM_ENOMEM.
int stretches_make(struct reel *r, uint64_t workspace, struct stretch_scratch *scratch);

// Whether each temporary of a stretch finds a free block, whatever blocks are chosen.
bool stretch_has_room(const struct allocator *a, bool small, const struct stretch *s);

#endif
