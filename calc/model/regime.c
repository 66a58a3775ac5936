// Owns the kinds of runs: the first of enum vram_regime that a configuration is.

#include "calc/model/regime.h"

#include "calc/model/scheme.h"

static bool regime_is_divided(const struct vram_config *c)
{
    return c->tensor_parallel > 1 || c->pipeline_parallel > 1;
}

static bool regime_has_adapters(const struct vram_config *c)
{
    return c->lora_rank > 0;
}

static bool regime_is_quantized(const struct vram_config *c)
{
    return regime_has_adapters(c) && c->quantization != QUANTIZATION_NONE;
}

static uint32_t regime_of_weights(const struct vram_config *c, uint32_t quantized,
                                  uint32_t adapters, uint32_t full)
{
    return regime_is_quantized(c) ? quantized : regime_has_adapters(c) ? adapters : full;
}

uint32_t regime_of(const struct vram_config *c)
{
    if (c->task == TASK_INFERENCE)
        return VRAM_REGIME_INFERENCE;
    if (c->offload_optimizer || c->offload_params || c->offload_activations)
        return VRAM_REGIME_OFFLOADED;
    bool one = !regime_is_divided(c) && !(scheme_many(c) && c->parallel != PARALLEL_NONE);
    if (one && c->family == FAMILY_GPT2 && !regime_has_adapters(c))
        return VRAM_REGIME_GPT2;
    if (c->compile != COMPILE_NONE)
        return regime_has_adapters(c) ? VRAM_REGIME_COMPILED_ADAPTERS : VRAM_REGIME_COMPILED;
    if (regime_is_divided(c))
        return VRAM_REGIME_MODEL_PARALLEL;
    if (!one)
        return regime_of_weights(c, VRAM_REGIME_SHARDED_QUANTIZED_ADAPTERS,
                                 VRAM_REGIME_SHARDED_ADAPTERS, VRAM_REGIME_SHARDED);
    return regime_of_weights(c, VRAM_REGIME_QUANTIZED_ADAPTERS, VRAM_REGIME_ADAPTERS,
                             VRAM_REGIME_FULL);
}

bool model_offloads_form(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    if (c->num_kv_shared_layers || c->hidden_size_per_layer_input)
        return false;  // several blocks save the same tensors
#endif
    return c->checkpointing == CHECKPOINTING_BLOCK ||
           (c->checkpointing == CHECKPOINTING_NONE && !c->compile &&
            c->offload_activations == OFFLOAD_SAVED);
}
