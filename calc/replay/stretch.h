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
#include "calc/replay/reel.h"

// What making them takes, for all reels of an engine.
struct stretch_scratch {
    uint32_t *freed;  // by storage: the instruction
    uint8_t *marks;   // by instruction
    struct stretch_temporary *stack;
    size_t freed_cap, marks_cap, stack_cap;
};

void stretch_scratch_free(struct stretch_scratch *s, const struct vram_mem *mem);

// Makes those of a reel that reel_fit has fitted, if they are not there. workspace: bytes of
// cuBLAS's. Errors: VRAM_ENOMEM.
int stretches_make(struct reel *r, uint64_t workspace, struct stretch_scratch *scratch);

// Whether each temporary of a stretch finds a free block, whatever blocks are chosen.
bool stretch_has_room(const struct allocator *a, bool small, const struct stretch *s);

#endif
