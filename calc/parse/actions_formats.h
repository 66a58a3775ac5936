// Actions of number formats.

#ifndef CALC_ACTIONS_FORMATS_H
#define CALC_ACTIONS_FORMATS_H

#include "calc/parse/delegate.h"

int action_float8(struct parse *p, const char *map, const struct entry *e, struct delegate *as);
int action_bits(struct parse *p, const char *map, const struct entry *e, struct delegate *as);
int action_launched(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

#endif
