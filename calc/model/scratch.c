// Owns the sizes of kernels' own memory: workspaces, partial sums, tiles.

#include "calc/model/scratch.h"

#include "calc/base/size.h"
#include "calc/vram.h"

// SRC: pytorch aten/src/ATen/cuda/CUDABlas.cpp, parseChosenWorkspaceSize; compute capabilities'
// threads a multiprocessor: CUDA C++ Programming Guide, technical specifications. Without a card:
// an A100.
struct scratch_card scratch_card_of(const struct vram_config *c)
{
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    uint32_t capability = gpu ? gpu->compute_capability : 0;
    struct scratch_card card = {108, 2048, UINT64_C(8519680)};
    if (gpu && gpu->sm_count)
        card.processors = gpu->sm_count;
    if (capability == 75)
        card.threads = 1024;
    else if (capability == 86 || capability == 87 || capability == 89 || capability >= 120)
        card.threads = 1536;
    if (capability >= 90)
        card.workspace = UINT64_C(33554432);
    if (c->workspace_bytes)
        card.workspace = c->workspace_bytes;
    return card;
}

static uint64_t scratch_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t scratch_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t scratch_up(uint64_t n, uint64_t by)
{
    return (n + by - 1) / by;
}

static uint64_t scratch_power(uint64_t n)  // the largest power of two that is not above n
{
    uint64_t power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

enum { SUM_THREADS = 512, SUM_WARP = 32, SUM_FEW = 16, SUM_MANY = 256 };

// SRC: pytorch aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig for a reduction that is not
// along the fastest dimension; ReduceConfig::set_block_dimension, global_memory_size,
// semaphore_size.
struct scratch_sum scratch_sum(const struct scratch_card *card, uint64_t rows, uint64_t cols)
{
    uint64_t vector = cols % 4 == 0 ? 4 : cols % 2 == 0 ? 2 : 1, threads = SUM_THREADS / vector;
    uint64_t width = cols / vector < threads ? scratch_power(cols / vector) : threads;
    uint64_t height = rows < threads ? scratch_power(rows) : threads;
    uint64_t x = scratch_least(width, SUM_WARP), y = scratch_least(height, threads / x);
    x = scratch_least(width, threads / y);
    if (rows == 0 || cols == 0 || rows < scratch_least(y * 16, SUM_MANY))
        return (struct scratch_sum){0, 0};
    uint64_t values = scratch_up(rows, y), grid = scratch_up(cols / vector, x);
    uint64_t target = card->processors * (card->threads / (x * y));
    if (values < SUM_MANY || grid > target)
        return (struct scratch_sum){0, 0};
    uint64_t blocks =
        scratch_most(scratch_least(scratch_up(target, grid), scratch_up(values, SUM_FEW)),
                     scratch_up(values, SUM_MANY));
    return blocks > 1 ? (struct scratch_sum){size_mul3(4 * x * vector, cols, blocks), 4 * grid}
                      : (struct scratch_sum){0, 0};
}

// SRC: pytorch aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernel_backward.h,
// workspace_elements_gq: tiles of 64 x 64 with a lock, a counter and padding. Compared with float32
// traces at a head of 64.
uint64_t scratch_tiles(uint64_t seq, uint64_t head_dim)
{
    return scratch_up(seq, 64) * scratch_up(head_dim, 64) * (64 * 64 + 4);
}

static uint64_t scratch_blocks(uint64_t heads, uint64_t seq, uint64_t head_dim, uint64_t queries,
                               uint64_t keys)
{
    return size_mul(heads,
                    scratch_up(seq, queries) * scratch_up(head_dim, keys) * (queries * keys + 4));
}

// SRC: the same file and kernels/cutlassB.h (cutlassB_bf16_aligned_64x64_k64, 128x64_k96,
// 128x128_k128 from sm_80 on): dk and dv stay in registers up to a head of 128. Compared with
// bfloat16 traces at heads of 64 and 128.
uint64_t scratch_low_tiles(uint64_t heads, uint64_t seq, uint64_t head_dim)
{
    if (head_dim > 128)
        return scratch_wide_tiles(heads, seq, head_dim, head_dim);
    return head_dim <= 64   ? scratch_blocks(heads, seq, head_dim, 64, 64)
           : head_dim <= 96 ? scratch_blocks(heads, seq, head_dim, 128, 64)
                            : scratch_blocks(heads, seq, head_dim, 128, 128);
}

// SRC: the same file, workspace_elements_gk, _gv and _gq for blocks of 128 queries and 64 keys;
// pytorch attention_backward.cu (num_splits_key: 200 / (batches * heads), where there are as many
// blocks of keys). Compared with traces of a head of 192 and 128 at 512 and 1,024 positions.
uint64_t scratch_wide_tiles(uint64_t heads, uint64_t seq, uint64_t keys, uint64_t values)
{
    enum { QUERIES = 128, KEYS = 64, MOST = 200 };
    uint64_t splits = heads ? scratch_least(scratch_up(seq, KEYS), MOST / heads) : 0;
    uint64_t wide = scratch_up(keys, QUERIES) * QUERIES + scratch_up(values, QUERIES) * QUERIES;
    uint64_t queries = scratch_up(seq, QUERIES) * scratch_up(keys, KEYS) * (QUERIES * KEYS + 4);
    return size_mul(heads, scratch_most(splits, 1) * KEYS * wide + queries);
}

#ifndef VRAM_SMALL
uint64_t scratch_norm_parts(const struct scratch_card *card, uint64_t rows)
{
    enum { BLOCKS = 8, FEWEST = 16, MOST = 128 };
    uint64_t split = scratch_power(scratch_most(rows / (card->processors * BLOCKS), 1));
    return scratch_up(rows, scratch_least(scratch_most(split, FEWEST), MOST));
}
#endif
