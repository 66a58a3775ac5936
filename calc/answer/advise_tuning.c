// Owns the changes of advise.def that are about optimizers, sharding and adapters, as edits of a
// configuration.

#include "calc/answer/advise_edit.h"
#include "calc/model/family.h"
#include "calc/model/precision.h"
#include "calc/model/resolve.h"

static bool is_adam(const struct vram_config *c)
{
    return c->optimizer == OPTIMIZER_ADAMW_FUSED || c->optimizer == OPTIMIZER_ADAMW_FOREACH ||
           c->optimizer == OPTIMIZER_ADAMW_HF;
}

static enum advice_applied optimizer(struct change *k, uint64_t value)
{
    advise_say(k, FIELD_optimizer, value);
    return ADVICE_APPLIED;
}

enum advice_applied change_adam_8bit(struct change *k)
{
    return is_adam(k->c) ? optimizer(k, OPTIMIZER_ADAMW_8BIT) : ADVICE_NOT_HERE;
}

enum advice_applied change_adam_8bit_paged(struct change *k)
{
    bool here = is_adam(k->c) || k->c->optimizer == OPTIMIZER_ADAMW_8BIT;
    return here ? optimizer(k, OPTIMIZER_ADAMW_8BIT_PAGED) : ADVICE_NOT_HERE;
}

enum advice_applied change_adam_4bit(struct change *k)
{
    bool here = is_adam(k->c) || k->c->optimizer == OPTIMIZER_ADAMW_8BIT;
    return here ? optimizer(k, OPTIMIZER_ADAMW_TORCHAO_4BIT) : ADVICE_NOT_HERE;
}

// Rows and columns of adapters are as large as the adapters.
enum advice_applied change_adafactor(struct change *k)
{
    return is_adam(k->c) && !k->c->lora_rank ? optimizer(k, OPTIMIZER_ADAFACTOR) : ADVICE_NOT_HERE;
}

enum advice_applied change_in_backward(struct change *k)
{
    if (k->c->optimizer_in_backward || k->c->gradient_accumulation_steps > 1 || k->c->lora_rank)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_optimizer_in_backward, 1);
    return ADVICE_APPLIED;
}

enum advice_applied change_no_reentrant(struct change *k)
{
    struct vram_config resolved = *k->c;
    resolve_auto(&resolved);
    if (resolved.checkpointing == CHECKPOINTING_NONE || resolved.use_reentrant == REENTRANT_NO)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_use_reentrant, REENTRANT_NO);
    return ADVICE_APPLIED;
}

// ---- several GPUs ----------------------------------------------------------------------------

enum advice_applied change_bucket_view(struct change *k)
{
    if (k->c->n_gpu < 2 || k->c->parallel != PARALLEL_DDP || k->c->bucket_view)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_bucket_view, 1);
    return ADVICE_APPLIED;
}

static enum advice_applied shard(struct change *k, uint64_t scheme)
{
    if (k->c->n_gpu < 2 || k->c->parallel >= scheme || k->c->pipeline_parallel > 1)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_parallel, scheme);
    return ADVICE_APPLIED;
}

enum advice_applied change_zero2(struct change *k)
{
    return shard(k, PARALLEL_ZERO2);
}

enum advice_applied change_zero3(struct change *k)
{
    return shard(k, PARALLEL_ZERO3);
}

enum advice_applied change_fsdp(struct change *k)
{
    return shard(k, PARALLEL_FSDP);
}

enum advice_applied change_offload_activations(struct change *k)
{
    bool here = k->c->checkpointing == CHECKPOINTING_BLOCK && k->c->compile == COMPILE_NONE &&
                k->c->pipeline_parallel == 1;
    if (!here || k->c->offload_activations)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_offload_activations, OFFLOAD_SAVED);
    return ADVICE_APPLIED;
}

static enum advice_applied offload(struct change *k, enum config_field_id field)
{
    bool here = k->c->compile == COMPILE_NONE && k->c->pipeline_parallel == 1;
    if (!here || k->c->offload_params ||
        (field == FIELD_offload_optimizer && k->c->offload_optimizer))
        return ADVICE_NOT_HERE;
    advise_say(k, field, 1);
    return ADVICE_APPLIED;
}

enum advice_applied change_cpu_optimizer(struct change *k)
{
    bool one = k->c->n_gpu == 1 && k->c->parallel == PARALLEL_NONE && !k->c->lora_rank;
    return one ? offload(k, FIELD_offload_optimizer) : ADVICE_NOT_HERE;
}

