// Which layers get adapters where a file says it by a pattern, by what is left out, or not at all.

#ifndef CALC_TARGETS_H
#define CALC_TARGETS_H

#include "calc/parse/parse.h"

int conclude_targets(struct parse *p);

#endif
