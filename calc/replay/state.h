// What a run allocates outside of its passes: weights, buffers, optimizer state, temporaries of the
// optimizer's step.

#ifndef CALC_STATE_H
#define CALC_STATE_H

#include "calc/model/quantization.h"
#include "calc/model/shape.h"

enum { STATE_TENSORS = 6, STATE_TEMPS = 3 };

struct state_tensor {
    uint8_t part, op;
    uint64_t bytes;
};

// What belongs to one parameter tensor.
struct state_row {
    const struct layout_param *param;
    uint64_t weight, gradient;                // bytes; gradient 0: frozen, or a view of a bucket
    uint64_t update;                          // bytes of what the optimizer updates: the weight, or its float32 copy
    uint64_t whole_gradient;                  // before it is divided among GPUs
    struct state_tensor kept[STATE_TENSORS];  // made in the first step, there for ever
    uint8_t kept_count, temp_count;
    struct quantization_tensor stored[QUANTIZATION_TENSORS];  // what a quantized weight consists of
    uint8_t stored_count;
    uint64_t temps[STATE_TEMPS];  // made in every step
};

struct state {
    const struct model *m;
    struct layout layout;
    struct state_row before[LAYOUT_ENDS], block[LAYOUT_BLOCK_NUMBERS], after[LAYOUT_ENDS];
    bool temps_together;  // all temporaries live at once (foreach), not one parameter's at a time
    uint64_t param_bytes, grad_bytes, optim_bytes, buffer_bytes;  // of one GPU
    uint64_t temp_peak;                       // largest sum of temporaries in a step
    uint64_t trained_tensors, trained_bytes;  // trained_bytes: of whole gradients
};

// Fills *s for a model. Errors: VRAM_EOVERFLOW.
int state_make(struct state *s, const struct model *m, const uint64_t elements[SHAPE_COUNT]);

#endif
