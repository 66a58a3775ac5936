// The MathML that a page gets, from what blahtexml's XML output has of it.
#ifndef GEN_TEXT_MATH_MARKUP_H
#define GEN_TEXT_MATH_MARKUP_H

#include "gen/base/buf.h"

// Appends <math>. inside: the elements in it, each with an end tag.
void math_markup(str inside, bool display, buf *out);

#endif
