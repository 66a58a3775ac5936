// Escapes in Python's strings.

#ifndef CALC_PYTHON_STRING_H
#define CALC_PYTHON_STRING_H

#include "calc/base/mem.h"
#include "calc/base/span.h"

// Whether what is between the quotes of a string is what the string is.
bool python_string_plain(struct span text);

// What it stands for, in the arena; false where that cannot be said: a name of a character
// (\N{...}), a code that is none, no arena or no memory.
bool python_string_read(struct mem_arena *arena, struct span text, struct span *out);

#endif
