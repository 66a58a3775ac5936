// MathML's mathvariant, which browsers ignore, as the letters of Unicode that it means.
#ifndef GEN_TEXT_MATH_LETTERS_H
#define GEN_TEXT_MATH_LETTERS_H

#include "gen/base/buf.h"

// Appends markup with <mi mathvariant="bold">W</mi> as <mi>𝐖</mi>. What has no such letter stays as
// it was.
void math_letters(str markup, buf *out);

#endif
