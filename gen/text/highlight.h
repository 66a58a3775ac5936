// Source code to HTML with classes, by one table-driven lexer for eight languages.
#ifndef GEN_TEXT_HIGHLIGHT_H
#define GEN_TEXT_HIGHLIGHT_H

#include "gen/base/buf.h"

// Appends code as escaped HTML with <span class="k|s|c|n|f|o|..."> around tokens. False when the
// language is not known: then the code is only escaped. Never fails on any bytes.
bool highlight(str language, str code, buf *out);

#endif
