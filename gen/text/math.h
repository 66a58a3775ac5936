// Formulas in TeX to MathML by Debian's blahtexml: each is converted once and kept by its content.
#ifndef GEN_TEXT_MATH_H
#define GEN_TEXT_MATH_H

#include "gen/base/diag.h"

// Formulas that have been converted. Opened before workers fork; each worker adds to its own copy
// and to the file, and has a process of its own.
struct math;

struct math_formula {
    str tex;
    bool display;
};

// cache_dir: a folder in whose file "formulas" results are kept from build to build; "" for none.
struct math *math_open(str cache_dir);
void math_free(struct math *m);
// Ends the process of this worker; the next formula would start another.
void math_rest(struct math *m);
// Converts together those that are not known yet. What is wrong with one is said by math_render.
void math_prepare(struct math *m, const struct math_formula *formulas, size_t count);
// Appends <math>, without style attributes. m may be NULL: then nothing is kept. False after
// recording math-syntax; the formula's source is then appended as <code>.
bool math_render(struct math *m, str tex, bool display, struct diag_pos at, struct diag *d,
                 buf *out);

#endif
