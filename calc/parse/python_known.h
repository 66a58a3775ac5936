// Calls in Python whose value their literal arguments say: conversions, defaults of the environment
// and of dataclasses, what is asked of the card.

#ifndef CALC_PYTHON_KNOWN_H
#define CALC_PYTHON_KNOWN_H

#include "calc/parse/python_value.h"

enum python_known {
    PYTHON_OTHER,
    PYTHON_INT,
    PYTHON_FLOAT,
    PYTHON_BOOL,
    PYTHON_STR,
    PYTHON_DEFAULT,
    PYTHON_FIELD,
    PYTHON_TRUE,  // on a card that knows bfloat16, which float16 is as large as
    PYTHON_FALSE
};

// The arguments of a call: the first two in their order, and `default`.
struct py_arguments {
    struct py_value at[2], fallback;
    size_t count;
    bool has_fallback;
};

// Which call a path is.
enum python_known python_known(struct span path);

// Its value, unknown where the arguments do not say it. *of is set where it is the default of a
// variable.
struct py_value python_known_value(enum python_known call, const struct py_arguments *a,
                                   struct span *of);

#endif
