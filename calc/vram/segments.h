// libvram: the allocator's segments and blocks at a moment of a run.

#ifndef VRAM_SEGMENTS_H
#define VRAM_SEGMENTS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Which moment of a run.
#define VRAM_MOMENTS(X) \
    X(PEAK, "peak", "when most is handed out: max_memory_allocated, the first time") \
    X(GROWTH, "growth", "the last request for which no free block was large enough") \
    X(END, "end", "after the last event") \
    X(EVENT, "event", "after the event of a number")

enum vram_moment {
#define X(id, name, text) VRAM_MOMENT_##id,
    VRAM_MOMENTS(X)
#undef X
        VRAM_MOMENT_COUNT
};
VRAM_API const char *vram_moment_name(uint32_t moment);

// What a block is.
#define VRAM_BLOCK_STATES(X) \
    X(FREE, "free", "reserved and unused") \
    X(USED, "used", "handed out to a tensor") \
    X(PENDING, "pending", "given back by the program, and still used by another stream")

enum vram_block_state {
#define X(id, name, text) VRAM_BLOCK_##id,
    VRAM_BLOCK_STATES(X)
#undef X
        VRAM_BLOCK_COUNT
};
VRAM_API const char *vram_block_state_name(uint32_t state);

// A piece of a segment.
struct vram_block {
    uint64_t bytes;      // rounded up
    uint64_t requested;  // by the tensor; 0 where the block is not handed out
    uint32_t state;      // enum vram_block_state
    uint32_t category;   // enum vram_category; of a used block, as what follows
    int64_t layer;       // or -1
    const char *name;    // of the tensor; NULL
};

// What one cudaMalloc gave. With expandable_segments: a range of addresses that is mapped without a
// gap.
struct vram_segment {
    uint64_t bytes, used_bytes, largest_free_bytes;
    bool small;       // for requests of at most 1 MiB
    uint32_t stream;  // its free blocks serve that one alone; 0 is the program's own
    const struct vram_block *blocks;  // in order of address, without a gap
    size_t block_count;
};

struct vram_segments {
    uint32_t moment;         // enum vram_moment, as it was asked for
    uint64_t event, events;  // number of the event, from 0, as in vram_trace; how many the run has
    uint64_t event_bytes;    // that it asks for or gives back
    bool event_is_free;
    const char *name, *op, *phase;  // of the event
    uint64_t reserved_bytes;        // of all segments: memory_reserved
    uint64_t allocated_bytes;       // of the blocks that are handed out: memory_allocated
    uint64_t requested_bytes;       // by their tensors
    uint64_t pending_bytes;
    uint64_t free_blocks, largest_free_bytes;
    const struct vram_segment *segments;  // in order of address
    size_t segment_count;
};

// The segments and blocks of the allocator after an event of the run that vram_run would make;
// event counts for VRAM_MOMENT_EVENT alone. Errors: those of vram_run; VRAM_EARG for an event or a
// moment that is not there.
VRAM_API int vram_segments(vram *v, uint32_t moment, uint64_t event,
                           const struct vram_segments **out);

#ifdef __cplusplus
}
#endif

#endif
