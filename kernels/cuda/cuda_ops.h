// The operations of a training step on a GPU, and the GPU as a device for the caching allocator.
#ifndef KERNELS_CUDA_OPS_H
#define KERNELS_CUDA_OPS_H

#include "kernels/step/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_ops;

// For the current device. workspace: device memory for matmuls and for partial sums, at least 8
// MiB; it must outlive the operations. Types: F32, F16, BF16, I64, U8. NULL when the host has no
// memory.
struct cuda_ops *cuda_ops_new(void *workspace, uint64_t workspace_bytes);
const struct gpt_ops *cuda_ops_table(const struct cuda_ops *o);
void cuda_ops_delete(struct cuda_ops *o);

// cudaMalloc and cudaFree. Running out of memory is a result; every other error ends the program.
struct device_memory cuda_device_memory(void);

#ifdef __cplusplus
}
#endif

#endif
