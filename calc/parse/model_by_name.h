// Models by the names that files have for them.

#ifndef CALC_MODEL_BY_NAME_H
#define CALC_MODEL_BY_NAME_H

#include "calc/parse/parse.h"

// The model that an id of the Hub or a folder's name says, unless one is said already. Errors:
// VRAM_EUNSUPPORTED where no preset has that name.
int model_by_name(struct parse *p, const struct entry *e);

#endif
