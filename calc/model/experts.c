// Owns how many experts, rows and weights of them a GPU has where rows are permuted by expert.
#ifndef VRAM_SMALL

#include "calc/model/experts.h"

#include "calc/base/size.h"
#include "calc/model/framework.h"
#include "calc/model/scheme.h"

bool model_permutes_experts(const struct model *m)
{
    return m->c.n_expert && framework_goes(&m->c, BY_PERMUTED_EXPERTS) && m->c.task == TASK_TRAIN &&
           !m->c.lora_rank;
}

bool model_spreads_experts(const struct model *m)
{
    return m->c.expert_parallel > 1 && framework_goes(&m->c, BY_TRANSFORMERS);
}

// Since 5.19 (base_model_ep_plan: ep_dispatch_experts). SRC: transformers 5.23
// distributed/expert_parallel.py (AllToAllEP, AllReduceEP); 5.18 distributed/tensor_parallel.py
// (EpRouterParallel, MoeExpertsParallel).
bool model_sends_rows(const struct model *m)
{
    return model_spreads_experts(m) && m->c.transformers >= 5019;
}

bool model_divides_experts(const struct model *m)
{
    return m->c.expert_parallel > 1 && !m->c.expert_shared_batch;
}

// GPUs with one batch send a part of its tokens each, the first of them the most.
uint64_t model_spread_tokens(const struct model *m)
{
    uint64_t ways = m->c.expert_shared_batch && model_sends_rows(m) ? m->c.expert_parallel : 1;
    return (m->tokens + ways - 1) / ways;
}

uint64_t model_spread_rows(const struct model *m)
{
    return size_mul(model_spread_tokens(m), m->c.n_expert_active);
}

// SRC: torchtitan models/moe/utils.py, _permute (TOKEN_GROUP_ALIGN_SIZE_M).
uint64_t model_permuted_rows(const struct model *m)
{
    enum { ALIGNED = 8 };
    uint64_t here = m->c.n_expert / m->c.expert_parallel;
    uint64_t sorted = size_mul(m->tokens, m->c.n_expert_active) / model_sorting_ways(&m->c);
    return size_ceil_to(sorted + ALIGNED * here, ALIGNED);
}

// SRC: torchtitan distributed/parallel_dims.py, build_mesh (efsdp); models/llama4/infra/
// parallelize.py, apply_moe_ep_tp (ReordererSequenceParallel).
uint64_t model_sorting_ways(const struct vram_config *c)
{
    return c->expert_parallel > 1 && c->expert_tensor_parallel == 1 ? c->tensor_parallel : 1;
}

uint64_t model_expert_parts(const struct model *m)
{
    uint64_t ways = m->c.expert_shared_batch ? 1 : m->c.expert_parallel;
    return scheme_parts(&m->c) * model_sorting_ways(&m->c) / ways;
}

// FSDP2 divides whole experts, so that some GPUs have none where there are more GPUs: this one has
// the most. With expert_parallel torchtitan then divides each of them. SRC: torchtitan
// models/llama4/infra/parallelize.py, apply_fsdp (_experts_shard_placement_fn); transformers
// distributed/fsdp.py, apply_fully_sharded_data_parallelism.
uint64_t model_expert_share(const struct model *m, uint64_t whole)
{
    uint64_t parts = model_expert_parts(m), ways = m->c.expert_parallel;
    uint64_t here = m->c.n_expert / ways;
    bool dispatched = model_spreads_experts(m) && model_divides_experts(m);
    if (dispatched || (model_permutes_experts(m) && (ways == 1 || parts * ways <= m->c.n_expert)))
        return whole / here * ((here + parts - 1) / parts);
    return (whole + parts - 1) / parts;
}

uint64_t model_router_share(const struct model *m, uint64_t whole)
{
    uint64_t parts = m->c.n_gpu, rows = m->c.n_expert;
    return model_permutes_experts(m) ? whole / rows * ((rows + parts - 1) / parts)
                                     : (whole + parts - 1) / parts;
}
#endif
