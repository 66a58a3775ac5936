// Fields out of what all files so far have said.

#ifndef CALC_CONCLUDE_H
#define CALC_CONCLUDE_H

#include "calc/parse/parse.h"

int conclude(struct parse *p);

#endif
