// What the values "auto" of a configuration mean, by its framework, family and card.

#ifndef CALC_RESOLVE_H
#define CALC_RESOLVE_H

#include "calc/model/config.h"

// Replaces them. Nothing else changes.
void resolve_auto(struct vram_config *c);

#endif
