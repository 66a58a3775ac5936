// libvram: a training configuration in, the GPU memory of the run out.
//
// A handle holds one configuration, the memory that the caller lends, the last error and the last
// answers. Nothing is global; two handles may be used by two threads at the same time.
//
//     struct vram_mem mem = vram_mem_malloc();
//     vram *v = vram_new(&mem);
//     vram_set(v, "preset", "gpt2");
//     vram_set(v, "batch_size", "8");
//     if (vram_run(v) == VRAM_OK)
//         printf("%llu\n", (unsigned long long)vram_result(v)->peak_reserved.bytes);
//     vram_free(v);
//
// Units: a size is a number of bytes in a uint64_t, unless its name says otherwise.
//
// Errors: a function that can fail returns VRAM_OK (0) or a negative enum vram_code, and
// vram_error(v) then has the message. A failed call leaves the handle usable.
//
// Owns: what a pointer in an answer points to belongs to the handle. It is valid until the next
// call that makes the same answer, or vram_free.
//
// ABI: a minor version adds functions, and members at the end of structs that the library fills.
// vram_abi_version() changes when anything that exists changes.

#ifndef VRAM_H
#define VRAM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if !defined(VRAM_FREESTANDING) && __STDC_HOSTED__
#include <stdlib.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VRAM_VERSION "0.1.0"
#define VRAM_ABI 2
#define VRAM_SCHEMA "vramcalc/1"  // of what is written as JSON

// Only what is marked so leaves the library.
#if defined(__GNUC__)
#define VRAM_API __attribute__((visibility("default")))
#else
#define VRAM_API
#endif

typedef struct vram vram;

VRAM_API const char *vram_version(void);      // VRAM_VERSION of the library itself
VRAM_API uint32_t vram_abi_version(void);     // VRAM_ABI of the library itself

// ---- memory --------------------------------------------------------------------------------

// Where the memory of a handle comes from. alloc returns storage aligned for any object, or NULL,
// at any call: the library then returns VRAM_ENOMEM. free gets the size that was asked for.
typedef struct vram_mem {
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *ptr, size_t bytes);
    void *ctx;
} vram_mem;

#if !defined(VRAM_FREESTANDING) && __STDC_HOSTED__
static inline void *vram_malloc_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static inline void vram_malloc_free(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(ptr);
}

// The memory of malloc and free.
static inline struct vram_mem vram_mem_malloc(void)
{
    struct vram_mem mem = {vram_malloc_alloc, vram_malloc_free, NULL};
    return mem;
}
#endif

// ---- words: enumerations with the names that texts and JSON use ------------------------------

// Identifier, number, name, meaning.
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
    X(VRAM_EGPU, -9, "unknown-gpu", "no GPU has this name, or none is chosen") \
    X(VRAM_EUNSUPPORTED, -10, "unsupported", "this combination is not modelled") \
    X(VRAM_ENOTRUN, -11, "not-run", "the answer has not been asked for yet") \
    X(VRAM_EARG, -12, "bad-argument", "the function was called wrongly") \
    X(VRAM_ENOFIT, -13, "does-not-fit", "nothing fits in the card")

enum vram_code {
#define X(id, number, name, text) id = number,
    VRAM_CODES(X)
#undef X
};
VRAM_API const char *vram_code_name(int code);

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
VRAM_API const char *vram_category_name(uint32_t category);

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
VRAM_API const char *vram_basis_name(uint32_t basis);

// Does the process fit in the card?
#define VRAM_VERDICTS(X) \
    X(NO_GPU, "no card", "no card is chosen") \
    X(FITS, "fits", "with the whole error bound") \
    X(TIGHT, "tight", "by the figure, but not with the whole error bound") \
    X(NEARLY, "nearly", "not by the figure, but with the lower end of the error bound") \
    X(TOO_BIG, "too big", "not even with the lower end of the error bound")

enum vram_verdict {
#define X(id, name, text) VRAM_VERDICT_##id,
    VRAM_VERDICTS(X)
#undef X
    VRAM_VERDICT_COUNT
};
VRAM_API const char *vram_verdict_name(uint32_t verdict);

