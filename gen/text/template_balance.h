// Elements that a template opens, and closes, on some of its branches only.
#ifndef GEN_TEXT_TEMPLATE_BALANCE_H
#define GEN_TEXT_TEMPLATE_BALANCE_H

#include "gen/base/diag.h"

// Reads a template that template_compile has accepted. An element may be opened under a condition
// if it is closed under the same one, word by word, further down. False after template-syntax at
// each block that leaves one open, or closes one.
bool template_balance(str source, str file, arena *a, struct diag *d);

#endif
