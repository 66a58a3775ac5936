// Owns what a chosen card cannot do and the stages of a pipeline.

#include "calc/model/model.h"

#include "calc/model/device_map.h"

static uint32_t model_capability(const struct vram_config *c)
{
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    return gpu ? gpu->compute_capability : 0;  // 0: AMD, or no card
}

// SRC: pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, check_flash_attention_hardware_support: sm_80 and
// above; check_mem_efficient_hardware_support: from sm_50. Before 2.2 flash had a kernel for sm_75 (check_gpu_sm75_or_greater).
bool model_lacks_flash(const struct vram_config *c)
{
    return model_capability(c) > 0 && model_capability(c) < 80;
}

bool model_groups_experts(const struct model *m)
{
    return m->c.n_expert && !m->c.quantization && model_has_trait(m, TRAIT_GROUPED_EXPERTS);
}

uint64_t model_expert_runs(const struct model *m)
{
    const struct vram_config *c = &m->c;
    if (model_groups_experts(m))
        return 1;
    bool frozen = c->lora_rank || c->task == TASK_INFERENCE;
    uint64_t most = frozen ? MODEL_EXPERT_RUNS : 1;
    uint64_t runs = c->n_expert < most ? c->n_expert : most;
    return runs ? runs : 1;
}

static bool model_adapts(const struct vram_config *c, enum lora_targets_value target)
{
    return c->lora_targets & CONFIG_BIT(target);
}

uint64_t model_adapted_parts(const struct vram_config *c)
{
    return (uint64_t)model_adapts(c, TARGET_Q) + model_adapts(c, TARGET_K) + model_adapts(c, TARGET_V);
}

uint64_t model_adapted_width(const struct vram_config *c)
{
    uint64_t q = c->n_head * c->head_dim, k = c->n_kv_head * c->head_dim;
    return model_adapts(c, TARGET_Q) * q + (model_adapts(c, TARGET_K) + (uint64_t)model_adapts(c, TARGET_V)) * k;
}

// SRC: pytorch torch/cuda/__init__.py, is_bf16_supported: arithmetic from compute capability 8.0.
bool model_lacks_bfloat16(const struct vram_config *c)
{
    return model_lacks_flash(c);
}

// A stage gets layers until its share of all matrix products is passed; the head counts as what it costs. Where the head
// alone is the last share, a stage is left with no layer: it counts as one here.
// SRC: nanotron src/nanotron/models/base.py (build_model), models/llama.py (get_block_compute_costs).
static uint64_t model_nanotron_layers(const struct vram_config *c, uint64_t stage)
{
    uint64_t width = c->n_embd, layer = 4 * c->n_head * c->head_dim * width + 3 * c->n_inner * width;
    uint64_t all = layer * c->n_layer + c->vocab_size * width, mine = 0, rank = 0;
    for (uint64_t i = 1; i <= c->n_layer; i++) {
        mine += rank == stage;
        if (layer * i * c->pipeline_parallel > all * (rank + 1) && rank + 1 < c->pipeline_parallel)
            rank++;
    }
    return mine ? mine : 1;
}

// One forward, one backward: a stage has begun as many micro-batches as there are stages behind it,
// itself included, before the first comes back. SRC: PipeDream-Flush (arXiv 2006.09503),
// Megatron-LM schedules.py.
static uint64_t model_stage_layers(const struct vram_config *c, uint64_t stage)
{
    uint64_t stages = c->pipeline_parallel, layers = c->n_layer;
    return c->framework == FRAMEWORK_NANOTRON ? model_nanotron_layers(c, stage)
                                              : layers / stages + (stage < layers % stages);
}

void model_stage(struct model *m, uint64_t stage)
{
    uint64_t stages = device_map_stages(&m->c), layers = m->c.n_layer;
    uint64_t ahead = stages - stage, begun = m->c.gradient_accumulation_steps;
    if (stages == 1)
        return;
    if (m->c.task == TASK_INFERENCE) {
        device_map_stage(m, stage);
        return;
    }
    uint64_t before = 0;
    for (uint64_t i = 0; i < stage; i++)
        before += model_stage_layers(&m->c, i);
    m->c.first_k_dense_replace -= before < m->c.first_k_dense_replace ? before : m->c.first_k_dense_replace;
    m->buffer_bytes /= layers;
    m->c.n_layer = model_stage_layers(&m->c, stage);
    m->buffer_bytes *= m->c.n_layer;
    m->first = stage == 0;
    m->last = stage + 1 == stages;
    if (m->c.pipeline_schedule == PIPELINE_SCHEDULE_AFAB)
        ahead = begun;
    m->in_flight = ahead < begun ? ahead : begun;
}
