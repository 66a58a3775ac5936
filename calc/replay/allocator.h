// PyTorch's CUDA caching allocator, replayed: the same blocks, segments and statistics, without a
// GPU.
//
// A few streams, one device. Addresses are invented: a new segment lies above all that came before
// it, or below where the settings say so; that decides between blocks of one size, of which the
// lowest is taken. Drivers hand out falling addresses: 58 of 72 runs of PyTorch 2.11 on an H200
// (content/measurements) reserve what they give to 0.005 %, 71 within 2 %. SRC:
// pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp at 001074d, DeviceCachingAllocator.

#ifndef CALC_ALLOCATOR_H
#define CALC_ALLOCATOR_H

#include "calc/replay/allocator_state.h"

// Empties a and makes it ready. config is copied, mem must stay.
// Owns: memory from mem until allocator_done. Errors: VRAM_EARG for settings that PyTorch refuses.
int allocator_init(struct allocator *a, const struct vram_mem *mem,
                   const struct allocator_config *config);

// As new, with the memory kept: for sweeps. Errors: as allocator_init.
int allocator_reset(struct allocator *a, const struct allocator_config *config);

// Makes *to, which has memory of its own, what *from is. settle stays. Errors: VRAM_ENOMEM.
int allocator_copy(struct allocator *to, const struct allocator *from);

// Gives all memory back to mem. a may be all zero.
void allocator_done(struct allocator *a);

// The stream, below ALLOCATOR_STREAMS, on which the requests to come are made; 0 at first.
static inline void allocator_stream(struct allocator *a, uint32_t stream)
{
    a->stream = stream;
}

// What the settings make of a size, for the calls below: it is the same all through a run.
void allocator_request(const struct allocator_config *config, uint64_t bytes,
                       struct allocator_request *out);

// Hands out a block for bytes; *block gets its number, 0 for 0 bytes.
// Errors: VRAM_ENOFIT (OutOfMemoryError: stats.oom_bytes says the size), VRAM_EOVERFLOW,
// VRAM_ENOMEM. After each of them a is as consistent as PyTorch's allocator is after a caught
// error, and may be used on.
int allocator_malloc(struct allocator *a, uint64_t bytes, uint32_t *block);
int allocator_take(struct allocator *a, const struct allocator_request *request, uint32_t *block);

// Whether a free block of a pool has room for bytes. Requests to it of together as many bytes,
// rounded, then find a block each, and when all are given back everything is as it was.
bool allocator_has(const struct allocator *a, bool small, uint64_t bytes);

// Takes a block back; 0 is nothing. Errors: VRAM_EARG if the block is not handed out.
int allocator_free(struct allocator *a, uint32_t block);

// As allocator_take, then allocator_free of its block: where a free block serves, all is as
// before.
int allocator_borrow(struct allocator *a, const struct allocator_request *request);

// As allocator_free in two steps: the statistics at once, the block when another stream has done
// with it. SRC: the same file, free() and process_events().
int allocator_hold(struct allocator *a, uint32_t block);
void allocator_release(struct allocator *a, uint32_t block);

// torch.cuda.empty_cache: every segment without a block in use goes back to the device.
int allocator_empty_cache(struct allocator *a);

// Where a block lies and how long it is, for tests and maps of the memory. 0 when there is none.
uint64_t allocator_block_address(const struct allocator *a, uint32_t block);
uint64_t allocator_block_bytes(const struct allocator *a, uint32_t block);

// What malloc makes of a request: 512-byte steps, or divisions of a power of two. 0 on overflow.
uint64_t allocator_round(const struct allocator_config *config, uint64_t bytes);

// What is asked of the device when no free block fits a rounded request.
uint64_t allocator_segment_bytes(uint64_t rounded);

#endif