// What kind of run a configuration is: measurements of one kind say little about another. The first that holds.
#define VRAM_REGIMES(X) \
    X(INFERENCE, "inference", "generation, with or without quantized weights") \
    X(GPT2, "gpt2", "GPT-2 in training, eager or compiled, on one GPU") \
    X(COMPILED, "compiled", "training with torch.compile") \
    X(MODEL_PARALLEL, "model parallel", "layers, tensors, sequences or experts divided over GPUs") \
    X(SHARDED_QUANTIZED_ADAPTERS, "sharded quantized adapters", "adapters over quantized weights on several GPUs") \
    X(SHARDED_ADAPTERS, "sharded adapters", "adapters over weights in two or four bytes on several GPUs") \
    X(SHARDED, "sharded", "all weights trained on several GPUs") \
    X(QUANTIZED_ADAPTERS, "quantized adapters", "adapters over quantized weights on one GPU") \
    X(ADAPTERS, "adapters", "adapters over weights in two or four bytes on one GPU") \
    X(FULL, "full", "all weights trained on one GPU")

enum vram_regime {
#define X(id, name, text) VRAM_REGIME_##id,
    VRAM_REGIMES(X)
#undef X
    VRAM_REGIME_COUNT
};
VRAM_API const char *vram_regime_name(uint32_t regime);

static inline bool vram_verdict_fits(uint32_t verdict)
{
    return verdict == VRAM_VERDICT_FITS || verdict == VRAM_VERDICT_TIGHT;
}

// Where CUDA's total of a card's memory comes from.
#define VRAM_CAPACITIES(X) \
    X(NONE, "none", "no card is chosen") \
    X(OBSERVED, "observed", "seen on such cards: the median of those with a current driver") \
    X(RULE, "rule", "not seen: the card's total less what the observed cards that are like it keep back") \
    X(TOTAL, "total", "the card's total: Windows, WSL2, and cards of other makers keep nothing back") \
    X(GIVEN, "given", "set as cuda_memory")

enum vram_capacity_basis {
#define X(id, name, text) VRAM_CAPACITY_##id,
    VRAM_CAPACITIES(X)
#undef X
    VRAM_CAPACITY_COUNT
};
VRAM_API const char *vram_capacity_name(uint32_t basis);

// What a number counts.
#define VRAM_UNITS(X) \
    X(NONE, "") \
    X(BYTES, "bytes") \
    X(MIB, "MiB") \
    X(TOKENS, "tokens") \
    X(SEQUENCES, "sequences") \
    X(MICRO_STEPS, "micro-steps") \
    X(LAYERS, "layers") \
    X(BLOCKS, "blocks") \
    X(HEADS, "heads") \
    X(ELEMENTS, "elements") \
    X(EXPERTS, "experts") \
    X(ROWS, "rows") \
    X(GPUS, "GPUs")

enum vram_unit {
#define X(id, name) VRAM_UNIT_##id,
    VRAM_UNITS(X)
#undef X
    VRAM_UNIT_COUNT
};
VRAM_API const char *vram_unit_name(uint32_t unit);

// ---- messages: sentences as data -------------------------------------------------------------

// A value of a sentence's placeholder.
struct vram_arg {
    const char *name;  // "max"
    const char *text;  // NULL: it is a number
    uint64_t number;
};

// An error, a note, a reason or a piece of advice. Nothing needs to read its text: what it is
// about is beside it, and a face in another language makes the sentence from id and args.
struct vram_message {
    const char *id;       // "out_of_range": a row of the library's table of sentences
    enum vram_code code;  // class of an error; VRAM_OK for other sentences
    const char *field;    // key of the field that it is about, or NULL
    const char *text;     // in English, one line, without the position; never NULL
    const char *file;     // of the text that was read, as its reader was told; NULL without a name
    uint32_t line, col;   // from 1; 0 where there is no text
    const struct vram_arg *args;
    size_t arg_count;
};

// Gets messages one by one. The message is valid during the call.
typedef void vram_message_fn(void *ctx, const struct vram_message *message);

// The rows of the table, for translations: id and code are set, text has its {placeholders}.
// NULL past the end.
VRAM_API const struct vram_message *vram_message_at(size_t index);

// ---- a handle's life -------------------------------------------------------------------------

// A handle with every field at its default. NULL if mem has none. *mem is copied.
VRAM_API vram *vram_new(const vram_mem *mem);
VRAM_API void vram_free(vram *v);  // NULL is allowed

// Puts every field back to its default and forgets answers, notes and error.
VRAM_API void vram_clear(vram *v);

// Copies the configuration of one handle into another. Both must be live.
VRAM_API void vram_copy(vram *to, const vram *from);

