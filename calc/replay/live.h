// The peak of live bytes without a replay.

#ifndef CALC_LIVE_H
#define CALC_LIVE_H

#include "calc/replay/engine.h"

// The peak of live bytes by the rises of the reels, without playing them.
uint64_t live_peak(const struct engine *e);

// A lower bound of it, of what lives outside of the passes: after engine_prepare_state.
uint64_t live_floor(const struct engine *e);

#endif
