// Which product of a model's dimensions a number of bytes is.

#ifndef CALC_OOM_SHAPE_H
#define CALC_OOM_SHAPE_H

#include "calc/model/config.h"
#include "calc/parse/parse_oom.h"

// What a message of the source shows for a tensor of this size: the segment that the caching
// allocator asks the driver for; of those that ask for each tensor, its own bytes. SRC: pytorch
// c10/cuda/CUDAMallocAsyncAllocator.cpp (mallocAsync: "Requested", the size as it came);
// aten/src/ATen/mps/MPSAllocator.mm (get_allocation_size: the size in whole units of Metal's
// alignment); torch-directml's "Could not allocate tensor with N bytes".
uint64_t oom_asked(enum oom_source source, uint64_t bytes);

// Finds the shape of exactly that size among those that the configuration's tensors have; false if
// there is none.
bool oom_shape_find(const struct vram_config *c, uint64_t bytes, struct vram_shape *out);

// Without a configuration: guesses of tensors for which a message of the source shows low..high
// bytes, likely ones first: logits and activations, and weights of the presets. At most room of
// them, into out; returns how many.
size_t oom_shape_guess(enum oom_source source, uint64_t low, uint64_t high, struct vram_shape out[],
                       size_t room);

#endif
