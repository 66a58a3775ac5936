// Conditions in Python whose parts are literals: which of two expressions they choose.

#ifndef CALC_PYTHON_CHOICE_H
#define CALC_PYTHON_CHOICE_H

#include "calc/parse/python_names.h"

// Of `a if b else c` the one that b chooses; the source itself where it is no such expression, or
// nothing says what b is.
struct span python_chosen(const struct python_names *n, struct span source);

// Whether `not a`, `a and b`, `a or b` hold. false: nothing says it.
bool python_holds(const struct python_names *n, struct span source, bool *holds);

#endif
