// TeX as other programs take it, written as blahtexml takes the same.
#ifndef GEN_TEXT_MATH_SPELLING_H
#define GEN_TEXT_MATH_SPELLING_H

#include "gen/base/buf.h"

// Appends tex. Numbers of equations and labels are left out. Lines of a displayed formula that
// stand in no environment are aligned.
void math_spelling(str tex, bool display, buf *out);

#endif
