// Actions of torchtitan's configuration.

#ifndef CALC_ACTIONS_TORCHTITAN_H
#define CALC_ACTIONS_TORCHTITAN_H

#include "calc/parse/delegate.h"

int action_flavor(struct parse *p, const char *map, const struct entry *e, struct delegate *as);
int action_selective(struct parse *p, const char *map, const struct entry *e, struct delegate *as);
int action_schedule(struct parse *p, const char *map, const struct entry *e, struct delegate *as);
int action_among(struct parse *p, const char *map, const struct entry *e, struct delegate *as);
int action_replicas(struct parse *p, const char *map, const struct entry *e, struct delegate *as);
int action_slots(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

#endif
