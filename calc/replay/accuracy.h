// How far public measurements are from the figures of a kind of run.

#ifndef CALC_ACCURACY_H
#define CALC_ACCURACY_H

#include "calc/model/config.h"

enum accuracy_of { ACCURACY_ALLOCATOR, ACCURACY_PROCESS, ACCURACY_COUNT };

// The 90th percentile of the errors' sizes over `rows` measurements; all 0 where there is none.
// wider: what they have in common, of kinds.def, where they are of a wider kind than the run's.
struct accuracy {
    uint32_t rows, permille;
#ifndef VRAM_SMALL
    uint64_t wider;
#endif
};

struct accuracy accuracy_of(const struct vram_config *c, enum accuracy_of what);

void accuracies_of(const struct vram_config *c, struct accuracy seen[ACCURACY_COUNT]);  // both

#endif
