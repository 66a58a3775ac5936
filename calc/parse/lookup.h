// What the pairs of a file say, by their keys.

#ifndef CALC_LOOKUP_H
#define CALC_LOOKUP_H

#include "calc/parse/parse.h"

// The last pair with this key, or NULL; a value of nothing counts as none.
const struct vram_pair *pair_find(const struct parse *p, const char *key);

// Whether there is one, be its value nothing.
bool pair_is_there(const struct parse *p, const char *key);

// The first of several keys, written with spaces between them, that is there.
const struct vram_pair *pair_among(const struct parse *p, struct span keys);

// null, ~, None or an empty text.
bool value_is_nothing(struct span value);
bool value_is_true(struct span value);
bool value_is_false(struct span value);

#endif
