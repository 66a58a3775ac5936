// What torch.compile is of in a configuration, from all that files have said.

#ifndef CALC_CONCLUDE_COMPILE_H
#define CALC_CONCLUDE_COMPILE_H

#include "calc/parse/parse.h"

enum { SAID_NO = 1, SAID_YES };  // facts.def

void conclude_compile(struct parse *p);

#endif
