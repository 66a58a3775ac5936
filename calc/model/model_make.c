// Owns the check of a configuration as a whole and the sizes that follow from it.

#include "calc/model/model_make.h"

#include "calc/base/mem.h"
#include "calc/base/size.h"
#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/gguf.h"
#include "calc/model/kernels_of_card.h"
#include "calc/model/masks.h"
#include "calc/model/model_count.h"
#include "calc/model/model_limits.h"
#include "calc/model/precision.h"
#include "calc/model/preference.h"
#include "calc/model/quantization.h"
#include "calc/model/resolve.h"
#include "calc/model/unsloth.h"
#include "calc/model/scheme.h"

// The smallest change of n_head that divides n_embd, for the message.
static uint64_t model_near_heads(uint64_t width, uint64_t heads)
{
    for (uint64_t by = 1; by <= heads; by++) {
        if (by < heads && width % (heads - by) == 0)
            return heads - by;
        if (heads + by <= width && width % (heads + by) == 0)
            return heads + by;
    }
    return 1;
}

static int model_bad_width(const struct vram_config *c, struct message *e)
{
    uint64_t near = (c->n_embd + c->n_head / 2) / c->n_head * c->n_head;
    return err_set(e, MESSAGE_heads_divide_width, NO_POS, ABOUT("n_embd", "n_head"),
                   ARGS(VALUE(c, n_embd), VALUE(c, n_head),
                        arg_u64("near_heads", model_near_heads(c->n_embd, c->n_head)),
                        arg_u64("near_width", near ? near : c->n_head)));
}

static int model_check_heads(struct vram_config *c, struct message *e)
{
    if (c->n_kv_head == 0)
        c->n_kv_head = c->n_head;
    bool latent = family_has(c) & HAS_LATENT;
    if (latent) {
        c->head_dim = c->qk_nope_head_dim + c->qk_rope_head_dim;
        c->n_kv_head = c->n_head;
    } else {
        c->q_lora_rank = 0;
    }
    if (!(family_has(c) & HAS_SHARED_EXPERTS))
        c->n_shared_experts = c->first_k_dense_replace = 0;
#ifndef VRAM_SMALL
    if (!(family_has(c) & HAS_EVERY_TOKEN))
        c->moe_layer_step = 1;
    if (!(family_has(c) & HAS_GLOBAL_HEADS))
        c->num_kv_shared_layers = c->hidden_size_per_layer_input = 0;
    if (c->family == FAMILY_GEMMA3N)
        c->global_head_dim = c->head_dim;
    if (c->num_kv_shared_layers && c->num_kv_shared_layers + c->sliding_window_pattern > c->n_layer)
        return err_set(e, MESSAGE_shared_keys_of_none, NO_POS,
                       ABOUT("num_kv_shared_layers", "n_layer"),
                       ARGS(arg_u64("shared", c->num_kv_shared_layers), VALUE(c, n_layer),
                            arg_u64("pattern", c->sliding_window_pattern)));
#endif
    if (c->head_dim == 0 && c->n_embd % c->n_head != 0)
        return model_bad_width(c, e);
    if (c->head_dim == 0)
        c->head_dim = c->n_embd / c->n_head;
    if (c->n_kv_head > c->n_head || c->n_head % c->n_kv_head != 0)
        return err_set(e, MESSAGE_kv_heads_divide_heads, NO_POS, ABOUT("n_head", "n_kv_head"),
                       ARGS(VALUE(c, n_head), VALUE(c, n_kv_head)));
    if (c->family == FAMILY_GPT2 && c->n_kv_head != c->n_head)
        return err_set(e, MESSAGE_kv_heads_of_gpt2, NO_POS, ABOUT("n_kv_head"),
                       ARGS(VALUE(c, n_head), VALUE(c, n_kv_head)));
#ifndef VRAM_SMALL
    if (c->n_global_kv_head > c->n_head ||
        (c->n_global_kv_head && c->n_head % c->n_global_kv_head != 0))
        return err_set(e, MESSAGE_kv_heads_divide_heads, NO_POS,
                       ABOUT("n_head", "n_global_kv_head"),
                       ARGS(VALUE(c, n_head), arg_u64("n_kv_head", c->n_global_kv_head)));
    if (c->global_head_dim % 2 != 0)
        return err_set(e, MESSAGE_odd_head, NO_POS, ABOUT("global_head_dim"),
                       ARGS(arg_u64("head_dim", c->global_head_dim)));
#endif
    if (!(family_has(c) & HAS_PART_ROTARY))
        c->partial_rotary_factor = 1000000;
    if (c->head_dim % 2 != 0 && (family_has(c) & HAS_ROTARY))
        return err_set(e, MESSAGE_odd_head, NO_POS, ABOUT("head_dim"), ARGS(VALUE(c, head_dim)));
    return VRAM_OK;
}

