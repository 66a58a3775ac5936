// The forward part of a step on pairs: the policy's, and the reference's without gradients.

#ifndef CALC_PASS_PREFERENCE_H
#define CALC_PASS_PREFERENCE_H

#include "calc/trace/loss_preference.h"

// The loss, with its node.
struct value pass_preference(struct graph *g, uint32_t ids, uint32_t targets,
                             pass_forward_fn *forward);

#endif
