// Keys of the formats that mean more than one field: what a row with #name in it does.

#ifndef CALC_ACTIONS_H
#define CALC_ACTIONS_H

#include "calc/parse/delegate.h"
#include "calc/parse/lookup.h"

// Runs the action of a row. map is the row's own. Errors are recorded in the handle.
int action_run(struct parse *p, const char *name, const char *map, const struct entry *e,
               struct delegate *as);

#endif
