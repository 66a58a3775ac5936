// A run in its order.

#ifndef CALC_SCHEDULE_H
#define CALC_SCHEDULE_H

#include "calc/replay/engine.h"

// Plays a whole run. iterations 0: until reserved is stable (needs an allocator); else that many.
int schedule_play(struct engine *e, struct player *p, uint32_t iterations);

#endif
