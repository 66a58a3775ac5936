// What CUDA offers of a card's memory: less than nvidia-smi's total, by card and by system.

#ifndef CALC_CAPACITIES_H
#define CALC_CAPACITIES_H

#include "calc/model/config.h"
#include "calc/vram.h"

// The two totals of a configuration's card; all zero without one.
void capacity_of(const struct vram_config *c, struct vram_capacity *out);

// What a configuration's card has for this process: CUDA's total less what others hold, at least a
// byte. 0 without a card.
uint64_t capacity_left(const struct vram_config *c);

#endif
