// libvram: sweeps, out-of-memory messages, memory snapshots, formulas of others.

#ifndef VRAM_EXPLAIN_H
#define VRAM_EXPLAIN_H

#include "advise.h"
#include "estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

// One combination of a sweep.
struct vram_sweep_row {
    size_t index;
    const char *const *values;         // as text, one for each key
    const vram *config;                // valid during the row's call
    const struct vram_message *error;  // NULL: none
    const struct vram_result *result;  // NULL with an error
};

// The fields that are swept.
struct vram_sweep {
    const char *const *keys;
    size_t key_count, row_count;
};

// Runs every combination: ranges is "batch_size=1:64 block_size=256,512,1024", the last key changes
// fastest. fn gets the rows in order; non-zero ends the sweep and is returned. A row that is no
// possible model has an error and the sweep goes on. Errors: VRAM_EPARSE and those of vram_set.
typedef int vram_sweep_fn(void *ctx, const struct vram_sweep *sweep,
                          const struct vram_sweep_row *row);
VRAM_API int vram_sweep(vram *v, const char *ranges, vram_sweep_fn *fn, void *ctx);

// A size as a message rounds it: what is shown, give or take half a unit of its last place.
struct vram_size {
    uint64_t bytes, low, high;
    bool present;
};

enum { VRAM_SHAPE_DIMS = 4 };

// A product of dimensions.
struct vram_shape {
    uint64_t dim[VRAM_SHAPE_DIMS];
    const char *name[VRAM_SHAPE_DIMS];  // "batch", "sequence", "vocabulary", ...
    uint32_t dims;
    uint32_t element_bytes;
    uint64_t bytes;
};

// A tensor of the step that asks for as much as the message says.
struct vram_suspect {
    const char *name, *op, *phase;
    uint32_t category;  // enum vram_category
    int64_t block;      // layer number, or -1
    uint64_t bytes;
    uint64_t live_bytes;      // before it
    struct vram_shape shape;  // dims = 0: unknown
};

// What an out-of-memory message says, and which tensor it is about.
struct vram_oom {
    struct vram_size tried, total, free, allocated, reserved, unallocated, in_use;
    bool driver;  // not PyTorch's allocator but the driver, a library or a server says it: no
                  // tensor is looked for
    bool has_config;
    const char *compile;                 // with which the tensors are found; NULL: none are found
    const char *compile_as_asked;        // as it is configured
    const struct vram_suspect *tensors;  // the likeliest first
    size_t tensor_count;
    const struct vram_shape *shapes;  // without a tensor: shapes that ask for this size
    size_t shape_count;
    const struct vram_message *hints;  // what to look at first, from the message alone
    size_t hint_count;
    const struct vram_advice *advice;  // NULL without a configuration
    const char *source;  // whose message it is: pytorch, cudaMallocAsync, cuda, triton, xla,
                         // llama.cpp, vllm, bitsandbytes, nccl, host
    const struct vram_message *about;  // where no tensor of PyTorch's is meant: what is; else NULL
};

// Reads an out-of-memory message, PyTorch's or another's. with_config: explains it against this
// configuration.
VRAM_API int vram_explain_oom(vram *v, const char *text, size_t len, bool with_config,
                              const struct vram_oom **out);

// Blocks of one size from one line of a program, or tensors of one name that were expected.
struct vram_snapshot_block {
    uint64_t bytes;  // of one, as it was asked for
    uint64_t count;
    const char *category;  // what it is for, by its frames or its size; NULL: not known
    const char *file;  // the innermost frame outside of PyTorch; "" without frames. Of an expected
                       // tensor: the operation
    const char *name;  // of its function; of an expected tensor: its name
    uint64_t line;
};

struct vram_snapshot_segment {
    uint64_t address, bytes, allocated_bytes, largest_free_bytes, stream, blocks;
    bool small, expandable;
};

// A category's bytes: now, at the peak, and as estimated at the estimate's peak.
struct vram_snapshot_row {
    const char
        *category;  // as vram_category_name; "unknown" for what neither frames nor sizes tell
    uint64_t now_bytes, peak_bytes, estimated_bytes;
};

// What a memory snapshot of PyTorch says, of the device that has the most memory in it.
struct vram_snapshot {
    uint64_t device, devices;
    uint64_t reserved_bytes;   // of all segments
    uint64_t allocated_bytes;  // in blocks of tensors, as torch.cuda.memory_allocated
    uint64_t requested_bytes;  // what those asked for
    uint64_t pending_bytes;    // freed, and waited for by another stream
    uint64_t free_bytes, largest_free_bytes;  // in segments, without a tensor
    const char *settings;                     // PYTORCH_CUDA_ALLOC_CONF, or NULL
    bool has_frames;                          // recorded with stacks
    bool has_trace;  // with the history of allocations: the rest of this block
    uint64_t events;
    uint64_t peak_requested_bytes, peak_reserved_bytes;  // within the history
    bool has_oom;                                        // an allocation failed; the last that did
    uint64_t oom_bytes, oom_free_bytes;
    struct vram_snapshot_block oom_site;
    bool has_config;  // the rest of this block
    uint64_t estimated_requested_bytes, estimated_reserved_bytes;
    uint64_t matched_bytes;  // in blocks of which the estimate has a tensor of the same size
    uint64_t unmatched_bytes, missing_bytes;
    const struct vram_snapshot_row *rows;  // by enum vram_category, the unknown last
    // At the peak, or now where there is no history: the largest blocks; with a configuration those
    // that the estimate has no tensor for, and the tensors that it has and no block is.
    const struct vram_snapshot_block *blocks, *missing;
    const struct vram_snapshot_segment *segments;
    size_t row_count, block_count, missing_count, segment_count;
};

// Reads what torch.cuda.memory._dump_snapshot wrote, a pickle, or the same as JSON; nothing in it
// is run. file is a name for messages. with_config: holds it against this configuration. Errors:
// VRAM_EPARSE; those of vram_run.
VRAM_API int vram_read_snapshot(vram *v, const void *data, size_t len, const char *file,
                                bool with_config, const struct vram_snapshot **out);

// The same configuration by someone else's formula.
struct vram_formula {
    const char *id, *name;
    bool too_large;  // bytes do not fit in 2^53
    uint64_t bytes;
    int64_t difference_permille;  // from peak_live_bytes
    const struct vram_message *because;
};

struct vram_comparison {
    uint64_t peak_live_bytes;
    const struct vram_formula *formulas;
    size_t formula_count;
    const struct vram_message *notes;  // as in vram_result
    size_t note_count;
};
VRAM_API int vram_compare(vram *v, const struct vram_comparison **out);

#ifdef __cplusplus
}
#endif

#endif
