// Buckets of gradients, for the schemes that send them together.

#ifndef CALC_BUCKETS_H
#define CALC_BUCKETS_H

#include "calc/replay/player.h"
#include "calc/replay/state.h"

// Bytes of all buckets; 0 where there are none.
uint64_t buckets_bytes(const struct state *s);
// Allocates them for good, once after the model. 0 or an enum vram_code.
int buckets_build(struct player *p, const struct state *s);

#endif
