// libvram: the estimate, and the step that it is made of.

#ifndef VRAM_ESTIMATE_H
#define VRAM_ESTIMATE_H

#include "handle.h"
#include "tables.h"

#ifdef __cplusplus
extern "C" {
#endif

// A figure with its error bound, which includes tolerance_permille of bytes.
struct vram_figure {
    uint64_t bytes;
    uint64_t low, high;
    uint32_t basis;                  // enum vram_basis
    uint32_t tolerance_permille;     // 0 for an exact figure
    uint32_t measurements;           // public ones of such runs, 90 % of which are within the
                                     // tolerance; 0: none
    const char *wider;               // what these have in common where few are of such runs: a
                                     // wider kind; else "", NULL in a module without them
    const struct vram_message *why;  // which rule, which term is uncertain
};

// A line of a breakdown: tensors of the same name, summed over the layers.
struct vram_line {
    const char *name;   // "block.c_attn.weight cast", "logits"
    const char *op;     // that allocates it: "mm", "_to_copy"; of a saved line the node's field
    const char *dtype;  // "float32", "bfloat16", "int64", "bool"; "" where formats are mixed
    uint32_t category;  // enum vram_category
    uint32_t count;     // number of storages
    uint64_t bytes;     // of all of them together
};

// The largest sum of live bytes inside one phase.
struct vram_phase {
    const char *name;  // "fwd:it1.m0"
    uint64_t peak_live_bytes;
};

// Parameter tensors of the same name, those of all layers together.
struct vram_tensor {
    const char *name;     // "block.c_attn.weight"
    uint64_t count;       // how many there are
    uint64_t rows, cols;  // of one; cols = 0 for a vector
    uint64_t elements;    // of all of them together
    bool decayed;         // has two or more dimensions
    bool trained;         // false for frozen weights (LoRA)
};

// Everything that an estimate says.
struct vram_result {
    // numbers of parameters
    uint64_t params;           // unique elements, tied tensors once
    uint64_t reported_params;  // as nanoGPT's log counts them: without the position table
    uint64_t decayed_params, decayed_tensors;
    uint64_t nodecay_params, nodecay_tensors;
    uint64_t trained_params;
    uint64_t tensors;  // parameter tensors

    // bytes that stay from step to step
    uint64_t param_bytes, grad_bytes, optim_bytes, buffer_bytes;

    uint64_t saved_bytes;  // saved for backward at the end of a forward pass, each storage once

    struct vram_figure peak_live;       // tensors alone, unrounded
    struct vram_figure peak_allocated;  // as torch.cuda.max_memory_allocated
    struct vram_figure peak_reserved;   // as torch.cuda.max_memory_reserved
    struct vram_figure context;         // outside the allocator: CUDA context and modules, NCCL's
                                        // communicators where published
    struct vram_figure process;         // as nvidia-smi shows it: reserved + context
    struct vram_figure needed;          // what has to fit: less than process where a generation
                                        // leaves cache behind that a full card would get back
    uint64_t peak_requested_bytes;      // tensors and workspaces, unrounded
    uint64_t first_step_peak_bytes;     // peak of live bytes in iteration 0
    uint64_t steady_end_bytes;          // live after the last optimizer step
    uint64_t reserved_end_bytes;        // reserved after it: less than the peak where a full card
                                        // got the cache back
    uint64_t eval_peak_bytes;           // peak of live bytes in evaluation; 0 without one
    uint64_t cards_allocated_bytes;     // peak_allocated of every card of device_map, together
    uint64_t segments;                  // cudaMalloc'ed segments at the end
    uint64_t events;                    // allocations and frees replayed
    uint64_t alloc_retries;             // as PyTorch's num_alloc_retries: the card was full, and
                                        // the cache went back to it
    uint32_t iterations;                // run until reserved was stable
    uint32_t pipeline_stage;            // that takes most; 0 without a pipeline
    uint64_t gpu_bytes;    // what CUDA offers of the card less other_memory; 0 without a card
    const char *gpu_name;  // NULL without one
    uint32_t verdict;      // enum vram_verdict, of needed
    uint32_t regime;       // enum vram_regime
    const char *kind;      // what tells of the run which measurements are of such: words with
                           // commas between; NULL in a module without them

    const char *peak_phase;  // where the peak of live bytes is: "bwd:it1.m1"
    const char *peak_op;     // "nll_loss_backward"
    int64_t peak_block;      // layer number, or -1

    const uint64_t *by_category;           // live bytes at the peak, by enum vram_category
    const struct vram_line *at_peak;       // live at the peak, largest first
    const struct vram_line *saved;         // saved for backward, largest first
    const struct vram_phase *phases;       // in order of time
    const struct vram_tensor *parameters;  // in the order in which the model registers them
    const struct vram_message *notes;      // of the texts, then on the configuration as it is
    size_t category_count, at_peak_count, saved_count, phase_count, parameter_count, note_count;
    struct vram_capacity capacity;  // of the card, with its total as nvidia-smi prints it
};

// Runs the step: model, trace, replay through the caching allocator, report. Checks first.
VRAM_API int vram_run(vram *v);
VRAM_API const struct vram_result *vram_result(const vram *v);  // NULL before a successful run

// The peak of live bytes alone, without a replay: the same number as peak_live.bytes of vram_run,
// many times faster. Keeps its tables from call to call.
VRAM_API int vram_live_peak(vram *v, uint64_t *bytes);

// Seconds of one optimizer step by a roofline: its operations at 40 % of the card's dense rate, and
// its weights read at the card's bandwidth; an RTX 4070 where no gpu is set. For ratios between
// configurations, not for a clock. Errors: those of vram_check; VRAM_EUNSUPPORTED for inference.
VRAM_API int vram_step_seconds(vram *v, double *seconds);

// One allocation or free. Strings are static; ids of one run are dense from 0.
struct vram_event {
    uint64_t bytes;     // requested size of the storage, also on its free
    uint64_t live;      // sum of live bytes after the event, workspaces included
    uint64_t id;        // number of the storage, unique in the trace
    uint32_t category;  // enum vram_category
    bool is_free;
    int64_t block;      // layer number, or -1
    const char *name;   // of the tensor
    const char *op;     // that allocated it
    const char *phase;  // of the event, "bwd:it0.m1"; valid during the callback
};

// Calls fn for every event of the run that vram_run would make. Stops when fn returns non-zero and
// returns that.
typedef int vram_event_fn(void *ctx, const struct vram_event *event);
VRAM_API int vram_trace(vram *v, vram_event_fn *fn, void *ctx);

// A parameter tensor, in the order in which the model registers it.
struct vram_param {
    const char *name;     // "block.c_attn.weight"; block says which
    int64_t block;        // layer number, or -1
    uint64_t rows, cols;  // cols = 0 for a vector
    uint64_t bytes;
    bool decayed;  // has two or more dimensions
    bool trained;  // false for frozen weights (LoRA) and for a tied second name
};
VRAM_API int vram_param_at(vram *v, uint64_t index, struct vram_param *out);  // VRAM_EARG: no more

#ifdef __cplusplus
}
#endif

#endif
