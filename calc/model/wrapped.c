// Owns which parameters of experts get adapters. SRC: peft 0.21 tuners/tuners_utils.py
// (inject_adapter, _inject_parameters), utils/transformers_weight_conversion.py
// (_convert_peft_config_moe, _MOE_TARGET_MODULE_MAPPING); transformers 5.23 conversion_mapping.py
// (_MODEL_TO_CONVERSION_PATTERN).
#ifndef VRAM_SMALL

#include "calc/model/wrapped.h"

#include "calc/model/framework.h"
#include "calc/model/model.h"
#include "calc/model/scheme.h"

// ---- by names ---------------------------------------------------------------------------------

static bool wrapped_is_among(const struct vram_config *c, const uint8_t families[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c->family == families[i])
            return true;
    return false;
}
#define AMONG(c, families) wrapped_is_among(c, families, sizeof(families) / sizeof *(families))

bool wrapped_names_are_w(const struct vram_config *c)
{
    return c->family == FAMILY_MIXTRAL || c->family == FAMILY_MINIMAX_M2;
}

// What PEFT gets by names alone: w1, w2 and w3 of transformers' "mixtral", gate_proj, up_proj and
// down_proj of its "qwen2_moe", which Qwen2-MoE itself is not; and the router's gate. A model that
// sees has a model_type of its own, which has none.
bool wrapped_by_names(const struct vram_config *c)
{
    static const uint8_t families[] = {
        FAMILY_MIXTRAL,     FAMILY_MINIMAX_M2,  FAMILY_QWEN3_MOE,          FAMILY_QWEN3_NEXT,
        FAMILY_OLMOE,       FAMILY_FLEX_OLMO,   FAMILY_GLM4_MOE,           FAMILY_GLM45,
        FAMILY_DOTS1,       FAMILY_SOLAR_OPEN,  FAMILY_EXAONE_MOE,         FAMILY_ERNIE_MOE,
        FAMILY_HUNYUAN_MOE, FAMILY_DEEPSEEK_V2, FAMILY_DEEPSEEK_V2_GROUPS, FAMILY_DEEPSEEK_V3};
    bool sees = c->family == FAMILY_QWEN3_MOE && c->tower_params;
    return c->n_expert && c->adapter != ADAPTER_IA3 && c->transformers >= 5000 &&
           framework_goes(c, BY_TRANSFORMERS) && !sees && AMONG(c, families);
}

static bool wrapped_named(const struct vram_config *c, uint64_t members)
{
    return c->lora_rank && (c->lora_targets & members) == members && wrapped_by_names(c);
}

// ---- ranks ------------------------------------------------------------------------------------

static uint64_t wrapped_rank(const struct vram_config *c, enum lora_targets_value member)
{
    return c->n_expert && (c->lora_targets & CONFIG_BIT(member)) ? c->lora_rank : 0;
}

// Two matrices in one have twice the rank: rank_pattern.
uint64_t wrapped_up_rank(const struct vram_config *c)
{
    bool both = wrapped_named(c, CONFIG_BIT(TARGET_GATE) | CONFIG_BIT(TARGET_UP)) ||
                wrapped_named(c, CONFIG_BIT(TARGET_EXPERTS));
    return both ? 2 * c->lora_rank : wrapped_rank(c, TARGET_EXPERTS_UP);
}

uint64_t wrapped_down_rank(const struct vram_config *c)
{
    bool named =
        wrapped_named(c, CONFIG_BIT(TARGET_DOWN)) || wrapped_named(c, CONFIG_BIT(TARGET_EXPERTS));
    return named ? c->lora_rank : wrapped_rank(c, TARGET_EXPERTS_DOWN);
}

// Of every linear layer alone. HunYuan's is a linear layer, wg.
uint64_t wrapped_router_rank(const struct vram_config *c)
{
    bool all = wrapped_named(c, CONFIG_SET_ALL_LINEAR) && c->family != FAMILY_HUNYUAN_MOE;
    return all ? c->lora_rank : 0;
}

// ---- what is modelled -------------------------------------------------------------------------

// Experts whose two tensors stand by outputs, as PEFT's adapters over parameters are traced.
static bool wrapped_family(const struct vram_config *c)
{
    static const uint8_t others[] = {FAMILY_QWEN2_MOE};
    return wrapped_by_names(c) || AMONG(c, others);
}

bool wrapped_modelled(const struct vram_config *c)
{
    bool whole = !scheme_divides_weights(c) && c->tensor_parallel == 1 && c->expert_parallel == 1 &&
                 c->pipeline_parallel == 1;
    bool plain = c->task == TASK_TRAIN && !c->compile && !c->kernels && !c->prepare_kbit &&
                 c->mode != MODE_REFERENCE && c->quantization <= QUANTIZATION_NF4_DOUBLE;
    return whole && plain && c->adapter != ADAPTER_IA3 && wrapped_family(c) &&
           framework_goes(c, BY_TRANSFORMERS) && c->transformers >= 5000 && c->torch >= 2009;
}

// SRC: peft 0.21 tuners/lora/layer.py (ParamWrapper.__init__: ValueError),
// utils/transformers_weight_conversion.py ("Cannot convert PEFT target(s)").
int wrapped_check(const struct vram_config *c, struct message *e)
{
    uint64_t halves = CONFIG_BIT(TARGET_GATE) | CONFIG_BIT(TARGET_UP), some;
    some = c->lora_targets & halves;
    bool any = c->lora_rank && (wrapped_up_rank(c) || wrapped_down_rank(c));
    if (c->lora_rank && some && some != halves && wrapped_by_names(c))
        return err_set(e, MESSAGE_wrapped_halves, NO_POS, ABOUT("lora_targets"), NO_ARGS);
    if (any && (c->lora_dropout || c->adapter == ADAPTER_DORA))
        return err_set(e, MESSAGE_wrapped_plain, NO_POS, ABOUT("lora_targets", "lora_dropout"),
                       NO_ARGS);
    return VRAM_OK;
}
#endif
