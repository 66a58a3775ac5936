// The public face of libvram: a training configuration in, the GPU memory of the run out.
//
// A `vram` handle holds one configuration, the memory that the caller lent, the last error and the
// last result. Nothing is global; two handles may be used by two threads at the same time.
//
//     vram *v = vram_new(&mem);
//     vram_set(v, "preset", "gpt2");
//     vram_set(v, "batch_size", "8");
//     if (vram_run(v) == VRAM_OK)
//         use(vram_result(v)->peak_reserved_bytes);
//     vram_free(v);
//
// Units: every size is a number of bytes in a uint64_t, unless the name says otherwise.
//
// Errors: functions that can fail return VRAM_OK (0) or a negative enum vram_code; vram_error(v)
// then gives the text and, for parsed text, file, line and column. A failed call leaves the handle
// usable.
//
// Owns: every pointer that a function returns belongs to the handle. It stays valid until the next
// call of the same family (said at each function) or vram_free.

#ifndef VRAM_H
#define VRAM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VRAM_SCHEMA "vramcalc/1"

typedef struct vram vram;

// Where the memory of a handle comes from. alloc returns storage aligned for any object, or NULL,
// at any call: the library then returns VRAM_ENOMEM. free gets the size that was asked for.
typedef struct vram_mem {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *ptr, size_t bytes);
    void *ctx;
} vram_mem;

// One row a code: identifier, number, name in messages and JSON, meaning.
#define VRAM_CODES(X) \
    X(VRAM_OK, 0, "ok", "no error") \
    X(VRAM_ENOMEM, -1, "no-memory", "the caller's allocator returned NULL") \
    X(VRAM_EKEY, -2, "unknown-key", "no field has this name") \
    X(VRAM_EVALUE, -3, "bad-value", "the text is not a value of the field's type") \
    X(VRAM_ERANGE, -4, "out-of-range", "the value lies outside the field's range") \
    X(VRAM_EMODEL, -5, "bad-model", "the fields contradict each other") \
    X(VRAM_EOVERFLOW, -6, "overflow", "a size does not fit in 2^53 bytes") \
    X(VRAM_EPARSE, -7, "bad-syntax", "the text cannot be read") \
    X(VRAM_EPRESET, -8, "unknown-preset", "no preset has this name") \
    X(VRAM_EGPU, -9, "unknown-gpu", "no GPU has this name") \
    X(VRAM_EUNSUPPORTED, -10, "unsupported", "this combination is not modelled") \
    X(VRAM_ENOTRUN, -11, "not-run", "there is no result yet: call vram_run first") \
    X(VRAM_EARG, -12, "bad-argument", "the function was called wrongly") \
    X(VRAM_ENOFIT, -13, "does-not-fit", "nothing fits in the card")

enum vram_code {
#define X(id, number, name, text) id = number,
    VRAM_CODES(X)
#undef X
};

// What a live tensor is for. The order is the stacking order of the timeline.
#define VRAM_CATEGORIES(X) \
    X(PARAM, "parameters", "weights and registered buffers") \
    X(GRAD, "gradients", "gradients of the weights, and the buckets that carry them") \
    X(OPTIM, "optimizer", "optimizer state and its temporaries") \
    X(CAST, "weight_casts", "low-precision copies of weights") \
    X(ACT, "activations", \
      "tensors saved by the forward pass for the backward pass, and forward temporaries") \
    X(LOGITS, "logits", \
      "logits, log-probabilities and their gradients: everything with the vocabulary's size") \
    X(BACKWARD, "backward", "gradients of activations and other temporaries of the backward pass") \
    X(CACHE, "kv_cache", "keys and values kept for generation") \
    X(INPUT, "inputs", "token ids, targets, positions") \
    X(WORKSPACE, "workspaces", "scratch memory of libraries inside the allocator (cuBLAS)")