// The last error; its code is VRAM_OK if there is none. Valid until the next call with v.
VRAM_API const struct vram_message *vram_error(const vram *v);

// Notes of the texts that were read: what was guessed, what a text says twice and differently.
// NULL past the end. Valid until the next call that sets or reads something.
VRAM_API const struct vram_message *vram_note_at(const vram *v, size_t index);

// ---- configuration ---------------------------------------------------------------------------

// Sets one field from text: "16", "true", "bfloat16", "0.1".
// key: a field of vram_field_at or one of its aliases, "preset", or "gpu".
// Errors: VRAM_EKEY, VRAM_EVALUE, VRAM_ERANGE, VRAM_EPRESET, VRAM_EGPU.
VRAM_API int vram_set(vram *v, const char *key, const char *value);
VRAM_API int vram_set_n(vram *v, const char *key, size_t key_len, const char *value,
                        size_t value_len);
VRAM_API int vram_set_u64(vram *v, const char *key, uint64_t value);

// Writes a field's value as text that vram_set reads back. Returns the length without the NUL that
// is always written when cap > 0, or a negative code.
VRAM_API int vram_get(vram *v, const char *key, char *out, size_t cap);

// The stored number: counts as they are, enum and bool as their index, fractions in millionths, versions as
// 1000 * major + minor, a set as a bit for each of its values.
VRAM_API int vram_get_u64(vram *v, const char *key, uint64_t *value);

enum vram_type {
    VRAM_TYPE_COUNT,
    VRAM_TYPE_BOOL,
    VRAM_TYPE_FRACTION,
    VRAM_TYPE_ENUM,
    VRAM_TYPE_SET,
    VRAM_TYPE_VERSION
};

// A row of the table of fields, for help, forms and schemas.
struct vram_field {
    const char *key, *aliases;      // aliases separated by spaces, "" if none
    const char *group, *help;
    uint32_t type, unit;            // enum vram_type, enum vram_unit
    uint64_t initial, min, max;     // stored numbers; fractions in millionths
    const char *const *values;      // enum and set: names, NULL at the end; else NULL
    const char *const *value_help;  // enum and set: one line each
};
VRAM_API const struct vram_field *vram_field_at(size_t index);       // NULL past the end
VRAM_API const struct vram_field *vram_field_find(const char *key);  // by key or alias, or NULL

// What kind of text vram_parse gets.
#define VRAM_KINDS(X) \
    X(FLAT, "flat", "key = value lines, # comments") \
    X(NANOGPT, "nanogpt", "nanoGPT's config/*.py or train.py") \
    X(HF, "hf", \
      "a Hugging Face config.json, flattened to key = value lines (a.b for nesting)") \
    X(LOG, "log", "a training log: parameter counts and the echoed configuration") \
    X(AUTO, "auto", "whichever of these the text's own keys say") \
    X(TRAINER, "trainer", "the Hugging Face trainer's arguments: YAML, JSON or a Python call") \
    X(SFT, "sft", "TRL's SFTConfig: YAML, JSON or a Python call") \
    X(ADAPTER, "adapter", "PEFT's adapter_config.json") \
    X(GENERATION, "generation", "transformers' generation_config.json") \
    X(DEEPSPEED, "deepspeed", "DeepSpeed's JSON") \
    X(ACCELERATE, "accelerate", "accelerate's YAML") \
    X(AXOLOTL, "axolotl", "axolotl's YAML") \
    X(LLAMAFACTORY, "llamafactory", "LLaMA-Factory's YAML") \
    X(LITGPT, "litgpt", "LitGPT's YAML") \
    X(NANOTRON, "nanotron", "nanotron's YAML") \
    X(TORCHTUNE, "torchtune", "torchtune's YAML") \
    X(TORCHTITAN, "torchtitan", "torchtitan's TOML, or the file that it saves")

enum vram_kind {
#define X(id, name, text) VRAM_KIND_##id,
    VRAM_KINDS(X)
#undef X
    VRAM_KIND_COUNT
};

// Reads text into the configuration, over what is there: several files of one run are read one after
// the other. file is a name for messages only; nothing is opened.
// Keys that belong to training but not to memory (learning_rate, ...) are accepted; a key that is not
// known is a warning, as is one that makes the run take less than is modelled.
// each gets every error, and every warning (its code is VRAM_OK), in the order in which they are
// found; NULL: no one does. Warnings are also notes of v. If there is an error, the configuration
// stays as it was, vram_error has the first and its code is returned.
VRAM_API int vram_parse(vram *v, enum vram_kind kind, const char *text, size_t len,
                        const char *file, vram_message_fn *each, void *ctx);