// flash-attn's kernel has code of its own in families whose scores are tensors; it is refused.
static bool model_flash_written(const struct model *m)
{
    return (m->features & HAS_OLD_SCORES) && m->c.attention == ATTENTION_FLASH_2;
}

enum { MODEL_NEWEST = 65534 };  // of versions, below NOW of traits.def

static const struct trait_row {
    uint16_t frameworks, torch[2], transformers[2], own[2];
} trait_rows[TRAIT_COUNT] = {
#define FRAMEWORKS(name) (1u << FRAMEWORK_##name)
#define FRAMEWORKS_ANY UINT16_MAX
#define FRAMEWORKS_TRANSFORMERS FRAMEWORKS(TRANSFORMERS)
#define FRAMEWORKS_LITGPT FRAMEWORKS(LITGPT)
#define FRAMEWORKS_TORCHTITAN FRAMEWORKS(TORCHTITAN)
#define FRAMEWORKS_TORCHTUNE FRAMEWORKS(TORCHTUNE)
#define FRAMEWORKS_ACCUMULATING (FRAMEWORKS(LITGPT) | FRAMEWORKS(TRANSFORMERS))
#define FRAMEWORKS_RESHARDING \
    (FRAMEWORKS(TRANSFORMERS) | FRAMEWORKS(TORCHTUNE) | FRAMEWORKS(TORCHTITAN))
#define FRAMEWORKS_OTHER_FORM (FRAMEWORKS_RESHARDING | FRAMEWORKS(LITGPT))
#define FRAMEWORKS_SYNCING (FRAMEWORKS(TORCHTUNE) | FRAMEWORKS(TRANSFORMERS))
#define TRAIT(id, framework, torch_from, torch_before, transformers_from, transformers_before) \
    [TRAIT_##id] = {FRAMEWORKS_##framework, \
                    {torch_from, torch_before}, \
                    {transformers_from, transformers_before}, \
                    {0, MODEL_NEWEST + 1}},
#define TRAIT_OF(id, framework, torch_from, torch_before, from, before) \
    [TRAIT_##id] = {FRAMEWORKS_##framework, \
                    {torch_from, torch_before}, \
                    {0, MODEL_NEWEST + 1}, \
                    {from, before}},
#include "calc/model/traits.def"
#undef FRAMEWORKS
};

static bool model_between(uint64_t version, const uint16_t range[2])
{
    return version >= range[0] && version < range[1];
}

bool config_has_trait(const struct vram_config *c, enum model_trait trait)
{
    const struct trait_row *t = trait_rows + trait;
    uint64_t said = config_own_version(c), own = said && said < MODEL_NEWEST ? said : MODEL_NEWEST;
    return c->mode != MODE_REFERENCE && t->frameworks >> framework_id(c) & 1 &&
           model_between(own, t->own) && model_between(c->torch, t->torch) &&
           model_between(c->transformers, t->transformers);
}

static void model_find_traits(struct model *m)
{
    for (unsigned i = 0; i < TRAIT_COUNT; i++)
        if (config_has_trait(&m->c, i))
            m->traits.words[i / 64] |= UINT64_C(1) << i % 64;
}

