// One process with its layers spread over several cards, one card at work after the other.

#ifndef CALC_DEVICE_MAP_H
#define CALC_DEVICE_MAP_H

#include "calc/model/model.h"

// Narrows a model to one card: its layers, and whether it has the embedding and the head.
void device_map_narrow(struct model *m, uint64_t card);

#endif