// A key and its value out of a structured file, and where they are in it (line 0: unknown).
struct vram_pair {
    const char *key;    // nested names joined by points: "text_config.hidden_size"
    const char *value;  // as vram_set takes it
    uint32_t key_line, key_col, value_line, value_col;
};

// As vram_parse, for a structured file that the caller has read: lists are values with commas between
// them, null is "null". kind is any but NANOGPT and LOG.
VRAM_API int vram_parse_pairs(vram *v, enum vram_kind kind, const struct vram_pair *pairs,
                              size_t count, const char *file, vram_message_fn *each, void *ctx);

// The kind of a text, without reading it into v: one of the structured kinds, FLAT, NANOGPT or LOG. AUTO: it is none that
// is known, or it cannot be read.
VRAM_API enum vram_kind vram_recognize(vram *v, const char *text, size_t len, const char *file);

// Checks the configuration as a whole. Errors: VRAM_EMODEL, VRAM_EOVERFLOW, VRAM_EUNSUPPORTED.
VRAM_API int vram_check(vram *v);

// ---- the library's tables --------------------------------------------------------------------

struct vram_gpu {
    const char *name;                                // "RTX 4070"
    uint64_t memory_bytes;                           // the total that nvidia-smi prints
    uint64_t bandwidth_mb_s;                         // 10^6 bytes a second
    uint64_t fp16_gflops, bf16_gflops, fp32_gflops;  // dense; 0 = not supported
    uint32_t compute_capability;                     // 89 for 8.9; AMD: 0
    uint32_t sm_count;                               // multiprocessors or compute units
    bool memory_reported;      // memory_bytes: seen as a driver's report; else the advertised size
    const char *architecture;
    const char *source, *source_note;  // address of the datasheet; this and the rest: NULL where left out to save space
    const char *memory_source, *memory_note;
};
VRAM_API const struct vram_gpu *vram_gpu_at(size_t index);  // NULL past the end
// Case, spaces, '-' and the makers' words do not matter. NULL if unknown.
VRAM_API const struct vram_gpu *vram_gpu_find(const char *name);

// The two totals of a card's memory.
struct vram_capacity {
    uint64_t total_bytes;  // as nvidia-smi prints it; 0 where only cuda_memory is known
    uint64_t cuda_bytes;   // as cudaMemGetInfo and PyTorch's messages say it: what processes can have
    uint64_t cuda_low_bytes, cuda_high_bytes;  // the extremes of what was seen; cuda_bytes where nothing was
    uint32_t basis;                            // enum vram_capacity_basis, of cuda_bytes
    uint32_t seen;                             // observations behind it
};

// The totals of a card of the table under a system: "linux" (or NULL), "windows". False for another
// card or system.
VRAM_API bool vram_gpu_capacity(const struct vram_gpu *card, const char *system,
                                struct vram_capacity *out);

struct vram_preset {
    const char *name, *what;
    const char *fields;  // "n_layer=12 n_head=12 ..."
    const char *run;     // fields of the way it is run, "" if it has none of its own
    const char *source;  // address of the configuration; "" where there is none
};
VRAM_API const struct vram_preset *vram_preset_at(size_t index);  // NULL past the end

// "Did you mean": the nearest of count names to a word of len bytes (edit distance, at most a third of
// its length), or NULL.
VRAM_API const char *vram_nearest(const char *word, size_t len, const char *const *names,
                                  size_t count);

// ---- estimate --------------------------------------------------------------------------------

