// libvram: enumerations with the names that texts and JSON use.

#ifndef VRAM_WORDS_H
#define VRAM_WORDS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

// What kind of run a configuration is: measurements of one kind say little about another. The first
// that holds.
#define VRAM_REGIMES(X) \
    X(INFERENCE, "inference", "generation, with or without quantized weights") \
    X(OFFLOADED, "offloaded", "training with a part of it in the host's memory") \
    X(GPT2, "gpt2", "GPT-2 in training, eager or compiled, on one GPU") \
    X(COMPILED, "compiled", "training with torch.compile") \
    X(COMPILED_ADAPTERS, "compiled adapters", "adapters in blocks that torch.compile compiles") \
    X(MODEL_PARALLEL, "model parallel", "layers, tensors, sequences or experts divided over GPUs") \
    X(SHARDED_QUANTIZED_ADAPTERS, "sharded quantized adapters", \
      "adapters over quantized weights on several GPUs") \
    X(SHARDED_ADAPTERS, "sharded adapters", \
      "adapters over weights in two or four bytes on several GPUs") \
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
    X(RULE, "rule", \
      "not seen: the card's total less what the observed cards that are like it keep back") \
    X(TOTAL, "total", \
      "the card's total: Windows, WSL2, and cards of other makers keep nothing back") \
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

#ifdef __cplusplus
}
#endif

#endif
