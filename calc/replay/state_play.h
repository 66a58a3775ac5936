// The events of weights, buffers and optimizer steps.

#ifndef CALC_STATE_PLAY_H
#define CALC_STATE_PLAY_H

#include "calc/replay/player.h"
#include "calc/replay/state.h"

// Calls fn for every parameter in order of registration until it returns non-zero. layer is -1
// outside of layers.
typedef int state_fn(struct player *p, const struct state *s, const struct state_row *r,
                     int32_t layer);
int state_each(struct player *p, const struct state *s, state_fn *fn);

int state_build(struct player *p, const struct state *s);             // weights and buffers
int state_step(struct player *p, const struct state *s, bool first);  // clip, step, zero_grad

// How far a step rises above the live bytes at its start; *net gets the change from start to end.
uint64_t state_step_rise(const struct state *s, bool first, int64_t *net);

#endif
