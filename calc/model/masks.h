// Masks of T x T for rows that are not alike. None in the small module.

#ifndef CALC_MASKS_H
#define CALC_MASKS_H

#include "calc/model/model.h"

// The run of a family whose masks are modelled.
bool model_takes_masks(const struct vram_config *c);

// A mask that is asked for elsewhere is an error.
int model_check_masks(const struct vram_config *c, struct message *e);

#endif
