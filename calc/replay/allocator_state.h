// What the replayed caching allocator consists of: its constants, settings, statistics and pools.
// SRC: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp at 001074d, DeviceCachingAllocator.

#ifndef CALC_ALLOCATOR_STATE_H
#define CALC_ALLOCATOR_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/base/mem.h"
#include "calc/vram.h"

// The allocator's constants, bytes. SRC: the same file, kMinBlockSize and following.
#define ALLOCATOR_MIN_BLOCK UINT64_C(512)
#define ALLOCATOR_SMALL UINT64_C(1048576)  // largest request of the small pool
#define ALLOCATOR_SMALL_BUFFER \
    UINT64_C(2097152)  // segment of the small pool, page of its virtual segment
#define ALLOCATOR_LARGE_BUFFER \
    UINT64_C(20971520)  // segment for requests below MIN_LARGE, page of the large pool
#define ALLOCATOR_MIN_LARGE UINT64_C(10485760)  // from here on a segment of its own
#define ALLOCATOR_ROUND_LARGE UINT64_C(2097152)

// A request or a sum above this is an overflow: numbers stay exact in JSON and JavaScript.
#define ALLOCATOR_MAX (UINT64_C(1) << 53)

// The settings of PYTORCH_CUDA_ALLOC_CONF that change sizes, and the card. All zero: the defaults
// on a card without end.
struct allocator_config {
    uint64_t device_bytes;       // what cudaMalloc can still give this process; 0 = no limit
    uint64_t allowed_bytes;      // set_per_process_memory_fraction, as bytes; 0 = not set
    uint64_t max_split_bytes;    // max_split_size_mb, as bytes; 0 = infinite
    uint32_t gc_threshold_ppm;   // garbage_collection_threshold in millionths; works only with
                                 // allowed_bytes
    uint32_t roundup_divisions;  // roundup_power2_divisions, a power of two; 0 or 1 = off
    bool expandable;             // expandable_segments:True
    bool falling;                // cudaMalloc hands out falling addresses, as drivers do on Linux
};

struct allocator_stat {
    uint64_t now, peak;
};

struct allocator_stats {
    struct allocator_stat requested;  // bytes as asked for
    struct allocator_stat allocated;  // bytes of the blocks handed out: torch.cuda.memory_allocated
    struct allocator_stat reserved;   // bytes of the segments: torch.cuda.memory_reserved
    struct allocator_stat
        segments;             // cudaMalloc'ed segments; virtual ones do not count, as in PyTorch
    uint64_t mallocs, frees;  // calls that handed out or took back a block
    uint64_t device_mallocs, device_frees;  // cudaMalloc and cudaFree, or mappings and unmappings
    uint64_t retries;    // num_alloc_retries: cached segments freed, cudaMalloc tried again
    uint64_t ooms;       // requests that failed even so
    uint64_t oom_bytes;  // the last of them, as "Tried to allocate" prints it
};

// A size as it is asked for, and what the settings make of it.
struct allocator_request {
    uint64_t bytes, rounded;  // rounded: 0 for nothing, and where bytes are too many
    uint32_t class;           // of the rounded size: pool_class
};

struct allocator_block;

// Free blocks serve the stream that they were allocated on alone.
enum { ALLOCATOR_STREAMS = 3 };

// The free blocks of one pool and stream, ordered by (size, address): a list for each size class,
// and two levels of bitmaps that find the next class in use. Classes are 1/32 of a power of two
// wide.
enum { ALLOCATOR_ROWS = 48, ALLOCATOR_COLUMNS = 32, ALLOCATOR_NEAR = 64 };

struct allocator_pool {
    uint8_t stream;
    bool small;
    uint64_t rows;                     // bit r: columns[r] != 0
    uint32_t columns[ALLOCATOR_ROWS];  // bit c: the list of class (r, c) is not empty
    uint32_t head[ALLOCATOR_ROWS * ALLOCATOR_COLUMNS];  // valid only where the bit is set
    uint32_t tail[ALLOCATOR_ROWS * ALLOCATOR_COLUMNS];
#ifndef VRAM_SMALL
    uint32_t near[ALLOCATOR_NEAR];  // by class: a block put among others of it not long ago, or 0
#endif
    uint64_t page;      // bytes of a page of this pool's virtual segments
    uint64_t searches;  // get_free_blocks_call_count: the clock of the garbage collector
    uint32_t unmapped;  // first unmapped range in order of address
};

struct allocator {
    const struct vram_mem *mem;
    struct allocator_config config;
    struct allocator_stats stats;
    uint64_t next_address;
    bool plain;  // its settings leave the choice of a free block to size and address
    struct allocator_block *blocks;      // by number; number 0 is none
    size_t cap;                          // room in blocks
    uint32_t count;                      // numbers ever used
    uint32_t spare, spares;              // first of those given back, and how many
    uint32_t stream;                     // of the next requests
    void (*settle)(void *ctx);           // NULL, or releases what is held: the card has caught up
    void *settled;                       // its ctx
    struct allocator_pool small, large;  // of stream 0
    struct allocator_pool others[ALLOCATOR_STREAMS - 1][2];  // large, small
};

#endif
