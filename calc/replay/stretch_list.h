// What a reel keeps of its stretches (stretch.h): for each pool the instructions, and where a
// stretch of them ends.

#ifndef CALC_STRETCH_LIST_H
#define CALC_STRETCH_LIST_H

#include "calc/base/mem.h"
#include "calc/vram.h"

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

void stretches_free(struct stretches *s, const struct vram_mem *mem);

#endif
