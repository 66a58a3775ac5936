// One card of a model that several divide by layers.

#ifndef CALC_STAGE_H
#define CALC_STAGE_H

#include "calc/model/model.h"

// Stages of a pipeline, or cards of device_map; 1: the whole model.
uint64_t stage_count(const struct vram_config *c);

// Multiplications for each token in one layer, as nanotron counts them: as many key heads as heads.
uint64_t stage_layer_products(const struct vram_config *c);

// Narrows a model to the layers and weights of one stage, which is below stage_count.
void stage_narrow(struct model *m, uint64_t stage);

#endif
