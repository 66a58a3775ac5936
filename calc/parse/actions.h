// Keys of the formats that mean more than one field: what a row with #name in it does.

#ifndef CALC_ACTIONS_H
#define CALC_ACTIONS_H

#include "calc/parse/delegate.h"

// Runs the action of a row. map is the row's own. Errors are recorded in the handle.
int action_run(struct parse *p, const char *name, const char *map, const struct entry *e,
               struct delegate *as);

// The last pair with this key, or NULL; a value of nothing counts as none.
const struct vram_pair *pair_find(const struct parse *p, const char *key);

// null, ~, None or an empty text.
bool value_is_nothing(struct span value);
bool value_is_true(struct span value);
bool value_is_false(struct span value);

#endif
