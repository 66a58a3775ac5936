// What a framework does, whatever its version: the one place that knows frameworks by name, by the
// table frameworks.def.

#ifndef CALC_FRAMEWORK_H
#define CALC_FRAMEWORK_H

#include "calc/model/config.h"

enum framework_habit {
    BY_AUTOCAST = 1 << 0,       // trains in bfloat16 by autocast where nothing says otherwise
    BY_DDP_ALONE = 1 << 1,      // has no other way to use several GPUs
    BY_EVEN_BATCHES = 1 << 13,  // all batches of a run have one length
    BY_TRANSFORMERS = 1 << 2,   // the model code is that of transformers
    BY_NANOTRON = 1 << 3,  // nanotron's layers, buffers, ZeRO-1 and number formats: Llama alone,
                           // eager, without adapters
    BY_STAGES_OF_COST =
        1 << 4,  // a pipeline's stages have equal shares of the products, not of the layers
    BY_EVEN_LAYERS =
        1 << 5,  // device_map gives each card as many layers, the first one embedding and head
    BY_QUANTIZED_HEAD = 1 << 6,  // four bits for the head, too
    BY_WIDE_SCALE = 1 << 7,      // RMSNorm's weight is applied as in Gemma, whatever the family
    BY_MESH = 1 << 8,  // shards by its device mesh on as many GPUs as there are, without a word in
                       // the file, and has no autocast
    BY_WHOLE_ENDS =
        1 << 9,           // tensor_parallel divides the layers alone: embedding and head are whole
    BY_BLOCKS = 1 << 10,  // torch.compile makes graphs of each block, not of the model
    BY_COMPLEX_ANGLES = 1 << 11,      // rotary positions are complex numbers
    BY_CHECKPOINTS_AROUND = 1 << 12,  // torch.utils.checkpoint is around what is compiled
    BY_ONE_LAYER = 1 << 14,           // one class of layers for every family
    BY_WIDE_GENERATION = 1 << 15,     // autocast generates over weights in float32
    BY_DTENSOR = 1 << 16,             // tensor_parallel divides by DTensor, and so the loss
    BY_PERMUTED_EXPERTS = 1 << 17     // rows are permuted by expert; experts can be divided
};

struct framework {
    uint64_t loss, keep_logits,
        sharding;       // of the values of cross_entropy, keep_logits and parallel
    uint64_t features;  // HAS_*
    unsigned habits;
};

// Whose code a configuration has: of VALUES_framework, never FRAMEWORK_AUTO.
uint64_t framework_id(const struct vram_config *c);
const struct framework *framework_of(const struct vram_config *c);

static inline bool framework_goes(const struct vram_config *c, enum framework_habit habit)
{
    return framework_of(c)->habits & habit;
}

#endif
