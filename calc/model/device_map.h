// One process with its layers spread over several cards, one card at work after the other.

#ifndef CALC_DEVICE_MAP_H
#define CALC_DEVICE_MAP_H

#include "calc/model/model.h"

// Cards, or stages of a pipeline; 1: the whole model.
uint64_t device_map_stages(const struct vram_config *c);

// Narrows a model to one card: its layers, and whether it has the embedding and the head.
void device_map_stage(struct model *m, uint64_t card);

#endif
