// libvram: does it fit, and with how much: the verdict, largest values, cards, servers.

#ifndef VRAM_FIT_H
#define VRAM_FIT_H

#include "estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vram_fit {
    uint32_t verdict;            // enum vram_verdict
    uint64_t alloc_retries;      // as in vram_result
    struct vram_figure process;  // what has to fit: needed of vram_result
    uint64_t gpu_bytes;          // what it is held against, as in vram_result
    const char *gpu_name;
    struct vram_capacity capacity;
    const struct vram_message *notes;  // as in vram_result
    size_t note_count;
};

// Against the card set by "gpu", "gpu_memory" or "cuda_memory". Errors: VRAM_EGPU without one;
// those of vram_run.
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
    const struct vram_message *notes;    // of the texts, then on the configuration as it is
    size_t note_count;
};
VRAM_API int vram_max_batch(vram *v, const struct vram_max_batch **out);

// Which value of a field is looked for, and how.
#define VRAM_GOALS(X) \
    X(LARGEST, "largest", "more takes more memory") \
    X(SMALLEST, "smallest", "more takes less")
#define VRAM_METHODS(X) \
    X(BISECTION, "bisection", \
      "doubling, then halving the gap: memory only rises or only falls with the field") \
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
    uint32_t goal, method;   // enum vram_goal, enum vram_method
    bool found, safe_found;  // a value that fits; one that does so with the whole error bound
    uint32_t tried;          // configurations
    uint64_t configured;     // the field as it is
    uint64_t value, safe_value;
    uint64_t process_bytes;  // with value
    uint64_t gpu_bytes;
    const char *gpu_name;
    const struct vram_message
        *limit;  // where it is not memory: why there is no larger value, or NULL
    const struct vram_message *refusal;  // that nothing fits, or NULL
    struct vram_capacity capacity;
    const struct vram_message *notes;  // as in vram_max_batch
    size_t note_count;
};

// The largest or smallest value of a field with which the run fits its card, everything else as it
// is configured. Errors: VRAM_EKEY; VRAM_EVALUE for a field that is none of vram_solvable_at;
// VRAM_EGPU; those of vram_check.
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
    const struct vram_message *notes;    // as in vram_max_batch
    size_t note_count;
};

// Every card of the table, and every number of it up to VRAM_CARDS_MOST, that the run fits. Several
// train under the configuration's own scheme, or where it has none under fsdp2 (nanoGPT: ddp); they
// generate by tensor_parallel. gpu, gpu_memory and cuda_memory of the configuration do not matter.
// Errors: those of vram_check.
VRAM_API int vram_cards(vram *v, const struct vram_cards **out);

// What a server of the model has room for: vLLM, or llama.cpp where a format is one of its types.
// Every figure is of one GPU of tensor_parallel.
struct vram_serving {
    const char *server;  // "vllm", "llama.cpp"
    uint64_t params;
    uint64_t weights_bytes;
    uint64_t
        work_bytes;  // the peak of vLLM's profile run over its weights; llama.cpp's compute buffer
    uint64_t context_bytes;                   // the CUDA context
    uint64_t pool_bytes;                      // left for the cache
    uint64_t token_bytes;                     // of the cache, all layers
    uint64_t block_tokens, blocks, tokens;    // that the pool has
    uint64_t batched_tokens, most_sequences;  // of a step of vLLM; 0 with llama.cpp
    uint64_t length;                          // seq_len + max_new_tokens
    uint64_t sequences;                       // of that length at once
    uint64_t longest;    // context of one sequence, at most what the model knows
    uint64_t gpu_bytes;  // what of the card is free
    const char *gpu_name;
    const struct vram_message *note;     // what it rests on
    const struct vram_message *refusal;  // why nothing can be served, or NULL
    struct vram_capacity capacity;       // of the card
};

// By weights, work memory and cache alone, without a step of PyTorch. Errors: VRAM_EGPU without a
// card; VRAM_EMODEL.
VRAM_API int vram_serve(vram *v, const struct vram_serving **out);

#ifdef __cplusplus
}
#endif

#endif
