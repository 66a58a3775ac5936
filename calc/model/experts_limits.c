// Owns which runs may share experts out among GPUs.

#include "calc/model/model_limits.h"

#ifndef VRAM_SMALL

#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/model.h"

// Families whose grouped products have a plan. SRC: transformers models/*/configuration_*.py
// (base_model_ep_plan); traces *_ep4_*, *_ep8_*.
static bool experts_have_plan(const struct vram_config *c)
{
    static const uint8_t families[] = {FAMILY_QWEN3_MOE, FAMILY_MIXTRAL,     FAMILY_GLM4_MOE,
                                       FAMILY_GLM45,     FAMILY_DEEPSEEK_V3, FAMILY_GPT_OSS};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (c->family == families[i])
            return true;
    return false;
}

// GPUs that share experts and a batch have all else whole: no scheme divides it. Without a batch
// for all they are among those of FSDP2. SRC: transformers distributed/configuration_utils.py
// (enable_expert_parallel, ep_size).
static bool experts_are_arranged(const struct vram_config *c)
{
    if (c->expert_shared_batch)
        return c->n_gpu == 1 && c->parallel == PARALLEL_NONE;
    bool pure = c->dtype == DTYPE_BFLOAT16_PURE || c->dtype == DTYPE_BFLOAT16_LOADED;
    return c->parallel == PARALLEL_FSDP && pure && c->transformers >= 5019 && !c->lora_rank &&
           !c->offload_params && c->reshard_after_forward == RESHARD_YES;
}

static bool experts_spread_here(const struct vram_config *c)
{
    return framework_goes(c, BY_TRANSFORMERS) && experts_have_plan(c) && experts_are_arranged(c) &&
           c->tensor_parallel == 1 && !c->compile && !c->trainer && !c->quantization &&
           !c->eval_batch_size && !c->attention_mask && !c->lora_kernels;
}

// GPUs that have a sequence together share experts as those that have sequences of their own.
// DeepSeek's attention has heads of two widths, of which the ring was not seen. SRC: torchtitan
// distributed/parallel_dims.py (efsdp); traces titan_moe_*cp*.
static bool experts_in_rings(const struct vram_config *c)
{
    return framework_goes(c, BY_PERMUTED_EXPERTS) && c->tensor_parallel == 1 &&
           !family_is_deepseek(c);
}

// SRC: torchtitan distributed/parallel_dims.py (efsdp), models/llama4/infra/parallelize.py.
int model_check_divided_experts(const struct vram_config *c, struct message *e)
{
    uint64_t ways = c->expert_parallel;
    bool family = c->family == FAMILY_QWEN3_MOE || c->family == FAMILY_LLAMA4 ||
                  c->family == FAMILY_LLAMA4_BARE || family_is_deepseek(c);
    bool whole = c->pipeline_parallel == 1 && (c->context_parallel == 1 || experts_in_rings(c));
    bool titan = family && !c->lora_rank && framework_goes(c, BY_PERMUTED_EXPERTS) &&
                 c->parallel == PARALLEL_FSDP && !c->compile && !c->offload_params &&
                 c->reshard_after_forward != RESHARD_NO && !c->expert_shared_batch;
    bool here = whole && c->task == TASK_TRAIN && c->n_expert && (titan || experts_spread_here(c));
    uint64_t tp = c->tensor_parallel, etp = c->expert_tensor_parallel;
    bool both = tp == 1 || (whole && c->sequence_parallel && !family_is_deepseek(c));
    bool permuted = c->n_expert && framework_goes(c, BY_PERMUTED_EXPERTS);
    const struct model_limit limits[] = {
        {ways > 1 && !here, MESSAGE_expert_parallel_here, {"expert_parallel"}},
        {c->expert_shared_batch && ways == 1, MESSAGE_expert_batch_here, {"expert_shared_batch"}},
        {permuted && tp > 1 && !both, MESSAGE_expert_tensor_here, {"tensor_parallel"}},
        {etp > 1 && (!here || (ways > 1 && etp != tp)),
         MESSAGE_expert_tensor_ways,
         {"expert_tensor_parallel"}},
    };
    // GPUs of tensor_parallel that share no expert share out experts
    uint64_t data = c->expert_shared_batch ? ways : etp == 1 ? c->n_gpu * tp : c->n_gpu;
    if (here && ways > 1 && (data % ways != 0 || c->n_expert % ways != 0))
        return err_set(e, MESSAGE_expert_parallel_divides, NO_POS,
                       ABOUT("expert_parallel", "n_gpu", "n_expert"),
                       ARGS(VALUE(c, expert_parallel), VALUE(c, n_gpu), VALUE(c, n_expert)));
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}

#endif