enum advice_applied change_offload_fsdp(struct change *k)
{
    return k->c->parallel >= PARALLEL_FSDP ? offload(k, FIELD_offload_params) : ADVICE_NOT_HERE;
}

// DeepSpeed's engine trains in two bytes.
static enum advice_applied offload_zero(struct change *k, uint64_t scheme,
                                        enum config_field_id field)
{
    if (k->c->parallel > scheme || k->c->dtype == DTYPE_FLOAT32 || k->c->quantization)
        return ADVICE_NOT_HERE;
    enum advice_applied applied = offload(k, field);
    if (applied != ADVICE_APPLIED)
        return applied;
    if (k->c->parallel != scheme)
        advise_say(k, FIELD_parallel, scheme);
    uint64_t half = precision_is_float16(k->c) ? DTYPE_FLOAT16_DEEPSPEED : DTYPE_BFLOAT16_DEEPSPEED;
    if (k->c->dtype != half)
        advise_say(k, FIELD_dtype, half);
    return applied;
}

enum advice_applied change_offload_optimizer(struct change *k)
{
    return k->c->lora_rank ? ADVICE_NOT_HERE
                           : offload_zero(k, PARALLEL_ZERO2, FIELD_offload_optimizer);
}

enum advice_applied change_offload_zero3(struct change *k)
{
    return offload_zero(k, PARALLEL_ZERO3, FIELD_offload_params);
}

// ---- adapters --------------------------------------------------------------------------------

enum advice_applied change_loaded(struct change *k)
{
#ifndef VRAM_SMALL
    if (k->c->lora_rank && k->c->dtype == DTYPE_BFLOAT16_ACCELERATE_WIDE) {
        advise_say(k, FIELD_dtype, DTYPE_BFLOAT16_ACCELERATE);
        return ADVICE_APPLIED;
    }
#endif
    if (!k->c->lora_rank || k->c->dtype != DTYPE_BFLOAT16)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_dtype, DTYPE_BFLOAT16_LOADED);
    return ADVICE_APPLIED;
}

enum advice_applied change_nf4_double(struct change *k)
{
    if (!k->c->lora_rank || k->c->quantization != QUANTIZATION_NF4)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_quantization, QUANTIZATION_NF4_DOUBLE);
    return ADVICE_APPLIED;
}

enum advice_applied change_rank_8(struct change *k)
{
    if (k->c->lora_rank < 16 || k->c->adapter == ADAPTER_IA3)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_lora_rank, k->c->lora_rank / 2);
    return ADVICE_APPLIED;
}

enum advice_applied change_query_value(struct change *k)
{
    uint64_t few = CONFIG_BIT(TARGET_Q) | CONFIG_BIT(TARGET_V);
    if (!k->c->lora_rank || k->c->adapter == ADAPTER_IA3 || (k->c->lora_targets & ~few) == 0)
        return ADVICE_NOT_HERE;
    advise_say(k, FIELD_lora_targets, few);
    return ADVICE_APPLIED;
}

// Adapters on experts write all of them out once more: attention alone gets some there.
static enum advice_applied advise_adapters(struct change *k)
{
    advise_say(k, FIELD_lora_rank, 16);
#ifndef VRAM_SMALL
    uint64_t attention =
        CONFIG_BIT(TARGET_Q) | CONFIG_BIT(TARGET_K) | CONFIG_BIT(TARGET_V) | CONFIG_BIT(TARGET_O);
    if (!family_adapts_experts(k->c))
        return ADVICE_APPLIED;
    advise_say(k, FIELD_lora_targets, attention);
#endif
    return ADVICE_APPLIED;
}

enum advice_applied change_lora(struct change *k)
{
    if (k->c->lora_rank || k->c->compile != COMPILE_NONE || k->c->family == FAMILY_GPT2)
        return ADVICE_NOT_HERE;
    return advise_adapters(k);
}

enum advice_applied change_qlora(struct change *k)
{
    if (k->c->quantization != QUANTIZATION_NONE || k->c->compile != COMPILE_NONE ||
        k->c->family == FAMILY_GPT2)
        return ADVICE_NOT_HERE;
    enum advice_applied rc = k->c->lora_rank ? ADVICE_APPLIED : advise_adapters(k);
    advise_say(k, FIELD_quantization, QUANTIZATION_NF4);
    return rc;
}
