// The loss of a reward model.

#ifndef CALC_LOSS_REWARD_H
#define CALC_LOSS_REWARD_H

#include "calc/trace/graph.h"

// From the last hidden state, which it uses up.
struct value loss_reward(struct graph *g, struct value x);

#endif
