// Conditions in Python whose parts are literals: which of two expressions they choose.

#ifndef CALC_PYTHON_CHOICE_H
#define CALC_PYTHON_CHOICE_H

#include "calc/parse/python_find.h"
#include "calc/parse/python_names.h"

// Of `a if b else c` the one that b chooses; the source itself where it is no such expression, or
// nothing says what b is.
struct span python_chosen(const struct python_names *n, struct span source);

// Whether `not a`, `a and b`, `a or b` hold. false: nothing says it.
bool python_holds(const struct python_names *n, struct span source, bool *holds);

// Whether a call is made, by the conditions around it. Of one that stands in no other branch that
// is taken as said, unless a run takes less with it than without. seen: it stands above, too.
enum python_truth python_is_made(const struct python_names *n, const struct python_call *call,
                                 const char *at, bool seen);

// Whether a call that is not modelled is none of the run's: it is not made, or it loads an encoder
// where the script loads a decoder, too.
bool python_is_passed(const struct python_names *n, const char *call, const char *at);
message_id python_refusal(const char *call);

// Whether the branch is gone into that begins with the words at a place: if, elif or else.
enum python_truth python_branch(const struct python_names *n, const char *words);

#endif
