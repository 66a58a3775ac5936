// Values of Python expressions, as far as configuration files write them: numbers, strings, arithmetic, names of
// fields set before. What is beyond that (a call, a list) is "unknown", and only an error where a field needs it.

#ifndef CALC_PYEXPR_H
#define CALC_PYEXPR_H

#include "calc/parse/parse.h"

enum py_kind { PY_UNKNOWN, PY_INT, PY_FLOAT, PY_STR, PY_BOOL, PY_NONE };

struct py_value {
    enum py_kind kind;
    int64_t i;       // PY_INT, PY_BOOL
    double d;        // PY_FLOAT
    struct span s;   // PY_STR: between the quotes
    bool literal;    // one token, nothing computed
};

struct py_error {
    const char *at;  // NULL: none
    enum message_id id;
    bool open;       // something is never closed: the text ends inside of it
};

// Evaluates the expression that begins at `at` and ends at a line's end outside of brackets, at `;`, at `#` or
// at `end`. Returns the first byte that was not read.
const char *py_eval(const struct vram_config *c, const char *at, const char *end, struct py_value *out,
                    struct py_error *error);

#endif
