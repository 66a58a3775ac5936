// Keys of the formats that mean more than one field: what a row with #name in it does.

#ifndef CALC_ACTIONS_H
#define CALC_ACTIONS_H

#include "calc/parse/format_ids.h"
#include "calc/parse/parse.h"

// A key that is another format's: it is read as a key of that one.
struct delegate {
    enum format_id format;  // FORMAT_NONE: of none
    struct entry e;
    char key[96];  // what e.key may point to
};

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