// A figure with its error bound, which includes tolerance_permille of bytes.
struct vram_figure {
    uint64_t bytes;
    uint64_t low, high;
    uint32_t basis;                  // enum vram_basis
    uint32_t tolerance_permille;     // 0 for an exact figure
    uint32_t measurements;           // public ones of the same regime, 90 % of which are within the tolerance; 0: none
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
    struct vram_figure context;         // CUDA context and modules, outside the allocator
    struct vram_figure process;         // as nvidia-smi shows it: reserved + context
    uint64_t peak_requested_bytes;      // tensors and workspaces, unrounded
    uint64_t first_step_peak_bytes;     // peak of live bytes in iteration 0
    uint64_t steady_end_bytes;          // live after the last optimizer step
    uint64_t eval_peak_bytes;           // peak of live bytes in evaluation; 0 without one
    uint64_t cards_allocated_bytes;     // peak_allocated of every card of device_map, together
    uint64_t segments;                  // cudaMalloc'ed segments at the end
    uint64_t events;                    // allocations and frees replayed
    uint32_t iterations;                // run until reserved was stable
    uint32_t pipeline_stage;            // that takes most; 0 without a pipeline
    uint64_t gpu_bytes;                 // what CUDA offers of the card less other_memory; 0 without a card
    const char *gpu_name;               // NULL without one
    uint32_t verdict;                   // enum vram_verdict
    uint32_t regime;                    // enum vram_regime

    const char *peak_phase;  // where the peak of live bytes is: "bwd:it1.m1"
    const char *peak_op;     // "nll_loss_backward"
    int64_t peak_block;      // layer number, or -1

