// Owns what a family has, by families.def and by what a configuration chooses, and the runs that a
// family is not modelled with.

#include "calc/model/family.h"

#include "calc/model/framework.h"
#include "calc/model/precision.h"
#include "calc/model/scheme.h"

static const uint64_t family_table[family_COUNT] = {
#define FAMILY_ROW(id, features) [FAMILY_##id] = features,
#include "calc/model/families.def"
};

uint64_t family_has(const struct vram_config *c)
{
    return family_table[c->family];
}

uint64_t family_features(const struct vram_config *c)
{
    uint64_t has = family_has(c) | framework_of(c)->features;
    uint64_t parallel = HAS_PARALLEL_RESIDUAL | HAS_NORM_BIASES;
#ifndef VRAM_SMALL
    if ((has & HAS_EVERY_TOKEN) && framework_goes(c, BY_PERMUTED_EXPERTS))
        has &= ~(HAS_EVERY_TOKEN | HAS_HELD_NORM | HAS_FOURTH_PLAIN | HAS_COMPLEX_ROTARY |
                 HAS_NEW_CODE);
#endif
    if ((has & parallel) == parallel && c->parallel_norms == 1)
        has |= HAS_SHARED_NORM;
    return framework_goes(c, BY_ONE_LAYER) ? has & ~HAS_PICKED_KEYS : has;
}

enum {
    SERVES = 1 << 0,
    SCORES = 1 << 1,
    STAGES = 1 << 2,
    VECTORS = 1 << 3,
    QUANTIZED = 1 << 4,
    KERNELS = 1 << 5,
    FUSED = 1 << 6,
    LOSSES = 1 << 7,
    DIVIDED = 1 << 8,
    OTHERS = 1 << 9,
    OLD = 1 << 10,
    UNPACKED = 1 << 11,
    FLASH_2 = 1 << 12,
    LOOPED = 1 << 13,
    HALF = 1 << 14,
    GATHERED = 1 << 15,
    LOOSE = 1 << 16,
    EAGER = 1 << 17
};

static const struct family_limit {
    uint64_t feature;
    unsigned runs;
    message_id message;
} family_limits[] = {
#define FAMILY_LIMIT(feature, runs, message) {feature, runs, MESSAGE_##message},
#include "calc/model/family_limits.def"
};

// Formats other than bitsandbytes' take experts out of the two tensors that transformers 5 has them
// in; bitsandbytes takes every nn.Linear, which Phi-3.5-MoE's router and a part of Gemma 4's are.
// SRC: transformers 5.23 integrations/bitsandbytes.py (replace_with_bnb_linear),
// models/phimoe/modeling_phimoe.py (PhimoeTopKRouter).
static bool family_experts_loose(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    if ((c->n_expert && family_is_gemma4(c)) || c->family == FAMILY_PHIMOE)
        return c->quantization != QUANTIZATION_NONE;
#endif
    return c->n_expert && c->quantization > QUANTIZATION_NF4_DOUBLE;
}

// Of those that the small module has no rows for.
static unsigned family_whole_runs(const struct vram_config *c)
{
    return MODEL_IS_WHOLE * ((c->attention == ATTENTION_FLASH_2) * FLASH_2 |
                             family_experts_loose(c) * LOOSE | (c->transformers < 5018) * LOOPED |
                             precision_is_float16(c) * HALF | scheme_divides_weights(c) * GATHERED |
                             (c->task == TASK_INFERENCE && c->transformers < 5015) * UNPACKED);
}

// transformers' own scores are modelled in the whole module alone.
static unsigned family_small_runs(const struct vram_config *c)
{
    bool eager = !MODEL_IS_WHOLE && c->attention == ATTENTION_MATH && c->task == TASK_TRAIN &&
                 framework_goes(c, BY_TRANSFORMERS) && c->mode != MODE_REFERENCE;
    return eager * EAGER;
}

// Families that torchtitan has in a form of its own.
static bool family_is_torchtitans(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    return framework_goes(c, BY_PERMUTED_EXPERTS) &&
           (c->family == FAMILY_LLAMA4 || c->family == FAMILY_LLAMA4_BARE || family_is_deepseek(c));
#else
    (void)c;
    return false;
#endif
}

// What of family_limits.def a run is. mode=reference goes by no version's code.
static unsigned family_runs(const struct vram_config *c)
{
    uint64_t loss = c->cross_entropy;
    bool vectors = c->adapter == ADAPTER_DORA || c->adapter == ADAPTER_IA3;
    return (c->task == TASK_INFERENCE) * SERVES |
           (c->attention == ATTENTION_MATH || c->attention == ATTENTION_FLASH_2) * SCORES |
           family_whole_runs(c) | family_small_runs(c) | (c->pipeline_parallel > 1) * STAGES |
           (c->lora_rank && vectors) * VECTORS | (c->quantization > 0) * QUANTIZED |
           (c->kernels > 0) * KERNELS | config_fuses_head(c) * FUSED |
           (loss > CROSS_ENTROPY_UPCAST && !config_compiles_loss(c)) * LOSSES |
           (c->tensor_parallel > 1 && !family_is_torchtitans(c)) * DIVIDED |
           (!framework_goes(c, BY_TRANSFORMERS) && !family_is_torchtitans(c)) * OTHERS |
           (c->transformers < 5000 || c->torch < 2009 || c->mode == MODE_REFERENCE) * OLD;
}

int family_check(const struct vram_config *c, struct message *e)
{
    uint64_t has = family_features(c);
    unsigned runs = family_runs(c);
    const char *name = vram_field_at(FIELD_family)->values[c->family];
#ifndef VRAM_SMALL
    if (c->family == FAMILY_GEMMA3N && c->quantization)
        return err_set(e, MESSAGE_streams_quantized, NO_POS, ABOUT("family", "quantization"),
                       ARGS(arg_text("family", name)));
#endif
    for (unsigned i = 0; i < sizeof family_limits / sizeof *family_limits; i++)
        if ((has & family_limits[i].feature) && (runs & family_limits[i].runs))
            return err_set(e, family_limits[i].message, NO_POS, ABOUT("family"),
                           ARGS(arg_text("family", name)));
    return VRAM_OK;
}
