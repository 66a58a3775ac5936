// What files mean that say checkpoints of activations.

#ifndef CALC_CONCLUDE_CHECKPOINTS_H
#define CALC_CONCLUDE_CHECKPOINTS_H

#include "calc/parse/parse.h"

// After what divides the work and adapters are known. Records what the run itself ends with.
int conclude_checkpoints(struct parse *p);

#endif
