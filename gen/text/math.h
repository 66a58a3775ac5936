// Formulas in TeX to MathML by Debian's blahtexml, one process for many, cached by content.
#ifndef GEN_TEXT_MATH_H
#define GEN_TEXT_MATH_H

#include "gen/base/diag.h"

// cache_dir: where results are kept from build to build ("" for none).
void math_init(str cache_dir);
// Appends <math>. False after recording math-syntax; the formula's source is then appended as <code>.
bool math_render(str tex, bool display, struct diag_pos at, struct diag *d, buf *out);

#endif
