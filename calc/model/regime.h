// Which kind of run a configuration is, for what measurements of its kind say about it.

#ifndef CALC_REGIME_H
#define CALC_REGIME_H

#include "calc/model/config.h"

// enum vram_regime
uint32_t regime_of(const struct vram_config *c);

#endif
