// A value of a Python expression: a literal, or what literals come to.

#ifndef CALC_PYTHON_VALUE_H
#define CALC_PYTHON_VALUE_H

#include <stdint.h>

#include "calc/base/span.h"

enum py_kind { PY_UNKNOWN, PY_INT, PY_FLOAT, PY_STR, PY_BOOL, PY_NONE };

struct py_value {
    enum py_kind kind;
    int64_t i;       // PY_INT, PY_BOOL
    double d;        // PY_FLOAT
    struct span s;   // PY_STR: between the quotes
    bool literal;    // one token, nothing computed
    struct span of;  // the variable or flag whose default it is, which can have another value
};

#endif
