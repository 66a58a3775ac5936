// The functions around a line of Python, and what their parameters are given.

#ifndef CALC_PYTHON_SCOPE_H
#define CALC_PYTHON_SCOPE_H

#include "calc/parse/python_table.h"

// Out of the functions whose bodies end before a line, and into the one that it begins.
void python_enter(struct python_names *n, const char *at, size_t indent);

// Into those around a place, by the lines above it. false: too much was looked at.
bool python_enter_all(struct python_names *n, const char *place);

// Is the name a parameter of the function whose name stands at `def`? *value is its expression
// then: what the only call that gives it says, else its default; NULL where calls differ, or none
// gives it. *steps: bytes that may still be looked at; where they run out the name counts as a
// parameter of which nothing is known.
bool python_parameter(struct span text, const char *def, struct span name, size_t *steps,
                      const char **value);

#endif
