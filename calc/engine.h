// The estimate: tapes made from the model's graph, played into the allocator, measured.

#ifndef CALC_ENGINE_H
#define CALC_ENGINE_H

#include "calc/handle.h"

void engine_free(struct vram *v);  // gives back everything that runs made

#endif
