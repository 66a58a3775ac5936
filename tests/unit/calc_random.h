// Configurations by chance, for tests that compare two ways to the same numbers.

#ifndef TESTS_UNIT_CALC_RANDOM_H
#define TESTS_UNIT_CALC_RANDOM_H

#include "calc/replay/engine.h"
#include "tests/unit/calc_fixture.h"

static inline struct engine *engine_in(const vram *v)
{
    return v->parts[HANDLE_ENGINE].ptr;
}

static inline uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static inline uint64_t between(uint64_t *seed, uint64_t low, uint64_t high)
{
    return low + next_random(seed) % (high - low + 1);
}

static inline void set_number(vram *v, const char *key, uint64_t n)
{
    if (vram_set_u64(v, key, n) != VRAM_OK)
        fail_msg("%s=%llu: %s", key, (unsigned long long)n, vram_error(v)->text);
}

// A field's value by chance, within its range.
static inline void set_any(vram *v, uint64_t *seed, const char *key)
{
    const struct vram_field *f = vram_field_find(key);
    set_number(v, key, between(seed, f->min, f->max));
}

static inline void set_random(vram *v, uint64_t *seed)
{
    static const char *const any[] = {"mode",          "dtype",     "attention", "optimizer",
                                      "checkpointing", "bias",      "family",    "tie_embeddings",
                                      "keep_logits",   "evaluation"};
    uint64_t heads = between(seed, 1, 8);
    vram_clear(v);
    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        set_any(v, seed, any[i]);
    if (next_random(seed) % 3)  // the families that are modelled in most runs come first
        set_number(v, "family", between(seed, FAMILY_GPT2, FAMILY_GLM4));
    set_number(v, "cross_entropy", between(seed, 0, CROSS_ENTROPY_INPLACE));  // DPO's come behind
    set_number(v, "n_layer", between(seed, 1, 9));
    set_number(v, "n_head", heads);
    set_number(v, "n_embd", heads * 2 * between(seed, 1, 64));
    set_number(v, "vocab_size", between(seed, 1, 60000));
    set_number(v, "batch_size", between(seed, 1, 16));
    set_number(v, "block_size", between(seed, 1, 600));
    set_number(v, "gradient_accumulation_steps", between(seed, 1, 3));
    set_number(v, "checkpoint_every", between(seed, 1, 4));
    set_number(v, "use_reentrant", next_random(seed) % 2);
    set_number(v, "dropout", next_random(seed) % 3 ? 0 : 100000);
    set_number(v, "grad_clip", next_random(seed) % 2 ? 0 : 1000000);
    if (next_random(seed) % 4 == 0 && vram_set(v, "family", "qwen3_moe") == VRAM_OK)
        set_number(v, "n_expert", between(seed, 2, 8));
    if (next_random(seed) % 4 == 0)
        set_number(v, "lora_rank", between(seed, 1, 16));
    if (next_random(seed) % 3 == 0) {
        set_any(v, seed, "parallel");
        set_any(v, seed, "bucket_view");
        set_number(v, "n_gpu", between(seed, 1, 9));
    }
    if (next_random(seed) % 24 == 0) {
        set_any(v, seed, "offload_optimizer");
        set_any(v, seed, "offload_params");
        set_any(v, seed, "offload_activations");
        set_number(v, "reduce_bucket_size", between(seed, 0, 100000));
    }
    if (next_random(seed) % 4 == 0)
        set_number(v, "pipeline_parallel", between(seed, 1, 4));
    if (heads % 2 == 0 && next_random(seed) % 4 == 0) {
        set_number(v, "tensor_parallel", 2);
        set_any(v, seed, "sequence_parallel");
    }
    if (next_random(seed) % 12 == 0) {
        set_number(v, "eval_batch_size", between(seed, 1, 5));
        set_number(v, "eval_accumulation_steps", between(seed, 0, 5));
    }
}

#endif
