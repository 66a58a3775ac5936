// Regular expressions over names of modules, as Python's re.fullmatch takes them.

#ifndef CALC_PATTERN_H
#define CALC_PATTERN_H

#include "calc/base/span.h"

enum pattern_found { PATTERN_NO, PATTERN_YES, PATTERN_UNREAD };

// Whether the whole of name matches. PATTERN_UNREAD: it has syntax that is not read here
// (references back, looking behind, flags), or is too deep.
enum pattern_found pattern_match(struct span pattern, struct span name);

// Whether a value has a character that no name of a module has.
bool pattern_is_one(struct span value);

#endif