    const uint64_t *by_category;      // live bytes at the peak, by enum vram_category
    const struct vram_line *at_peak;  // live at the peak, largest first
    const struct vram_line *saved;    // saved for backward, largest first
    const struct vram_phase *phases;  // in order of time
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

// ---- the allocator at a moment ---------------------------------------------------------------

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

// What one cudaMalloc gave. With expandable_segments: a range of addresses that is mapped without a gap.
struct vram_segment {
    uint64_t bytes, used_bytes, largest_free_bytes;
    bool small;       // for requests of at most 1 MiB
    uint32_t stream;  // its free blocks serve that one alone; 0 is the program's own
    const struct vram_block *blocks;  // in order of address, without a gap
    size_t block_count;
};

struct vram_segments {
    uint32_t moment;           // enum vram_moment, as it was asked for
    uint64_t event, events;    // number of the event, from 0, as in vram_trace; how many the run has
    uint64_t event_bytes;      // that it asks for or gives back
    bool event_is_free;
    const char *name, *op, *phase;  // of the event
    uint64_t reserved_bytes;   // of all segments: memory_reserved
    uint64_t allocated_bytes;  // of the blocks that are handed out: memory_allocated
    uint64_t requested_bytes;  // by their tensors
    uint64_t pending_bytes;
    uint64_t free_blocks, largest_free_bytes;
    const struct vram_segment *segments;  // in order of address
    size_t segment_count;
};

// The segments and blocks of the allocator after an event of the run that vram_run would make; event counts for
// VRAM_MOMENT_EVENT alone. Errors: those of vram_run; VRAM_EARG for an event or a moment that is not there.
VRAM_API int vram_segments(vram *v, uint32_t moment, uint64_t event, const struct vram_segments **out);

// ---- does it fit, and with how much ----------------------------------------------------------

struct vram_fit {
    uint32_t verdict;  // enum vram_verdict
    struct vram_figure process;
    uint64_t gpu_bytes;  // what it is held against, as in vram_result
    const char *gpu_name;
    struct vram_capacity capacity;
};

// Against the card set by "gpu", "gpu_memory" or "cuda_memory". Errors: VRAM_EGPU without one; those of vram_run.
VRAM_API int vram_fit(vram *v, const struct vram_fit **out);

struct vram_max_batch {
    uint64_t batch_size;       // the largest that fits; 0: not even 1 does
    uint64_t safe_batch_size;  // the largest that does so with the whole error bound, or 0
    uint64_t gradient_accumulation_steps;  // with batch_size: keeps the sequences of a step
    uint64_t sequences;                    // of a step as it is configured
    uint64_t process_bytes, gpu_bytes;     // with batch_size
    const char *gpu_name;
    const struct vram_message *refusal;  // that nothing fits, or NULL
    struct vram_capacity capacity;       // of the card; gpu_bytes is what of it is left
};
VRAM_API int vram_max_batch(vram *v, const struct vram_max_batch **out);

// Which value of a field is looked for, and how.
#define VRAM_GOALS(X) \
    X(LARGEST, "largest", "more takes more memory") \
    X(SMALLEST, "smallest", "more takes less")
#define VRAM_METHODS(X) \
    X(BISECTION, "bisection", "doubling, then halving the gap: memory only rises or only falls with the field") \
    X(SCAN, "scan", "one value after the other")

enum vram_goal {
#define X(id, name, text) VRAM_GOAL_##id,
    VRAM_GOALS(X)
#undef X
    VRAM_GOAL_COUNT
};
enum vram_method {
#define X(id, name, text) VRAM_METHOD_##id,
    VRAM_METHODS(X)
#undef X
    VRAM_METHOD_COUNT
};
VRAM_API const char *vram_goal_name(uint32_t goal);
VRAM_API const char *vram_method_name(uint32_t method);

struct vram_solution {
    const char *field;
    uint32_t goal, method;     // enum vram_goal, enum vram_method
    bool found, safe_found;    // a value that fits; one that does so with the whole error bound
    uint32_t tried;            // configurations
    uint64_t configured;       // the field as it is
    uint64_t value, safe_value;
    uint64_t process_bytes;    // with value
    uint64_t gpu_bytes;
    const char *gpu_name;
    const struct vram_message *limit;    // where it is not memory: why there is no larger value, or NULL
    const struct vram_message *refusal;  // that nothing fits, or NULL
    struct vram_capacity capacity;
};

// The largest or smallest value of a field with which the run fits its card, everything else as it is configured.
// Errors: VRAM_EKEY; VRAM_EVALUE for a field that is none of vram_solvable_at; VRAM_EGPU; those of vram_check.
VRAM_API int vram_solve(vram *v, const char *field, const struct vram_solution **out);
VRAM_API const char *vram_solvable_at(size_t index);  // NULL past the end

// A number of cards of one kind that a run fits.
struct vram_card {
    const char *gpu_name;
    uint64_t count;
    const char *change;      // what several take: "parallel=fsdp2 n_gpu=4"; NULL: nothing
    uint64_t total_bytes;    // of all of them, as nvidia-smi prints it
    uint64_t gpu_bytes;      // that one has for the process
    uint64_t process_bytes;  // on the one that takes most
    uint64_t margin_bytes;   // that are left of gpu_bytes
    bool surely;             // with the whole error bound
};

enum { VRAM_CARDS_MOST = 8 };  // of one kind

struct vram_cards {
    const struct vram_card *cards;  // by total_bytes, then by count
    size_t card_count;
    uint64_t tried;                      // cards and numbers of them
    const struct vram_message *note;     // on several cards, or NULL
    const struct vram_message *refusal;  // that none fits, or NULL
};

// Every card of the table, and every number of it up to VRAM_CARDS_MOST, that the run fits. Several train under the
// configuration's own scheme, or where it has none under fsdp2 (nanoGPT: ddp); they generate by tensor_parallel.
// gpu, gpu_memory and cuda_memory of the configuration do not matter. Errors: those of vram_check.
VRAM_API int vram_cards(vram *v, const struct vram_cards **out);

// What a server of the model has room for: vLLM, or llama.cpp where a format is one of its types. Every figure is of one GPU
// of tensor_parallel.
struct vram_serving {
    const char *server;       // "vllm", "llama.cpp"
    uint64_t params;
    uint64_t weights_bytes;
    uint64_t work_bytes;      // the peak of vLLM's profile run over its weights; llama.cpp's compute buffer
    uint64_t context_bytes;   // the CUDA context
    uint64_t pool_bytes;      // left for the cache
    uint64_t token_bytes;     // of the cache, all layers
    uint64_t block_tokens, blocks, tokens;  // that the pool has
    uint64_t batched_tokens, most_sequences;  // of a step of vLLM; 0 with llama.cpp
    uint64_t length;          // seq_len + max_new_tokens
    uint64_t sequences;       // of that length at once
    uint64_t longest;         // context of one sequence, at most what the model knows
    uint64_t gpu_bytes;       // what of the card is free
    const char *gpu_name;
    const struct vram_message *note;     // what it rests on
    const struct vram_message *refusal;  // why nothing can be served, or NULL
    struct vram_capacity capacity;       // of the card
};

// By weights, work memory and cache alone, without a step of PyTorch. Errors: VRAM_EGPU without a card; VRAM_EMODEL.
VRAM_API int vram_serve(vram *v, const struct vram_serving **out);

// ---- what to change --------------------------------------------------------------------------

// What a change does to the training.
#define VRAM_EFFECTS(X) \
    X(SAME, "same", "the same training up to rounding") \
    X(CLOSE, "close", "the same model and data, another arithmetic") \
    X(DIFFERENT, "different", "another model, or other data in a step")

enum vram_effect {
#define X(id, name, text) VRAM_EFFECT_##id,
    VRAM_EFFECTS(X)
#undef X
    VRAM_EFFECT_COUNT
};
VRAM_API const char *vram_effect_name(uint32_t effect);

struct vram_change {
    const char *id;    // "micro_batch": a row of the library's table of changes
    const char *what;  // "batch_size=8 gradient_accumulation_steps=4"
    uint32_t effect;   // enum vram_effect
    const struct vram_message *result;      // what it does to the result
    const struct vram_message *how;         // the code to edit, or NULL where it is a setting
    const struct vram_message *refusal;     // why it cannot be done, or NULL
    const struct vram_message *cost_basis;  // what the cost rests on, or NULL
    bool cost_predicted;
    int64_t cost_permille;  // of a step's time, per token; negative: faster
    uint64_t process_bytes, saved_bytes;
    bool fits, fits_surely;  // surely: with the whole error bound
    bool in_plan;
    const char *line;  // what to write in the framework: "gradient_checkpointing=True"; NULL: nothing there
    bool by_tensors;   // these alone are more than the card has: not replayed, the allocator adds the part that it does now
};

struct vram_advice {
    uint64_t process_bytes;  // as it is configured
    uint64_t gpu_bytes;      // 0: no card is chosen
    const char *gpu_name;
    bool fits;
    const struct vram_change *changes;  // by effect; in each what is enough alone comes first
    size_t change_count;
    // The smallest set of the changes, taken in order, that fits; what it comes to.
    bool plan_found, plan_tight;  // tight: not with the whole error bound
    uint64_t plan_process_bytes;
    int64_t plan_cost_permille;
    struct vram_capacity capacity;  // of the card; gpu_bytes is what of it is left
    const char *framework;          // whose lines are given
};

// Changes that the configuration's framework has and that take less. Every number is that of a whole estimate, but for
// changes marked by_tensors. With a card that is too small there is a plan.
VRAM_API int vram_advise(vram *v, const struct vram_advice **out);

#define VRAM_PLAN SIZE_MAX

// Sets in `to` the configuration of v with a change of its last advice, or with all of its plan.
VRAM_API int vram_take_advice(vram *v, size_t change, vram *to);

// ---- other questions -------------------------------------------------------------------------

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
    bool driver;  // not PyTorch's allocator but the driver, a library or a server says it: no tensor is looked for
    bool has_config;
    const char *compile;          // with which the tensors are found; NULL: none are found
    const char *compile_as_asked; // as it is configured
    const struct vram_suspect *tensors;  // the likeliest first
    size_t tensor_count;
    const struct vram_shape *shapes;  // without a tensor: shapes that ask for this size
    size_t shape_count;
    const struct vram_message *hints;  // what to look at first, from the message alone
    size_t hint_count;
    const struct vram_advice *advice;  // NULL without a configuration
    const char *source;  // whose message it is: pytorch, cudaMallocAsync, cuda, triton, xla, llama.cpp, vllm, bitsandbytes, nccl, host
    const struct vram_message *about;  // where no tensor of PyTorch's is meant: what is; else NULL
};

