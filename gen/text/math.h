// Formulas in TeX to MathML by Debian's blahtexml, which reads one formula a process: so each is
// kept by its content.
#ifndef GEN_TEXT_MATH_H
#define GEN_TEXT_MATH_H

#include "gen/base/diag.h"

// Formulas that have been converted. Opened before workers fork; each worker adds to its own copy
// and to the files.
struct math;

// cache_dir: where results are kept from build to build, made when the first is written; "" for
// none.
struct math *math_open(str cache_dir);
void math_free(struct math *m);
// Appends <math>, without style attributes. m may be NULL: then nothing is kept. False after
// recording math-syntax; the formula's source is then appended as <code>.
bool math_render(struct math *m, str tex, bool display, struct diag_pos at, struct diag *d,
                 buf *out);

#endif
