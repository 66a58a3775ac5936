// Actions of the settings of Liger's kernels.

#ifndef CALC_ACTIONS_LIGER_H
#define CALC_ACTIONS_LIGER_H

#include "calc/parse/delegate.h"

int action_liger(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

#endif
