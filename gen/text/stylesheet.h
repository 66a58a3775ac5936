// The addresses in a stylesheet, and what is sent of it.
#ifndef GEN_TEXT_STYLESHEET_H
#define GEN_TEXT_STYLESHEET_H

#include "gen/base/buf.h"

// Finds the next address from *at on, of url(...) or of an @import: css[*from, *to), without its
// quotes. *at moves behind it. False when there is none left. Comments and other strings are passed
// over.
bool stylesheet_next(str css, size_t *at, size_t *from, size_t *to);

// Appends css without the comments that stand beside a blank, a brace or a semicolon (others may
// keep two words apart), and without the blanks and semicolons that say nothing.
void stylesheet_shorten(str css, buf *out);

#endif
