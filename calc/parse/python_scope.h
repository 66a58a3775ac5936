// What the parameters of a function in Python are given.

#ifndef CALC_PYTHON_SCOPE_H
#define CALC_PYTHON_SCOPE_H

#include "calc/base/span.h"

// Is the name a parameter of the function whose name stands at `def`? *value is its expression
// then: what the only call that gives it says, else its default; NULL where calls differ, or none
// gives it. *steps: bytes that may still be looked at; where they run out the name counts as a
// parameter of which nothing is known.
bool python_parameter(struct span text, const char *def, struct span name, size_t *steps,
                      const char **value);

#endif
