// What FullyShardedDataParallel leaves in the caching allocator when it wraps a model.

#ifndef CALC_WRAP_H
#define CALC_WRAP_H

#include "calc/replay/player.h"
#include "calc/replay/state.h"

// Whether wrapping is played: FSDP1 divides the weights, and there is an allocator.
bool wrap_is_played(const struct player *p, const struct state *s);

// Makes the unit of a layer, or of what is outside of layers (-1): whole tensors, what is sent, one
// flat tensor, this GPU's part of it, which alone stays. The parts of the parameters are told one
// by one. Errors: those of the player.
int wrap_unit(struct player *p, const struct state *s, int32_t layer);

// Makes this GPU's parts of what is trained again in float32 where the optimizer wants it and the
// weights came in two bytes.
int wrap_widen(struct player *p, const struct state *s);

#endif
