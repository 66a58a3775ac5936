// What runs that differ by their optimizer alone have in common: all that comes before the first
// step is played once.

#ifndef CALC_RESUME_H
#define CALC_RESUME_H

#include "calc/replay/engine.h"

// From here on runs of which only the reserved memory counts begin where a like one stood: the
// first one of all and the last `others`. Errors of all of these: VRAM_ENOMEM.
enum { RESUME_OTHERS = 2 };
int resume_open(struct engine *e, unsigned others);

// Sets allocator and player as they were before the first step. *taken: false where no like run has
// been played so far.
int resume_take(struct engine *e, struct player *p, bool *taken);

// Notes how they are before the first step.
int resume_note(struct engine *e, const struct player *p);

#endif