enum vram_category {
#define X(id, name, text) VRAM_CAT_##id,
    VRAM_CATEGORIES(X)
#undef X
        VRAM_CAT_COUNT
};

// What a figure rests on, from strongest to weakest.
#define VRAM_BASES(X) \
    X(EXACT, "exact rule", "follows from the framework's own rules, without a fitted number") \
    X(MODEL, "model", "a model of the framework's behaviour with a stated tolerance") \
    X(RANGE, "range", "contains a term known only as a range")

enum vram_basis {
#define X(id, name, text) VRAM_BASIS_##id,
    VRAM_BASES(X)
#undef X
        VRAM_BASIS_COUNT
};

// A figure with its error bound. low and high are bytes; they include tolerance_permille of bytes.
struct vram_figure {
    uint64_t bytes;
    uint64_t low, high;
    uint32_t basis;               // enum vram_basis
    uint32_t tolerance_permille;  // 0 for an exact figure
    const char *why;              // one sentence: which rule, which term is uncertain
};

// A line of a breakdown: tensors of the same name, summed over the layers.
struct vram_line {
    const char *name;  // "block.c_attn.weight cast", "logits"
    const char *op;  // operation that allocates it: "mm", "_to_copy"; for saved lines the autograd
                     // node's field
    const char
        *dtype;  // "float32", "float16", "bfloat16", "int64", "bool"; "" where formats are mixed
    uint32_t category;  // enum vram_category
    uint32_t count;     // number of storages
    uint64_t bytes;     // of all of them together
};

// The largest sum of live bytes inside one phase.
struct vram_phase {
    const char *name;  // "fwd:it1.m0"
    uint64_t peak_live_bytes;
};

// A parameter tensor, in the order in which the model registers it.
struct vram_param {
    const char *name;     // "block.c_attn.weight"; block says which
    int64_t block;        // layer number, or -1
    uint64_t rows, cols;  // cols = 0 for a vector
    uint64_t bytes;
    bool decayed;  // has two or more dimensions
    bool trained;  // false for frozen weights (LoRA) and for a tied second name
};

// Everything that an estimate says. Belongs to the handle, valid until the next vram_run.
struct vram_result {
    // counts of numbers, not bytes
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
    struct vram_figure context;         // CUDA context and modules, outside the allocator
    struct vram_figure process;         // as nvidia-smi shows it: reserved + context
    uint64_t peak_requested_bytes;      // tensors and workspaces, unrounded
    uint64_t first_step_peak_bytes;     // peak of live bytes in iteration 0
    uint64_t steady_end_bytes;          // live after the last optimizer step
    uint64_t eval_peak_bytes;           // peak of live bytes in evaluation; 0 without one
    uint64_t segments;                  // cudaMalloc'ed segments at the end
    uint64_t events;                    // allocations and frees replayed
    uint32_t iterations;                // iterations run until reserved was stable
    uint32_t
        pipeline_stage;    // the figures are of this stage, which takes most; 0 without a pipeline
    uint64_t gpu_bytes;    // memory of the chosen card as the driver reports it; 0 without one
    const char *gpu_name;  // NULL without one

    const char *peak_phase;  // where the peak of live bytes is: "bwd:it1.m1"
    const char *peak_op;     // "nll_loss_backward"
    int64_t peak_block;      // layer number, or -1

    uint64_t by_category[VRAM_CAT_COUNT];  // live bytes at the peak; they add up to it
    const struct vram_line *at_peak;       // live at the peak, largest first
    size_t at_peak_count;
    const struct vram_line *saved;  // saved for backward, largest first
    size_t saved_count;
    const struct vram_phase *phases;  // in order of time
    size_t phase_count;
};

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

// A position in parsed text, and what is wrong there.
struct vram_message {
    enum vram_code code;
    const char *text;    // English, one line, without the position; never NULL
    const char *file;    // as given to vram_parse, or NULL
    uint32_t line, col;  // from 1; 0 where there is no text
};

