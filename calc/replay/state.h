// What a run allocates outside of its passes: weights, buffers, optimizer state, temporaries of the
// optimizer's step.

#ifndef CALC_STATE_H
#define CALC_STATE_H

#include "calc/model/partition.h"
#include "calc/model/quantization.h"
#include "calc/model/shape.h"
#include "calc/replay/optimizer.h"

// What belongs to one parameter tensor.
struct state_row {
    const struct layout_param *param;
    uint64_t weight, gradient;  // bytes; gradient 0: frozen, or a view of a bucket
    uint64_t update;  // bytes of what the optimizer updates: the weight, or its float32 copy
    uint64_t whole_gradient;  // before it is divided among GPUs
    struct optimizer_state state;
    struct quantization_tensor stored[QUANTIZATION_TENSORS];  // what a quantized weight consists of
    uint8_t stored_count;
    uint64_t host;  // bytes of it in the host's memory
};

struct state {
    const struct model *m;
    struct layout layout;
    struct state_row before[LAYOUT_ENDS], block[LAYOUT_BLOCK_NUMBERS], after[LAYOUT_ENDS];
    bool temps_together;  // all temporaries live at once (foreach), not one parameter's at a time
    uint64_t param_bytes, grad_bytes, optim_bytes, buffer_bytes;  // of one GPU
    uint64_t paged_bytes;  // optimizer state in managed memory
    uint64_t table_bytes;  // of one of the optimizer's tables
    unsigned tables;
    uint64_t temp_peak;                       // largest sum of temporaries in a step
    uint64_t trained_tensors, trained_bytes;  // trained_bytes: of whole gradients
    uint64_t copy_bytes,
        sum_bytes;  // of float32 copies of the weights, and sums of gradients: from the beginning
    uint64_t reference_bytes;    // of a second model that no gradient reaches; they are part of
                                 // param_bytes
    uint64_t dequantized_bytes;  // of buffer_bytes: where ExLlama expands a weight
    uint64_t loading_bytes;   // beside the weights while they are loaded, and gone before training
    uint64_t host_bytes;      // in the host's memory
    uint64_t largest_bytes;   // of the largest trained weight
    uint64_t resident_bytes;  // of gathered weights that ZeRO-3 does not give back
    uint64_t part_bytes;      // of one GPU's part of all trained weights, in the weights' format
#ifndef VRAM_SMALL
    struct partition partition;  // of the gradients under DeepSpeed
    bool parted;                 // it is on the card
#endif
};

#ifndef VRAM_SMALL
// What a row's parameter takes once more in a reference; 0 where it has none.
uint64_t state_reference(const struct state *s, const struct state_row *r, bool block);
#endif

// Fills *s for a model. Errors: VRAM_EOVERFLOW.
int state_make(struct state *s, const struct model *m, const uint64_t elements[SHAPE_COUNT]);

#endif