static int model_check_experts(const struct vram_config *c, struct message *e)
{
    if (c->n_expert && !(family_has(c) & HAS_EXPERTS) && !family_is_gemma4(c))
        return err_set(e, MESSAGE_no_experts, NO_POS, ABOUT("n_expert"), ARGS(VALUE(c, n_expert)));
    if (c->n_expert && c->n_expert_active > c->n_expert)
        return err_set(e, MESSAGE_too_many_active, NO_POS, ABOUT("n_expert_active", "n_expert"),
                       ARGS(VALUE(c, n_expert_active), VALUE(c, n_expert)));
    return VRAM_OK;
}

static int model_check_allocator(const struct vram_config *c, struct message *e)
{
    if (c->max_split_size_mb && c->max_split_size_mb <= 20)
        return err_set(e, MESSAGE_max_split_too_small, NO_POS, ABOUT("max_split_size_mb"),
                       ARGS(VALUE(c, max_split_size_mb)));
    if (c->roundup_power2_divisions & (c->roundup_power2_divisions - 1))
        return err_set(e, MESSAGE_roundup_no_power, NO_POS, ABOUT("roundup_power2_divisions"),
                       ARGS(VALUE(c, roundup_power2_divisions)));
    return VRAM_OK;
}

bool model_returns_cache(const struct vram_config *c)
{
    uint64_t other = HAS_ENCODER | HAS_PICKED_KEYS | HAS_LATENT | HAS_OLD_SCORES | HAS_DELTA_RULE |
                     HAS_GLOBAL_HEADS;
    return MODEL_IS_WHOLE && c->task == TASK_TRAIN && framework_goes(c, BY_TRANSFORMERS) &&
           !c->compile && c->pipeline_parallel == 1 && c->kernels != KERNELS_FOAK &&
           c->family != FAMILY_GPT_BIGCODE && !(family_has(c) & other);
}

bool model_fuses_head(const struct vram_config *c)
{
    if (MODEL_IS_WHOLE && c->compile && !model_compiles_whole(c))
        return false;
    return (MODEL_IS_WHOLE || !c->compile) && !(family_has(c) & (HAS_HEAD_BIAS | HAS_ENCODER));
}

// What FSDP leaves gathered after an evaluation stays to the next backward pass.
bool model_evaluates(const struct vram_config *c)
{
    return MODEL_IS_WHOLE && c->task == TASK_TRAIN && framework_goes(c, BY_TRANSFORMERS) &&
           !c->compile && c->pipeline_parallel == 1 && c->tensor_parallel == 1 &&
           c->reshard_after_forward == RESHARD_YES && !c->lora_kernels && !c->offload_activations &&
           !(family_has(c) & (HAS_DELTA_RULE | HAS_GLOBAL_HEADS));
}

// Whole or bitsandbytes' four-bit weights under plain adapters, as they are loaded. SRC: axolotl
// src/axolotl/utils/schemas/config.py, check_auto_enable_lora_kernels; validation.py.
bool model_fuses_adapters(const struct vram_config *c)
{
    const uint64_t own = HAS_ROTARY | HAS_GATE;
    bool weights = c->quantization == QUANTIZATION_NONE || quantization_is_4bit(c->quantization);
    bool alone = c->parallel < PARALLEL_ZERO3 && c->tensor_parallel == 1 &&
                 c->pipeline_parallel == 1 && !c->compile;
    bool kept =
        !checkpointing_chooses(c) && (c->offload_activations != OFFLOAD_SAVED || c->checkpointing);
    return MODEL_IS_WHOLE && c->lora_rank && c->adapter == ADAPTER_LORA && c->task == TASK_TRAIN &&
           weights && alone && kept && c->kernels != KERNELS_FOAK &&
           precision_of(c)->frozen == DT_LOW && framework_goes(c, BY_TRANSFORMERS) &&
           (family_has(c) & (own | HAS_FUSED_QKV | HAS_LATENT | HAS_ENCODER | HAS_NEW_CODE)) == own;
}

