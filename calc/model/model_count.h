// How many parameters, tensors and bytes of buffers a model has.

#ifndef CALC_MODEL_COUNT_H
#define CALC_MODEL_COUNT_H

#include "calc/model/model.h"

void model_count(struct model *m);

#endif
