// What kind of text this is, and its reader.

#ifndef CALC_KIND_H
#define CALC_KIND_H

#include "calc/parse/pairs.h"

// By the text's own words and keys; VRAM_KIND_AUTO where it is none that is known. Fills pairs
// where it is structured.
enum vram_kind kind_recognize(struct parse *p, struct pair_list *pairs);

// Reads p as this kind; AUTO: as what it is. Errors on the way go to parse_report; the one that is
// returned ends the reading.
int kind_read(struct parse *p, enum vram_kind kind);

#endif
