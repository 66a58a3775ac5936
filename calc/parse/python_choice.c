// Owns the conditions of Python's expressions: not, and, or, a if b else c.

#include "calc/parse/python_choice.h"

#include "calc/base/text.h"

enum { TURNS = 4 };  // of conditions within a choice

static bool is_literal(const struct python_names *n, struct span source, bool *holds)
{
    struct py_names names = python_names_of(n);
    struct py_value v;
    struct py_error error;
    const char *end = source.at + source.len;
    bool whole = py_eval(&names, true, source.at, end, &v, &error) == end && !error.at;
    *holds = v.i != 0;
    return whole && v.kind == PY_BOOL;
}

static bool is_negated(const struct python_names *n, struct span source, bool *holds)
{
    source = span_trim(source);
    bool negated = span_starts(source, "not ");
    bool known = is_literal(n, span_trim(span_skip(source, negated ? 4 : 0)), holds);
    *holds = *holds != negated;
    return known;
}

// Of parts with the word between them: `ends` is what one part needs to be for all to be it.
static bool parts_hold(const struct python_names *n, struct span source, const char *word,
                       bool ends, bool (*part)(const struct python_names *, struct span, bool *),
                       bool *holds)
{
    bool all = source.len > 0, one;
    for (struct span rest = source; rest.len > 0;) {
        struct span here = {rest.at, span_find(rest, word)};
        bool known = part(n, here, &one);
        rest = span_skip(rest, here.len + text_len(word));
        if (known && one == ends) {
            *holds = ends;
            return true;
        }
        all = all && known;
    }
    *holds = !ends;
    return all;
}

static bool both_hold(const struct python_names *n, struct span source, bool *holds)
{
    return parts_hold(n, source, " and ", false, is_negated, holds);
}

bool python_holds(const struct python_names *n, struct span source, bool *holds)
{
    return parts_hold(n, source, " or ", true, both_hold, holds);
}

struct span python_chosen(const struct python_names *n, struct span source)
{
    for (unsigned turn = 0; turn < TURNS; turn++) {
        size_t at = span_find(source, " if ");
        struct span rest = span_skip(source, at + text_len(" if "));
        size_t both = span_find(rest, " else ");
        bool holds;
        if (both == rest.len || !python_holds(n, (struct span){rest.at, both}, &holds))
            break;
        source = span_trim(holds ? (struct span){source.at, at}
                                 : span_skip(rest, both + text_len(" else ")));
    }
    return source;
}
