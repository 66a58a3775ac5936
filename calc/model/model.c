// Owns what a chosen card cannot do, what kernels of attention do not know, and the experts' runs.

#include "calc/model/model.h"

static uint32_t model_capability(const struct vram_config *c)
{
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    return gpu ? gpu->compute_capability : 0;  // 0: AMD, or no card
}

// SRC: pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
// check_flash_attention_hardware_support: sm_80 and above; check_mem_efficient_hardware_support:
// from sm_50. Before 2.2 flash had a kernel for sm_75 (check_gpu_sm75_or_greater).
bool model_lacks_flash(const struct vram_config *c)
{
    return model_capability(c) > 0 && model_capability(c) < 80;
}

bool model_repeats_attention(const struct model *m)
{
    enum { BLACKWELL = 100 };
    return model_has_trait(m, TRAIT_ATTENTION_AGAIN) && model_capability(&m->c) >= BLACKWELL;
}

#ifndef VRAM_SMALL
// attn_implementation="eager": repeat_kv, products, softmax in float32, shares in the query's
// format. SRC: transformers models/llama/modeling_llama.py, eager_attention_forward, and those that
// are copied from it; traces *_eager.
static bool model_asks_for_scores(const struct model *m)
{
    const uint64_t other = HAS_LATENT | HAS_ENCODER | HAS_PICKED_KEYS | HAS_DELTA_RULE |
                           HAS_RETURNED_SHARES | HAS_ALIBI | HAS_COUNTED_POSITIONS |
                           HAS_GLOBAL_HEADS | HAS_EVERY_TOKEN;
    return m->c.attention == ATTENTION_MATH && m->c.task == TASK_TRAIN &&
           model_has_trait(m, TRAIT_WRITTEN_SCORES) && m->c.mode != MODE_REFERENCE &&
           !m->c.compile && (m->features & HAS_ROTARY) && !(m->features & other);
}
#endif

bool model_has_eager_scores(const struct model *m)
{
    bool kernel = m->c.attention == ATTENTION_FLASH_2 || (!MODEL_IS_WHOLE && m->c.compile) ||
                  m->c.task != TASK_TRAIN;
    bool sinks = !MODEL_IS_WHOLE || m->c.attention != ATTENTION_FLASH_2 ||
                 m->c.task != TASK_TRAIN || !m->c.lora_rank;
#ifndef VRAM_SMALL
    if (model_asks_for_scores(m))
        return true;
#endif
    return ((m->features & HAS_SINKS) && sinks) ||
           ((m->features & HAS_SOFT_CAP) && !kernel && model_has_trait(m, TRAIT_WRITTEN_SCORES));
}

bool model_masks_windows(const struct model *m)
{
    bool kernel = m->c.attention == ATTENTION_FLASH || m->c.attention == ATTENTION_MEM_EFFICIENT;
    // of steps that differ in length all have what the longest has
    uint64_t longest = m->c.seq_lens ? config_longest(&m->c) : m->c.seq_len;
    return model_has_trait(m, TRAIT_WINDOW_MASKS) && m->c.sliding_window &&
           longest >= m->c.sliding_window && kernel && !m->c.compile && m->c.task == TASK_TRAIN &&
           !model_gets_mask(m) && !(m->features & HAS_LATENT);
}

// SRC: transformers 5.23 masking_utils.py (sdpa_mask, find_packed_sequence_indices).
bool model_masks_rows(const struct model *m)
{
#ifdef VRAM_SMALL
    (void)m;
    return false;
#else
    return m->c.attention_mask && m->c.attention_mask != ATTENTION_MASK_GIVEN &&
           m->c.task == TASK_TRAIN && !model_has_eager_scores(m);
#endif
}

bool model_gets_mask(const struct model *m)
{
#ifdef VRAM_SMALL
    (void)m;
    return false;
#else
    return m->c.attention_mask == ATTENTION_MASK_GIVEN && m->c.task == TASK_TRAIN;
#endif
}

bool model_makes_mask(const struct model *m)
{
    bool kernel = m->c.attention == ATTENTION_FLASH || m->c.attention == ATTENTION_MEM_EFFICIENT;
    bool unused =
        (m->features & HAS_UNUSED_MASK) && kernel && model_has_trait(m, TRAIT_UNUSED_MASK);
    return unused || (m->features & HAS_PICKED_KEYS) || model_masks_windows(m) ||
           model_masks_rows(m);
}

// Where every fourth layer is without positions, layers with experts may take turns, too.
static uint32_t model_fourths(const struct model *m)
{
    uint32_t kinds = 4;
#ifndef VRAM_SMALL
    while (m->c.n_expert && kinds % m->c.moe_layer_step != 0)
        kinds += 4;
#endif
    (void)m;
    return kinds;
}

// Layers with a window and layers without take turns.
static uint32_t model_turns(const struct model *m)
{
    return m->c.sliding_window_pattern > 1 ? (uint32_t)m->c.sliding_window_pattern : 1;
}

// Both kinds get masks, whatever the length.
static bool model_masks_all(const struct model *m)
{
#ifndef VRAM_SMALL
    bool alike = model_masks_rows(m) || model_asks_for_scores(m);
    return alike && m->c.task == TASK_TRAIN && m->c.sliding_window && model_turns(m) > 1;
#else
    (void)m;
    return false;
#endif
}

uint32_t model_mask_kinds(const struct model *m)
{
    return (m->features & (HAS_SINKS | HAS_SOFT_CAP)) || model_masks_all(m) ? 2 : 1;
}

uint32_t model_layer_kinds(const struct model *m)
{
#ifndef VRAM_SMALL
    if (m->features & HAS_GLOBAL_HEADS)
        return m->c.sliding_window_pattern ? (uint32_t)m->c.sliding_window_pattern : 1;
    if (m->features & HAS_DELTA_RULE)
        return (uint32_t)m->c.full_attention_interval;
#endif
    if (m->features & HAS_FOURTH_PLAIN)
        return model_fourths(m);
    if (m->features & (HAS_SINKS | HAS_SOFT_CAP) && model_has_eager_scores(m))
        return 2;
    return model_masks_windows(m) || model_masks_all(m) ? model_turns(m) : 1;
}

bool model_groups_experts(const struct model *m)
{
    bool stay = m->c.quantization <= QUANTIZATION_NF4_DOUBLE;  // bitsandbytes takes nn.Linear alone
    return m->c.n_expert && stay && model_has_trait(m, TRAIT_GROUPED_EXPERTS);
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
    return (uint64_t)model_adapts(c, TARGET_Q) + model_adapts(c, TARGET_K) +
           model_adapts(c, TARGET_V);
}

uint64_t model_adapted_width(const struct vram_config *c)
{
    uint64_t q = c->n_head * c->head_dim, k = c->n_kv_head * c->head_dim;
    return model_adapts(c, TARGET_Q) * q +
           (model_adapts(c, TARGET_K) + (uint64_t)model_adapts(c, TARGET_V)) * k;
}

// SRC: pytorch torch/cuda/__init__.py, is_bf16_supported: arithmetic from compute capability 8.0.
bool model_lacks_bfloat16(const struct vram_config *c)
{
    return model_lacks_flash(c);
}