static bool model_expands_dora(const struct vram_config *c)
{
    return MODEL_IS_WHOLE && quantization_is_bitsandbytes(c->quantization) &&
           framework_goes(c, BY_TRANSFORMERS);
}

// IA3's vectors stand as adapters of rank 1.
static int model_check_adapters(struct vram_config *c, struct message *e)
{
    bool trains = c->task == TASK_TRAIN;
    if (c->adapter == ADAPTER_IA3 && trains)
        c->lora_rank = 1;
    bool adapted = c->lora_rank > 0;
    const struct model_limit limits[] = {
        {c->lora_kernels && !model_fuses_adapters(c), MESSAGE_lora_kernels_here, {"lora_kernels"}},
#ifndef VRAM_SMALL
        {unsloth_patches(c) && !model_runs_unsloth(c), MESSAGE_unsloth_here, {"kernels"}},
#endif
        {c->adapter == ADAPTER_DORA && !adapted, MESSAGE_dora_needs_rank, {"adapter", "lora_rank"}},
        {c->quantization && !adapted && trains,
         MESSAGE_quantized_needs_lora,
         {"quantization", "lora_rank"}},
        {c->quantization == QUANTIZATION_FP8 && trains,
         MESSAGE_fp8_trains,
         {"quantization", "task"}},
        {gguf_is(c->quantization), MESSAGE_gguf_serves, {"quantization"}},
        {c->kv_dtype > KV_DTYPE_INT8, MESSAGE_gguf_serves, {"kv_dtype"}},
        {c->adapter == ADAPTER_DORA && c->quantization && !model_expands_dora(c),
         MESSAGE_dora_quantized,
         {"adapter", "quantization"}},
        {c->modules_to_save && !adapted,
         MESSAGE_saved_needs_lora,
         {"modules_to_save", "lora_rank"}},
        {adapted && !c->lora_targets,
         MESSAGE_targets_without_layer,
         {"lora_targets", "modules_to_save"}},
        {adapted && trains && (c->lora_targets & CONFIG_BIT(TARGET_HEAD)) && config_fuses_head(c),
         MESSAGE_head_is_fused,
         {"cross_entropy", "lora_targets"}},
        {c->prepare_kbit && !c->quantization,
         MESSAGE_prepare_quantized,
         {"prepare_kbit", "quantization"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

static int model_check_run(struct vram_config *c, struct message *e)
{
    c->seq_len = config_longest(c);
    if (c->n_inner == 0)
        c->n_inner = 4 * c->n_embd;
    if (c->expert_inner == 0)
        c->expert_inner = c->n_inner;
    if (c->seq_len > c->block_size && (family_has(c) & HAS_POSITIONS))
        return err_set(e, MESSAGE_longer_than_positions, NO_POS, ABOUT("seq_len", "block_size"),
                       ARGS(VALUE(c, seq_len), VALUE(c, block_size)));
    int rc = model_check_experts(c, e);
    if (rc != VRAM_OK)
        return rc;
    rc = model_check_adapters(c, e);
    if (rc == VRAM_OK)
        rc = model_check_optimizer(c, e);
    if (rc != VRAM_OK)
        return rc;
    if (c->eval_only &&
        (c->family != FAMILY_GPT2 || c->task != TASK_TRAIN || c->pipeline_parallel > 1))
        return err_set(e, MESSAGE_eval_only_of_nanogpt, NO_POS,
                       ABOUT("eval_only", "family", "task"), NO_ARGS);
    return model_check_allocator(c, e);
}

static int model_check_parallel(const struct vram_config *c, struct message *e)
{
    uint64_t tp = c->tensor_parallel;
    bool plain =
        (!c->compile || (MODEL_IS_WHOLE && framework_goes(c, BY_BLOCKS))) &&
        (!c->n_expert || (MODEL_IS_WHOLE && framework_goes(c, BY_PERMUTED_EXPERTS))) &&
        c->task == TASK_TRAIN &&
        (MODEL_IS_WHOLE || !framework_goes(c, BY_DTENSOR)) &&  // what is gathered stays
        (c->cross_entropy == CROSS_ENTROPY_EAGER || c->cross_entropy == CROSS_ENTROPY_UPCAST);
    if (c->sequence_parallel && tp == 1)
        return err_set(e, MESSAGE_sequence_needs_tensor, NO_POS,
                       ABOUT("sequence_parallel", "tensor_parallel"), NO_ARGS);
    if (c->sequence_parallel && !plain)
        return err_set(e, MESSAGE_sequence_parallel_here, NO_POS, ABOUT("sequence_parallel"),
                       NO_ARGS);
    if (c->n_head % tp != 0 || c->n_inner % tp != 0)
        return err_set(e, MESSAGE_tensor_parallel_divides, NO_POS,
                       ABOUT("tensor_parallel", "n_head", "n_inner"),
                       ARGS(VALUE(c, tensor_parallel), VALUE(c, n_head), VALUE(c, n_inner)));
    if (c->pipeline_parallel > c->n_layer)
        return err_set(e, MESSAGE_pipeline_longer_than_model, NO_POS,
                       ABOUT("pipeline_parallel", "n_layer"),
                       ARGS(VALUE(c, pipeline_parallel), VALUE(c, n_layer)));
    if (c->pipeline_parallel > 1 &&
        c->pipeline_first_layers + c->pipeline_parallel - 1 > c->n_layer)
        return err_set(
            e, MESSAGE_pipeline_first_too_long, NO_POS,
            ABOUT("pipeline_first_layers", "n_layer", "pipeline_parallel"),
            ARGS(VALUE(c, pipeline_first_layers), VALUE(c, n_layer), VALUE(c, pipeline_parallel)));
    if (c->device_map > c->n_layer)
        return err_set(e, MESSAGE_more_cards_than_layers, NO_POS, ABOUT("device_map", "n_layer"),
                       ARGS(VALUE(c, device_map), VALUE(c, n_layer)));
    return VRAM_OK;
}

// All of an encoder's layers but query, key and value are called dense, which PEFT takes as the end
// of a name.
static void model_dense_targets(struct vram_config *c)
{
    uint64_t dense = CONFIG_BIT(TARGET_O) | CONFIG_BIT(TARGET_UP) | CONFIG_BIT(TARGET_DOWN);
    if ((family_has(c) & HAS_ENCODER) && (c->lora_targets & dense))
        c->lora_targets |= dense;
}

// A layer that is trained whole gets no adapter. SRC: peft 0.15 tuners/tuners_utils.py,
// check_target_module_exists: "Adapters should never match on modules to save modules".
static void model_saved_targets(struct vram_config *c)
{
    if (c->lora_rank && (c->modules_to_save & CONFIG_BIT(SAVE_HEAD)))
        c->lora_targets &= ~CONFIG_BIT(TARGET_HEAD);
    if (c->lora_rank && (c->modules_to_save & CONFIG_BIT(SAVE_EMBED)))
        c->lora_targets &= ~CONFIG_BIT(TARGET_EMBED);
}

static int model_check_support(const struct vram_config *c, struct message *e)
{
    bool compiled = c->compile && !framework_goes(c, BY_BLOCKS), stages = c->pipeline_parallel > 1;
    bool nanotron = framework_goes(c, BY_NANOTRON);
    const struct model_limit limits[] = {
        {nanotron && (c->family != FAMILY_LLAMA || c->lora_rank || c->task == TASK_INFERENCE),
         MESSAGE_nanotron_model,
         {"framework", "family"}},
        {nanotron && (compiled || c->checkpointing), MESSAGE_nanotron_run, {"framework"}},
        {nanotron && c->parallel > PARALLEL_ZERO1,
         MESSAGE_nanotron_parallel,
         {"framework", "parallel"}},
        {stages && (compiled || c->parallel >= PARALLEL_ZERO2),
         MESSAGE_pipeline_here,
         {"pipeline_parallel"}},
        {c->checkpointing && !c->use_reentrant && stages,
         MESSAGE_no_reentrant_here,
         {"use_reentrant"}},
        {c->device_map > 1 && c->task == TASK_TRAIN,
         MESSAGE_device_map_trains,
         {"device_map", "task"}},
        {stages && c->task == TASK_INFERENCE, MESSAGE_pipeline_inference, {"pipeline_parallel"}},
        {c->use_cache && c->task == TASK_TRAIN && !model_returns_cache(c),
         MESSAGE_use_cache_here,
         {"use_cache"}},
        {c->eval_batch_size && !model_evaluates(c), MESSAGE_eval_here, {"eval_batch_size"}},
        {c->eval_accumulation_steps && !c->eval_batch_size,
         MESSAGE_eval_kept_alone,
         {"eval_accumulation_steps", "eval_batch_size"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

// Flash attention wants values as wide as keys; scores that transformers writes out masks.c
// refuses.
static bool model_latent_kernel(const struct vram_config *c)
{
    bool even = c->v_head_dim == c->qk_nope_head_dim + c->qk_rope_head_dim;
    bool scores = c->attention == ATTENTION_MATH && c->task == TASK_TRAIN &&
                  framework_goes(c, BY_TRANSFORMERS);
    return MODEL_IS_WHOLE && ((even && c->attention == ATTENTION_FLASH) || scores);
}

// Before attention is what the card has; chosen: what the user wrote.
static void model_find_groups(struct model *m, uint64_t chosen)
{
    struct vram_config c = m->c;
    c.attention = ATTENTION_FLASH;
    c.n_kv_head = c.n_kv_head ? c.n_kv_head : c.n_head;
    for (unsigned low = 0; low < 2; low++)
        m->lacks_groups[low] = chosen == ATTENTION_FLASH && kernels_lack_groups(&c, low);
    m->repeats_groups = chosen == ATTENTION_MEM_EFFICIENT && kernels_lack_groups(&c, false);
}

int model_make(struct model *m, const struct vram_config *c, struct message *e)
{
    mem_zero(m, sizeof *m);
    m->c = *c;
    m->c.n_gpu = size_mul(c->n_gpu, c->context_parallel);  // the weights are divided among all
    m->features = family_features(c);
    m->first = m->last = true;
    m->in_flight = 1;
    resolve_auto(&m->c);
    model_find_groups(m, c->attention);
    if ((m->features & HAS_LATENT) && !model_latent_kernel(&m->c))
        m->c.attention = ATTENTION_MEM_EFFICIENT;
    if ((m->features & HAS_PICKED_KEYS) && m->c.attention == ATTENTION_FLASH)
        m->c.attention = ATTENTION_MEM_EFFICIENT;  // flash attention takes no mask
    model_find_traits(m);
    if (model_has_eager_scores(m) ||
        ((m->features & HAS_RETURNED_SHARES) && !model_flash_written(m)))
        m->c.attention = ATTENTION_MATH;
    model_dense_targets(&m->c);
    model_saved_targets(&m->c);
    if (model_has_trait(m, TRAIT_ONE_PROJECTION) && m->c.task == TASK_TRAIN &&
        !(m->features & (HAS_HEAD_NORM | HAS_WIDE_NORM)))
        m->features = (m->features | HAS_FUSED_QKV) & ~(uint64_t)HAS_FUSED_GATE;
    int rc = model_check_lengths(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_heads(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_run(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_parallel(&m->c, e);
    if (rc == VRAM_OK)
        rc = family_check(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_support(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_context(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_offload(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_compile(&m->c, e);
#ifndef VRAM_SMALL
    if (rc == VRAM_OK)
        rc = model_check_whole(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_masks(&m->c, e);
    if (rc == VRAM_OK)
        rc = preference_check(&m->c, e);
    if (preference_is(&m->c) ||
        preference_scores(&m->c)) {  // the chosen answers, then the rejected ones
        m->c.batch_size *= 2;
        m->c.eval_batch_size *= 2;
    }
#endif
    if (rc != VRAM_OK)
        return rc;
    m->tokens = size_mul(m->c.batch_size, m->c.seq_len / m->c.context_parallel);
    model_count(m);
    return model_check_counted(m, e);
}
