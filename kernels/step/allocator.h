// A caching allocator with PyTorch's rules over a device's own allocation calls; written
// independently of the estimator's.
#ifndef KERNELS_ALLOCATOR_H
#define KERNELS_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The source of segments: cudaMalloc on a GPU, malloc for the reference, only numbers for a dry
// run.
struct device_memory {
    // Returns 0, or -1 when the device has no bytes left; *address is then unchanged.
    int (*take)(void *ctx, uint64_t bytes, void **address);
    void (*give)(void *ctx, void *address, uint64_t bytes);
    void *ctx;
};

struct caching_allocator;
struct caching_block;

// Bytes; peaks since caching_new. requested counts what callers asked for, allocated the blocks
// they got (max_memory_allocated), reserved the segments taken from the device
// (max_memory_reserved).
struct caching_stats {
    uint64_t requested, allocated, reserved;
    uint64_t requested_peak, allocated_peak, reserved_peak;
    uint64_t segments, retries;
};

// NULL when the host is out of memory. The device must outlive the allocator.
struct caching_allocator *caching_new(struct device_memory device);
// Returns every segment to the device. Blocks that are still held become invalid.
void caching_delete(struct caching_allocator *a);
// Returns NULL when the device has no room even after the cached segments were returned to it.
// bytes = 0 counts as 1.
struct caching_block *caching_malloc(struct caching_allocator *a, uint64_t bytes);
void caching_free(struct caching_allocator *a, struct caching_block *block);
void *caching_address(const struct caching_block *block);
const struct caching_stats *caching_stats(const struct caching_allocator *a);
// Returns every wholly free segment to the device (torch.cuda.empty_cache).
void caching_empty(struct caching_allocator *a);

#ifdef __cplusplus
}
#endif

#endif
