// What an optimizer keeps of each parameter, and what its step takes for a moment.

#ifndef CALC_OPTIMIZER_H
#define CALC_OPTIMIZER_H

#include "calc/model/layout.h"

enum { OPTIMIZER_TENSORS = 9, OPTIMIZER_TEMPS = 5 };

struct optimizer_tensor {
    uint8_t part, op;
    uint64_t bytes;
};

struct optimizer_state {
    struct optimizer_tensor kept[OPTIMIZER_TENSORS];  // made in the first step, there for ever
    uint64_t temps[OPTIMIZER_TEMPS];                  // made in every step
    uint8_t kept_count, temp_count;
    uint64_t paged;  // bytes in managed memory, outside of PyTorch's allocator
};

// One parameter of n numbers. update: the bytes of what the optimizer updates (the weight, or its
// float32 copy); hidden: it belongs to a layer.
struct optimizer_param {
    const struct layout_param *param;
    uint64_t n, update;
    unsigned copies;  // of precision.def
    bool hidden;
};

// The copies alone where eval_only.
void optimizer_state(struct optimizer_state *out, const struct vram_config *c,
                     const struct optimizer_param *p);

// Bytes of a table that all parameters share, and how many such tables there are.
uint64_t optimizer_tables(const struct vram_config *c, unsigned *count);

bool optimizer_temps_together(
    const struct vram_config *c);  // of all parameters at once, not of one after the other

#endif
