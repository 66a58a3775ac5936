// Families that are not modelled: what they are most like, and the names of their models.

#ifndef CALC_UNMODELLED_H
#define CALC_UNMODELLED_H

#include "calc/base/span.h"

// Of the model_types that are modelled the one with blocks most like those of another, or NULL.
const char *unmodelled_near(struct span type);
// The model_type of which an id of the Hub or a folder is, where it is not modelled, or NULL.
const char *unmodelled_type(struct span id);

#endif
