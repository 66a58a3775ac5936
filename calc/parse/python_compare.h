// Comparisons of Python's values, as far as conditions of configurations make them.

#ifndef CALC_PYTHON_COMPARE_H
#define CALC_PYTHON_COMPARE_H

#include "calc/parse/python_value.h"

// a == b and its kin, where both are known; "is" is as good as ==.
struct py_value py_compared(struct span sign, struct py_value a, struct py_value b);

// not v, where v is known.
struct py_value py_negated(struct py_value v);

#endif
