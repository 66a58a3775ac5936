// Settings of one file that its framework refuses together.

#ifndef CALC_CLASHES_H
#define CALC_CLASHES_H

#include "calc/parse/format_ids.h"
#include "calc/parse/parse.h"

// Records the first of them that the pairs of a file of this very format have.
int check_clashes(struct parse *p, enum format_id format);

#endif