// ---- life -------------------------------------------------------------------------------------

// A handle with every field at its default. NULL if mem has none. *mem is copied.
vram *vram_new(const vram_mem *mem);
void vram_free(vram *v);  // NULL is allowed

// Puts every field back to its default and forgets result and error.
void vram_clear(vram *v);

// Copies the configuration of one handle into another. Both must be live.
void vram_copy(vram *to, const vram *from);

// The last error; code is VRAM_OK if there is none. Valid until the next call with v.
const struct vram_message *vram_error(const vram *v);
const char *vram_code_name(int code);
const char *vram_category_name(uint32_t category);
const char *vram_basis_name(uint32_t basis);
const char *vram_version(void);

// ---- configuration ----------------------------------------------------------------------------

// Sets one field from text: "16", "1e6" is refused for a count, "true", "bfloat16", "0.1".
// key may be a field of fields.def or one of its aliases, "preset", or "gpu".
// Errors: VRAM_EKEY (with a suggestion), VRAM_EVALUE, VRAM_ERANGE, VRAM_EPRESET, VRAM_EGPU.
int vram_set(vram *v, const char *key, const char *value);
int vram_set_n(vram *v, const char *key, size_t key_len, const char *value, size_t value_len);
int vram_set_u64(vram *v, const char *key, uint64_t value);

// Writes a field's value as text that vram_set reads back. Returns the length without the NUL that
// is always written when cap > 0, or a negative code.
int vram_get(vram *v, const char *key, char *out, size_t cap);

// The stored number: counts as they are, enum and bool as their index, fractions in millionths.
int vram_get_u64(vram *v, const char *key, uint64_t *value);

// A row of fields.def as data, for help, forms and schemas. NULL past the end.
struct vram_field {
    const char *key, *aliases;  // aliases separated by spaces, "" if none
    const char *type;           // "count", "bool", "fraction", "enum"
    const char *unit, *group, *help;
    uint64_t initial, min, max;     // stored numbers; fractions in millionths
    const char *const *values;      // enum: names, NULL at the end; else NULL
    const char *const *value_help;  // enum: one line each
};
const struct vram_field *vram_field_at(size_t index);
const struct vram_field *vram_field_find(const char *key);  // by key or alias; NULL if unknown

// What kind of text vram_parse gets.
#define VRAM_KINDS(X) \
    X(FLAT, "flat", "key = value lines, # comments") \
    X(NANOGPT, "nanogpt", "nanoGPT's config/*.py or train.py") \
    X(HF, "hf", \
      "a Hugging Face config.json, flattened by the caller to key = value lines (a.b for " \
      "nesting)") \
    X(LOG, "log", "a training log: parameter counts and the echoed configuration")

enum vram_kind {
#define X(id, name, text) VRAM_KIND_##id,
    VRAM_KINDS(X)
#undef X
        VRAM_KIND_COUNT
};

// Reads text into the configuration. file is a name for messages only; nothing is opened.
// Unknown keys that belong to training but not to memory (learning_rate, ...) are accepted.
int vram_parse(vram *v, enum vram_kind kind, const char *text, size_t len, const char *file);

// Remarks of the parsing so far, one a line: what a text says twice and differently. "" if there
// are none.
const char *vram_notes(const vram *v);

// Checks the configuration as a whole. Errors: VRAM_EMODEL, VRAM_EOVERFLOW, VRAM_EUNSUPPORTED.
int vram_check(vram *v);

// ---- estimate ---------------------------------------------------------------------------------

// Runs the step: model, trace, replay through the caching allocator, report. Checks first.
int vram_run(vram *v);
const struct vram_result *vram_result(const vram *v);  // NULL before a successful run

// The peak of live bytes alone, without a replay: the same number as peak_live.bytes of vram_run,
// many times faster. Keeps its tables from call to call, so a sweep through one handle is fastest.
int vram_live_peak(vram *v, uint64_t *bytes);

