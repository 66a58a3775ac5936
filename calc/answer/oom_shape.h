// Which product of a model's dimensions a number of bytes is.

#ifndef CALC_OOM_SHAPE_H
#define CALC_OOM_SHAPE_H

#include "calc/model/config.h"

// The segment that a tensor of this size asks the driver for; this is what the message shows.
uint64_t oom_segment(uint64_t bytes);

// Finds the shape of exactly that size among those that the configuration's tensors have; false if
// there is none.
bool oom_shape_find(const struct vram_config *c, uint64_t bytes, struct vram_shape *out);

// Without a configuration: a guess of a logits or activation tensor that asks for a segment of
// low..high bytes. index counts guesses from 0, likely ones first; false past the last.
bool oom_shape_guess(uint64_t low, uint64_t high, unsigned index, struct vram_shape *out);

#endif
