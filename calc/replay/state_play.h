// The events of weights, buffers and optimizer steps.

#ifndef CALC_STATE_PLAY_H
#define CALC_STATE_PLAY_H

#include "calc/replay/player.h"
#include "calc/replay/state.h"

int state_build(struct player *p, const struct state *s);             // weights and buffers
int state_step(struct player *p, const struct state *s, bool first);  // clip, step, zero_grad

// How far a step rises above the live bytes at its start; *net gets the change from start to end.
uint64_t state_step_rise(const struct state *s, bool first, int64_t *net);

#endif
