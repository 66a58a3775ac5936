// The optimizer's step of DeepSpeed's stages where its state stays on the card. vramcalc alone.

#ifndef CALC_STEP_ZERO_H
#define CALC_STEP_ZERO_H

#include "calc/replay/player.h"
#include "calc/replay/state.h"

#ifndef VRAM_SMALL
// What is done row by row: the optimizer's state is made, gradients go.
struct step_rows {
    int (*keep)(struct player *p, const struct state *s);
    int (*zero_grad)(struct player *p, const struct state *s);
};
int step_zero(struct player *p, const struct state *s, const struct step_rows *rows, bool first);

// As state_step_rise.
uint64_t step_zero_rise(const struct state *s, bool first, int64_t *net);
#endif

#endif
