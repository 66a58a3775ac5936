// Strings of JavaScript, whose escapes are read.
#ifndef GEN_TEXT_JS_STRING_H
#define GEN_TEXT_JS_STRING_H

#include "gen/base/arena.h"

// The words of the string whose quote is at text[*at], which is moved behind it. Expressions in one
// between backticks are left out, since nothing is run. Lives in a.
str js_string(str text, size_t *at, arena *a);

#endif
