// Owns what a family has, by families.def and by what a configuration chooses, and the runs that a
// family is not modelled with.

#include "calc/model/family.h"

#include "calc/model/framework.h"
#include "calc/model/precision.h"
#include "calc/model/scheme.h"
#include "calc/model/wrapped.h"

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
    EAGER = 1 << 17,
    ADAPTED = 1 << 18
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

// Families with experts that PEFT leaves alone: each matrix of all of them is a parameter, and no
// conversion of target_modules into target_parameters is theirs. A model that sees has a model_type
// of its own, which has none. SRC: transformers 5.23 conversion_mapping.py
// (_MODEL_TO_CONVERSION_PATTERN), peft 0.21 utils/transformers_weight_conversion.py
// (_MOE_TARGET_MODULE_MAPPING; all-linear since 0.20, lists since 0.19).
static bool family_experts_bare(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    static const uint8_t families[] = {FAMILY_QWEN2_MOE, FAMILY_QWEN3_5_MOE, FAMILY_PHIMOE,
                                       FAMILY_LLAMA4,    FAMILY_LLAMA4_BARE, FAMILY_GRANITE_MOE};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (c->family == families[i])
            return true;
    if (c->family == FAMILY_QWEN3_MOE && c->tower_params)
        return true;
#endif
    return c->family == FAMILY_GPT_OSS;
}

// Adapters over parameters write out their products, as large as all experts (ParamWrapper); up to
// transformers 4 and in LitGPT each expert has linear layers, and they adapters. IA3 knows no
// parameters. SRC: peft 0.21 tuners/lora/layer.py; litgpt lora.py (LLaMAMoE).
bool family_adapts_experts(const struct vram_config *c)
{
    uint64_t inner = CONFIG_BIT(TARGET_GATE) | CONFIG_BIT(TARGET_UP) | CONFIG_BIT(TARGET_DOWN);
    bool vectors = c->adapter == ADAPTER_IA3 && (!MODEL_IS_WHOLE || c->transformers >= 5000);
    bool named = (c->lora_targets & inner) && !vectors && !family_experts_bare(c);
#ifndef VRAM_SMALL
    uint64_t parameters = CONFIG_BIT(TARGET_EXPERTS_UP) | CONFIG_BIT(TARGET_EXPERTS_DOWN) |
                          CONFIG_BIT(TARGET_EXPERTS);
    named = named || (c->lora_targets & parameters);
#endif
    return c->n_expert && c->lora_rank && named;
}

static bool family_adapts_unmodelled(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    if (wrapped_modelled(c))
        return false;
#endif
    return family_adapts_experts(c);
}

// What of family_limits.def a run is. mode=reference goes by no version's code.
static unsigned family_runs(const struct vram_config *c)
{
    uint64_t loss = c->cross_entropy;
    bool vectors = c->adapter == ADAPTER_DORA || c->adapter == ADAPTER_IA3;
    return (c->task == TASK_INFERENCE) * SERVES |
           (c->attention == ATTENTION_MATH || c->attention == ATTENTION_FLASH_2) * SCORES |
           family_whole_runs(c) | family_small_runs(c) | (c->pipeline_parallel > 1) * STAGES |
           (c->lora_rank && vectors) * VECTORS | family_adapts_unmodelled(c) * ADAPTED |
           (c->quantization > 0) * QUANTIZED | (c->kernels > 0) * KERNELS |
           config_fuses_head(c) * FUSED |
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
            return err_set(e, family_limits[i].message, NO_POS,
                           ABOUT(MODEL_IS_WHOLE && family_limits[i].runs == ADAPTED ? "lora_targets"
                                                                                    : "family"),
                           ARGS(arg_text("family", name)));
#ifndef VRAM_SMALL
    return wrapped_check(c, e);
#else
    return VRAM_OK;
#endif
}
