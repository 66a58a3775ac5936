// What files mean that say FSDP.

#ifndef CALC_CONCLUDE_FSDP_H
#define CALC_CONCLUDE_FSDP_H

#include "calc/parse/parse.h"

uint64_t fsdp_of(struct parse *p);    // the value of parallel; when weights go is set, too
int conclude_units(struct parse *p);  // what is gathered together, and when
uint64_t fsdp_machines(const struct facts *f);  // each of which has all weights

#endif
