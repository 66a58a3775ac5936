// Owns the comparisons of Python's values.

#include "calc/parse/python_compare.h"

static struct py_value truth(bool holds)
{
    return (struct py_value){.kind = PY_BOOL, .i = holds};
}

static bool is_number(struct py_value v)
{
    return v.kind == PY_INT || v.kind == PY_FLOAT || v.kind == PY_BOOL;
}

static double number(struct py_value v)
{
    return v.kind == PY_FLOAT ? v.d : (double)v.i;
}

static bool equal(struct py_value a, struct py_value b)
{
    if (is_number(a) && is_number(b))
        return number(a) <= number(b) && number(a) >= number(b);
    return a.kind == b.kind && (a.kind != PY_STR || span_same(a.s, b.s));
}

struct py_value py_compared(struct span sign, struct py_value a, struct py_value b)
{
    bool known = a.kind != PY_UNKNOWN && b.kind != PY_UNKNOWN;
    bool order = is_number(a) && is_number(b);
    if (known && (span_is(sign, "==") || span_is(sign, "is")))
        return truth(equal(a, b));
    if (known && span_is(sign, "!="))
        return truth(!equal(a, b));
    if (order && span_is(sign, "<"))
        return truth(number(a) < number(b));
    if (order && span_is(sign, ">"))
        return truth(number(a) > number(b));
    if (order && span_is(sign, "<="))
        return truth(number(a) <= number(b));
    if (order && span_is(sign, ">="))
        return truth(number(a) >= number(b));
    return (struct py_value){.kind = PY_UNKNOWN};
}

struct py_value py_negated(struct py_value v)
{
    return v.kind == PY_UNKNOWN ? v
           : v.kind == PY_STR   ? truth(v.s.len == 0)
                                : truth(!is_number(v) || (number(v) <= 0 && number(v) >= 0));
}
