// Owns the limits of optimizers, lists of lengths, context parallelism, what waits in the host's
// memory, and sizes.

#include "calc/model/model_limits.h"

#include "calc/base/size.h"
#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/model.h"
#include "calc/model/precision.h"
#include "calc/model/shape.h"
#include "calc/model/scheme.h"

int model_check_limits(const struct model_limit *limits, size_t count, struct message *e)
{
    for (size_t i = 0; i < count; i++)
        if (limits[i].here)
            return err_set(e, limits[i].message, NO_POS,
                           ABOUT(limits[i].about[0], limits[i].about[1]), NO_ARGS);
    return VRAM_OK;
}

int model_check_optimizer(const struct vram_config *c, struct message *e)
{
    bool inside = c->optimizer_in_backward;
    const struct model_limit limits[] = {
        {inside && c->gradient_accumulation_steps > 1,
         MESSAGE_inside_accumulates,
         {"optimizer_in_backward", "gradient_accumulation_steps"}},
        {inside && ((c->compile && !framework_goes(c, BY_BLOCKS)) || c->n_gpu > 1 ||
                    c->pipeline_parallel > 1),
         MESSAGE_inside_here,
         {"optimizer_in_backward"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

int model_check_lengths(const struct vram_config *c, struct message *e)
{
    bool alike = framework_goes(c, BY_EVEN_BATCHES);
    bool other =
        c->task == TASK_INFERENCE || c->eval_only || c->compile || c->pipeline_parallel > 1;
    const struct model_limit limits[] = {
        {c->seq_lens && (alike || other), MESSAGE_lengths_here, {"seq_lens"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

// SRC: pytorch torch/distributed/tensor/experimental/_attention.py, context_parallel; torchtitan
// distributed/utils.py, create_context_parallel_ctx.
static bool context_by_mesh(const struct vram_config *c)
{
    return framework_goes(c, BY_MESH) && c->parallel == PARALLEL_FSDP;
}

#ifndef VRAM_SMALL
// accelerate drops masks and takes causal attention alone; what it does to a sequence was seen in
// these families. SRC: accelerate big_modeling.py, _attach_context_parallel_hooks; transformers
// trainer.py, _prepare_context_parallel_inputs; traces llama_cp*, qwen3*_cp*.
static bool context_by_accelerate(const struct vram_config *c)
{
    uint64_t plain = HAS_ROTARY | HAS_RMS_NORM | HAS_GATE;
    uint64_t more =
        HAS_QKV_BIAS | HAS_HEAD_NORM | HAS_EXPERTS | HAS_REPEATED_FLASH | HAS_BARE_OUTPUT;
    uint64_t has = family_has(c);
    bool family = (has & plain) == plain && !(has & ~(plain | more));
    return framework_goes(c, BY_TRANSFORMERS) && family && c->parallel == PARALLEL_FSDP &&
           c->tensor_parallel == 1 && !c->compile && !c->trainer && !c->quantization &&
           !c->eval_batch_size && !c->attention_mask && precision_of(c)->compute == DT_LOW;
}
#endif

int model_check_context(const struct vram_config *c, struct message *e)
{
    bool somewhere = context_by_mesh(c);
#ifndef VRAM_SMALL
    somewhere = somewhere || context_by_accelerate(c);
#endif
    bool here = somewhere && c->task == TASK_TRAIN && c->pipeline_parallel == 1 &&
                c->attention == ATTENTION_FLASH && !c->seq_lens;
    const struct model_limit limits[] = {
        {c->context_parallel > 1 && !here, MESSAGE_context_here, {"context_parallel"}},
    };
    if (here && c->context_parallel > 1 && c->seq_len % (2 * c->context_parallel) != 0)
        return err_set(e, MESSAGE_context_divides, NO_POS, ABOUT("context_parallel", "seq_len"),
                       ARGS(VALUE(c, context_parallel), VALUE(c, seq_len)));
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

int model_check_counted(const struct model *m, struct message *e)
{
    if (m->c.lora_rank && m->c.task == TASK_TRAIN && !m->trained_params)
        return err_set(e, MESSAGE_targets_without_layer, NO_POS,
                       ABOUT("lora_targets", "modules_to_save"), NO_ARGS);
    if (!size_ok(m->params) || !size_ok(m->tokens) || m->params > SIZE_LIMIT / 64 ||
        !size_ok(m->buffer_bytes))
        return err_set(e, MESSAGE_model_too_large, NO_POS, NO_FIELD, NO_ARGS);
    return VRAM_OK;
}

#ifndef VRAM_SMALL
static int model_check_ema(const struct vram_config *c, struct message *e)
{
    bool whole = c->parallel <= PARALLEL_DDP && c->tensor_parallel == 1 &&
                 c->pipeline_parallel == 1 && c->context_parallel == 1;
    bool plain = c->task == TASK_TRAIN && !c->eval_only && !c->trainer && !c->quantization;
    const struct model_limit limits[] = {
        {c->ema && !(whole && plain), MESSAGE_ema_here, {"ema"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

static bool model_has_linear(const struct vram_config *c)
{
    bool whole = c->tensor_parallel == 1 && c->pipeline_parallel == 1 && !c->eval_only;
    return framework_goes(c, BY_CHECKPOINTS_AROUND) && c->task == TASK_TRAIN && whole &&
           !(c->lora_rank && (c->lora_targets & CONFIG_BIT(TARGET_HEAD)));
}

static int model_check_loss(const struct vram_config *c, struct message *e)
{
    bool here = framework_goes(c, BY_COMPLEX_ANGLES) && c->task == TASK_TRAIN && !c->eval_only &&
                c->tensor_parallel == 1 && c->pipeline_parallel == 1;
    const struct model_limit limits[] = {
        {config_compiles_loss(c) && !here, MESSAGE_compiled_loss_here, {"cross_entropy"}},
        {c->cross_entropy == CROSS_ENTROPY_LINEAR && !model_has_linear(c),
         MESSAGE_linear_here,
         {"cross_entropy"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

// SRC: trl 1.16 trainer/utils.py, add_fused_lm_head; torchtune modules/loss/cross_entropy_loss.py,
// LinearCrossEntropyLoss.mask_inputs.
bool model_takes_labels(const struct vram_config *c)
{
    return c->cross_entropy == CROSS_ENTROPY_TILED || c->cross_entropy == CROSS_ENTROPY_LINEAR;
}

static int model_check_labels(const struct vram_config *c, struct message *e)
{
    if (c->label_tokens > config_longest(c))
        return err_set(e, MESSAGE_labels_longer, NO_POS, ABOUT("label_tokens", "seq_len"),
                       ARGS(VALUE(c, label_tokens), arg_u64("seq_len", config_longest(c))));
    return VRAM_OK;
}

// Unsloth's fast path: the classes that it replaces, four-bit or two-byte weights under adapters of
// which each function has all.
bool model_runs_unsloth(const struct vram_config *c)
{
    bool known = c->family == FAMILY_LLAMA || c->family == FAMILY_MISTRAL ||
                 c->family == FAMILY_QWEN2 || c->family == FAMILY_QWEN3;
    return known && framework_goes(c, BY_TRANSFORMERS) && c->task == TASK_TRAIN && !c->trainer &&
           c->lora_rank && c->adapter == ADAPTER_LORA && !c->lora_kernels && !c->compile &&
           (!c->quantization || c->quantization == QUANTIZATION_NF4_DOUBLE) && !c->prepare_kbit &&
           c->parallel <= PARALLEL_DDP && c->tensor_parallel == 1 && c->pipeline_parallel == 1 &&
           c->context_parallel == 1 && c->checkpointing <= CHECKPOINTING_BLOCK && !c->use_cache &&
           c->offload_activations != OFFLOAD_SAVED && !c->attention_mask &&
           precision_of(c)->frozen == DT_LOW && c->mode != MODE_REFERENCE;
}

// Of NO_SHARD with weights on the host there is no trace; fully_shard knows no such, and
// its units are modelled as layers.
static int model_check_undivided(const struct vram_config *c, struct message *e)
{
    bool here = c->parallel == PARALLEL_FSDP1 && !c->offload_params;
    const struct model_limit limits[] = {
        {c->reshard_after_forward == RESHARD_NO_SHARD && !here,
         MESSAGE_no_shard_here,
         {"reshard_after_forward"}},
        {c->parallel == PARALLEL_FSDP && c->auto_wrap_policy == WRAP_NO,
         MESSAGE_no_wrap_second,
         {"auto_wrap_policy"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

int model_check_whole(const struct vram_config *c, struct message *e)
{
    int rc = model_check_divided_experts(c, e);
    rc = rc == VRAM_OK ? model_check_loss(c, e) : rc;
    rc = rc == VRAM_OK ? model_check_undivided(c, e) : rc;
    rc = rc == VRAM_OK ? model_check_labels(c, e) : rc;
    return rc == VRAM_OK ? model_check_ema(c, e) : rc;
}
#endif

int model_check_offload(const struct vram_config *c, struct message *e)
{
    bool elsewhere = c->pipeline_parallel > 1 || framework_goes(c, BY_NANOTRON);
    bool compiled = c->compile && !framework_goes(c, BY_CHECKPOINTS_AROUND);
    bool here = c->parallel < PARALLEL_ZERO1    ? c->n_gpu == 1
                : c->parallel <= PARALLEL_ZERO3 ? !c->optimizer_in_backward
                                                : c->offload_params;
    bool whole = c->compile && !(c->parallel == PARALLEL_FSDP && framework_goes(c, BY_BLOCKS));
    const struct model_limit limits[] = {
        {c->offload_optimizer && (elsewhere || whole || !here),
         MESSAGE_offload_here,
         {"offload_optimizer"}},
        {c->offload_params && (!scheme_divides_weights(c) || c->task == TASK_INFERENCE),
         MESSAGE_offload_params_here,
         {"offload_params"}},
        {c->offload_activations && (elsewhere || compiled || !model_offloads_form(c)),
         MESSAGE_offload_activations_here,
         {"offload_activations", "checkpointing"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}
