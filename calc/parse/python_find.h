// The calls that are looked for in a Python file, and where one stands.

#ifndef CALC_PYTHON_FIND_H
#define CALC_PYTHON_FIND_H

#include "calc/base/span.h"

// A constructor, the path under which its arguments are, the name of its first argument without a
// name, and what the call itself says under the path, "key=value key=value".
struct python_call {
    const char *name, *path, *first, *says;
};

enum { PYTHON_CALLS = 40 };

// The call at a place of the text, and its number; NULL: there is none.
const struct python_call *python_call_at(const char *begin, const char *at, const char *end,
                                         size_t *number);
const struct python_call *python_call(size_t number);

// Is it a call with which a run takes less than without?
bool python_call_lightens(const struct python_call *call);

// Are torchtitan's calls of it in the text? Others have a TrainingConfig of their own.
bool python_is_titans(struct span text);
bool python_call_is_titans(const struct python_call *call);

// Behind the point of torch.bfloat16 or TaskType.CAUSAL_LM, which are as good as their last words;
// 0: it is none, or a call or condition that begins so.
size_t python_library_prefix(struct span source);

// The name of a call whose run is not modelled, or NULL.
const char *python_other_call_at(const char *begin, const char *at, const char *end);

bool python_is_name_byte(char c);

// The word that begins at a place; empty: none does.
struct span python_word_at(const char *at, const char *end);

// Behind blanks and ends of lines.
const char *python_over_blanks(const char *at, const char *end);

// Behind the string or the comment that begins at a place; the place itself where none does.
const char *python_over_quiet(const char *at, const char *end);

// How deep in brackets the text is behind a byte.
size_t python_depth(char c, size_t depth);

// From within a value: to the comma or the bracket that ends it.
const char *python_over_value(const char *at, const char *end);

// Behind what stands after a value and is not of it, "[1] if a else []"; a comprehension is none.
const char *python_over_more(const char *at, const char *end);

// From within brackets: behind the one that closes them.
const char *python_over_rest(const char *at, const char *end);

#endif
