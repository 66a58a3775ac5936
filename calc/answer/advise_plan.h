// The smallest set of changes that fits.

#ifndef CALC_ADVISE_PLAN_H
#define CALC_ADVISE_PLAN_H

#include "calc/answer/advice_list.h"
#include "calc/model/handle.h"

// Time per token after a change, in per mille of the time before. Rows of one effect are of the
// same tokens.
int64_t plan_cost_permille(const struct vram_config *before, const struct vram_config *after,
                           enum vram_effect effect);

// Adds changes of the list until the configuration fits: those that leave the training as it is,
// the cheapest first, then the rest. Errors: VRAM_ENOMEM.
int plan_make(struct vram *v, struct vram *probe, struct advice_list *list);

#endif