// Seconds of one optimizer step by a roofline: its operations at 40 % of the card's dense rate, and its weights read at
// the card's bandwidth; an RTX 4070 where no gpu is set. Good for ratios between configurations, not for a clock.
// Errors: those of vram_check; VRAM_EUNSUPPORTED for inference.
int vram_step_seconds(vram *v, double *seconds);

// Calls fn for every event of the run that vram_run would make. Stops when fn returns non-zero and
// returns that.
typedef int vram_event_fn(void *ctx, const struct vram_event *event);
int vram_trace(vram *v, vram_event_fn *fn, void *ctx);

// Parameter tensors in order; index from 0. Returns VRAM_EARG past the end.
int vram_param_at(vram *v, uint64_t index, struct vram_param *out);

// ---- text -------------------------------------------------------------------------------------
// These fill the handle's text; vram_text gives it. It stays until the next call of this section.

#define VRAM_FORMATS(X) \
    X(TEXT, "text") \
    X(JSON, "json") X(CSV, "csv") X(MD, "md") X(SVG, "svg") X(VIZ, "viz") X(PERFETTO, "perfetto")

enum vram_format {
#define X(id, name) VRAM_FORMAT_##id,
    VRAM_FORMATS(X)
#undef X
        VRAM_FORMAT_COUNT
};

const char *vram_text(const vram *v, size_t *len);  // NUL-terminated; "" before the first

int vram_emit(vram *v, enum vram_format format);        // report of the last run: text json csv md
int vram_emit_error(vram *v, enum vram_format format);  // the last error: text json
int vram_emit_config(vram *v,
                     enum vram_format format);  // configuration that can be pasted: text json
int vram_emit_trace(vram *v, enum vram_format format);  // csv, viz (PyTorch memory_viz), perfetto
int vram_emit_timeline(vram *v, enum vram_format format);  // svg
int vram_emit_gpus(vram *v, enum vram_format format);      // text json csv md
int vram_emit_presets(vram *v, enum vram_format format);
int vram_emit_fields(
    vram *v, enum vram_format format);  // text: help; json: JSON Schema of the config; md: table

// Does it fit in the card set by "gpu"? *fits gets the answer; the text says why.
int vram_fit(vram *v, bool *fits, enum vram_format format);

// The largest batch_size that fits. VRAM_ENOFIT if not even 1 does.
int vram_max_batch(vram *v, uint64_t *batch, enum vram_format format);

// Ranked changes with bytes saved, slowdown, effect on the result.
int vram_advise(vram *v, enum vram_format format);

// ranges: "batch_size=1:64 block_size=256,512,1024".
int vram_sweep(vram *v, const char *ranges, enum vram_format format);

// Reads PyTorch's out-of-memory message and names the tensor that did not fit.
// with_config: explain against this handle's configuration; false: propose shapes that give the
// size.
int vram_explain_oom(vram *v, const char *text, size_t len, bool with_config,
                     enum vram_format format);

// The same configuration by other people's formulas.
int vram_compare(vram *v, enum vram_format format);

// ---- cards ------------------------------------------------------------------------------------

struct vram_gpu {
    const char *name;                                // "RTX 4070"
    uint64_t memory_bytes;                           // as the driver reports it
    uint64_t bandwidth_mb_s;                         // 10^6 bytes a second
    uint64_t fp16_gflops, bf16_gflops, fp32_gflops;  // dense; 0 = not supported
    uint32_t compute_capability;                     // 89 for 8.9; AMD: 0
    uint32_t sm_count;                               // multiprocessors or compute units
    const char *source;  // address of the datasheet; NULL where left out to save space
};
const struct vram_gpu *vram_gpu_at(size_t index);  // NULL past the end
const struct vram_gpu *
vram_gpu_find(const char *name);  // case and spaces do not matter; NULL if unknown

#ifdef __cplusplus
}
#endif

#endif