// Reads an out-of-memory message, PyTorch's or another's. with_config: explains it against this configuration.
VRAM_API int vram_explain_oom(vram *v, const char *text, size_t len, bool with_config,
                              const struct vram_oom **out);

// Blocks of one size from one line of a program, or tensors of one name that were expected.
struct vram_snapshot_block {
    uint64_t bytes;       // of one, as it was asked for
    uint64_t count;
    const char *category; // what it is for, by its frames or its size; NULL: not known
    const char *file;     // the innermost frame outside of PyTorch; "" without frames. Of an expected tensor: the operation
    const char *name;     // of its function; of an expected tensor: its name
    uint64_t line;
};

struct vram_snapshot_segment {
    uint64_t address, bytes, allocated_bytes, largest_free_bytes, stream, blocks;
    bool small, expandable;
};

// A category's bytes: now, at the peak, and as estimated at the estimate's peak.
struct vram_snapshot_row {
    const char *category;  // as vram_category_name; "unknown" for what neither frames nor sizes tell
    uint64_t now_bytes, peak_bytes, estimated_bytes;
};

// What a memory snapshot of PyTorch says, of the device that has the most memory in it.
struct vram_snapshot {
    uint64_t device, devices;
    uint64_t reserved_bytes;    // of all segments
    uint64_t allocated_bytes;   // in blocks of tensors, as torch.cuda.memory_allocated
    uint64_t requested_bytes;   // what those asked for
    uint64_t pending_bytes;     // freed, and waited for by another stream
    uint64_t free_bytes, largest_free_bytes;  // in segments, without a tensor
    const char *settings;       // PYTORCH_CUDA_ALLOC_CONF, or NULL
    bool has_frames;            // recorded with stacks
    bool has_trace;             // with the history of allocations: the rest of this block
    uint64_t events;
    uint64_t peak_requested_bytes, peak_reserved_bytes;  // within the history
    bool has_oom;               // an allocation failed; the last that did
    uint64_t oom_bytes, oom_free_bytes;
    struct vram_snapshot_block oom_site;
    bool has_config;            // the rest of this block
    uint64_t estimated_requested_bytes, estimated_reserved_bytes;
    uint64_t matched_bytes;     // in blocks of which the estimate has a tensor of the same size
    uint64_t unmatched_bytes, missing_bytes;
    const struct vram_snapshot_row *rows;  // by enum vram_category, the unknown last
    // At the peak, or now where there is no history: the largest blocks; with a configuration those that the estimate has no
    // tensor for, and the tensors that it has and no block is.
    const struct vram_snapshot_block *blocks, *missing;
    const struct vram_snapshot_segment *segments;
    size_t row_count, block_count, missing_count, segment_count;
};

