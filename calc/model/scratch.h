// Memory that kernels of PyTorch take for themselves while they run.

#ifndef CALC_SCRATCH_H
#define CALC_SCRATCH_H

#include <stdint.h>

#include "calc/model/config.h"

// The card that kernels are launched on, as far as their launches depend on it.
struct scratch_card {
    uint64_t processors, threads;  // multiprocessors; threads that one holds
    uint64_t workspace;            // bytes of cuBLAS's workspace
};

struct scratch_card scratch_card_of(const struct vram_config *c);

// A sum over `rows` rows of `cols` contiguous numbers, accumulated in float32.
struct scratch_sum {
    uint64_t bytes, locks;  // partial sums and semaphores; 0: one block a column does it alone
};
struct scratch_sum scratch_sum(const struct scratch_card *card, uint64_t rows, uint64_t cols);

// Rows of partial sums of a kernel that reduces rows and columns. SRC: pytorch
// torch/_inductor/codegen/simd.py, _pick_split_size.
uint64_t scratch_norm_parts(const struct scratch_card *card, uint64_t rows);

// float32 elements that the backward of memory-efficient attention adds up dq in, for one head.
uint64_t scratch_tiles(uint64_t seq, uint64_t head_dim);

// The same of all heads where a head is wider than 128: dq, and dk and dv of each split of the
// keys.
uint64_t scratch_low_tiles(uint64_t heads, uint64_t seq,
                           uint64_t head_dim);  // the same of two-byte operands, all heads
uint64_t scratch_wide_tiles(uint64_t heads, uint64_t seq, uint64_t keys, uint64_t values);

#endif
