// Actions of what FSDP divides.

#ifndef CALC_ACTIONS_FSDP_H
#define CALC_ACTIONS_FSDP_H

#include "calc/parse/delegate.h"

int action_sharding(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

#endif
