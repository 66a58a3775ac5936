// Actions of DeepSpeed's configuration.

#ifndef CALC_ACTIONS_DEEPSPEED_H
#define CALC_ACTIONS_DEEPSPEED_H

#include "calc/parse/delegate.h"

int action_limit(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

#endif