// Reads what torch.cuda.memory._dump_snapshot wrote, a pickle, or the same as JSON; nothing in it is run. file is a name for
// messages. with_config: holds it against this configuration. Errors: VRAM_EPARSE; those of vram_run.
VRAM_API int vram_read_snapshot(vram *v, const void *data, size_t len, const char *file, bool with_config,
                                const struct vram_snapshot **out);

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
};
VRAM_API int vram_compare(vram *v, const struct vram_comparison **out);

// ---- text ------------------------------------------------------------------------------------

#define VRAM_FORMATS(X) \
    X(TEXT, "text") \
    X(JSON, "json") \
    X(CSV, "csv") \
    X(MD, "md") \
    X(SVG, "svg") \
    X(VIZ, "viz") /* a pickle that pytorch.org/memory_viz opens */ \
    X(PERFETTO, "perfetto")

enum vram_format {
#define X(id, name) VRAM_FORMAT_##id,
    VRAM_FORMATS(X)
#undef X
    VRAM_FORMAT_COUNT
};

// What can be written. The first ten are the last answers of the functions above.
#define VRAM_ANSWERS(X) \
    X(REPORT, "report") \
    X(FIT, "fit") \
    X(MAX_BATCH, "max-batch") \
    X(SOLUTION, "solve") \
    X(CARDS, "cards") \
    X(SERVING, "serve") \
    X(ADVICE, "advice") \
    X(OOM, "explain-oom") \
    X(COMPARISON, "compare") \
    X(SNAPSHOT, "snapshot") \
    X(TRACE, "trace") /* runs the step */ \
    X(TIMELINE, "timeline") /* runs the step */ \
    X(CONFIG, "config") \
    X(ERROR, "error") \
    X(GPUS, "gpus") \
    X(PRESETS, "presets") \
    X(FIELDS, "fields") \
    X(SEGMENTS, "segments") /* the last answer, as the first nine */

enum vram_answer {
#define X(id, name) VRAM_ANSWER_##id,
    VRAM_ANSWERS(X)
#undef X
    VRAM_ANSWER_COUNT
};

VRAM_API bool vram_can_write(enum vram_answer answer, enum vram_format format);

enum { VRAM_WRITE_COLOR = 1 };  // text: with the escape codes of a terminal

// Writes an answer; vram_text has it until the next call of these three.
// Errors: VRAM_ENOTRUN before the answer was asked for; VRAM_EARG where vram_can_write is false.
VRAM_API int vram_write(vram *v, enum vram_answer answer, enum vram_format format, unsigned flags);

// vram_write as JSON of all but solution, cards, segments, snapshot and trace; it needs none of the other writers.
VRAM_API int vram_write_json(vram *v, enum vram_answer answer);

// vram_sweep with its rows as text, json, csv or md.
VRAM_API int vram_write_sweep(vram *v, const char *ranges, enum vram_format format);

VRAM_API const char *vram_text(const vram *v, size_t *len);  // NUL-terminated; "" before the first

#ifdef __cplusplus
}
#endif

#endif
