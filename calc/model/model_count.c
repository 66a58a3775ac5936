// Owns what a model has in numbers: its parameters and tensors, and the buffers that its code
// registers.

#include "calc/model/model_count.h"

#include "calc/base/size.h"
#include "calc/model/experts.h"
#include "calc/model/framework.h"
#include "calc/model/layout.h"
#include "calc/model/precision.h"

static void model_add(struct model *m, const struct layout_param *p, uint64_t times)
{
    uint64_t n = size_mul(times, size_mul(p->rows, p->cols ? p->cols : 1));
    m->params = size_add(m->params, n);
    m->tensors += times;
    if (p->trained)
        m->trained_params = size_add(m->trained_params, n);
    if (p->matrix) {
        m->decayed_params = size_add(m->decayed_params, n);
        m->decayed_tensors += times;
    } else {
        m->nodecay_params = size_add(m->nodecay_params, n);
        m->nodecay_tensors += times;
    }
}

// Tables of cosines and sines in every layer, in the format in which the model is made.
static uint64_t model_tables(const struct model *m)
{
    static const uint8_t of_family[] = {
        [FAMILY_LLAMA] = TRAIT_TABLES_OF_LLAMA,       [FAMILY_MISTRAL] = TRAIT_TABLES_OF_MISTRAL,
        [FAMILY_MIXTRAL] = TRAIT_TABLES_OF_MIXTRAL,   [FAMILY_QWEN2] = TRAIT_TABLES_OF_QWEN2,
        [FAMILY_STARCODER2] = TRAIT_TABLES_OF_OTHERS, [FAMILY_GPT_NEOX] = TRAIT_TABLES_OF_OTHERS,
        [FAMILY_PHI] = TRAIT_TABLES_OF_OTHERS};
    uint64_t family = m->c.family;
    if (family >= sizeof of_family || !of_family[family] ||
        !model_has_trait(m, (enum model_trait)of_family[family]))
        return 0;
    uint64_t width = m->c.head_dim * m->c.partial_rotary_factor / 1000000;
    uint64_t bytes = precision_of(&m->c)->frozen == DT_F32 ? 4 : 2;
    return size_mul3(2 * bytes * m->c.n_layer, m->c.block_size, width);
}

// torchtitan's angles as complex numbers, or Qwen3's as cosines and sines for both halves, of the
// whole sequence; those of a part take their place while a step lasts, and a copy of the whole ones
// waits. SRC: torchtitan models/llama3/model/model.py (freqs_cis of max_seq_len, which is
// training.seq_len), models/qwen3/model/model.py (precompute_rope_cache); pytorch
// torch/distributed/tensor/experimental/_attention.py, context_parallel (buffers that are
// restored); traces titan_*.
static uint64_t model_angles(const struct model *m)
{
    bool latent = MODEL_IS_WHOLE && (m->features & HAS_LATENT);
    uint64_t width =
        (latent ? m->c.qk_rope_head_dim : m->c.head_dim * m->c.partial_rotary_factor / 1000000) / 2;
    bool cut = m->c.context_parallel > 1 && model_has_trait(m, TRAIT_ANGLES_CUT);
    bool twice = cut || (m->features & HAS_HEAD_NORM);
    return framework_goes(&m->c, BY_COMPLEX_ANGLES) ? size_mul3(twice ? 16 : 8, m->c.seq_len, width)
                                                    : 0;
}

#ifndef VRAM_SMALL
static uint64_t model_rotated(const struct model *m)
{
    return m->c.head_dim * m->c.partial_rotary_factor / 1000000;
}

// nanotron's: every layer's rotation keeps cosines and sines of half a head's width, in bfloat16,
// from its first forward pass on. SRC: nanotron src/nanotron/models/llama.py (CausalSelfAttention,
// flash_rotary_embedding), flash-attention flash_attn/layers/rotary.py
// (RotaryEmbedding._update_cos_sin_cache).
static uint64_t model_rotations(const struct model *m)
{
    return framework_goes(&m->c, BY_NANOTRON)
               ? size_mul3(2 * m->c.n_layer, m->c.seq_len, m->c.head_dim)
               : 0;
}
#endif

#ifndef VRAM_SMALL
// torchtitan's experts have a bias and a count of tokens each; where they are divided, a layer
// keeps the places of its rows to the next step. SRC: torchtitan models/moe/moe.py, MoE
// (expert_bias, tokens_per_expert); distributed/expert_parallel.py, ExpertParallel
// (permuted_indices).
static uint64_t model_balances(const struct model *m)
{
    uint64_t layers = m->c.n_layer - model_dense_count(m);
    if (!model_permutes_experts(m))
        return 0;
    uint64_t places = m->c.expert_parallel > 1 ? model_permuted_rows(m) : 0;
    return size_mul3(4, layers, size_add(2 * m->c.n_expert, places));
}
#endif

// Causal masks that are registered, a byte for each pair of positions: one in every block, or one
// in all. nanoGPT's are of float32, and there where no kernel masks by itself.
static uint64_t model_masks(const struct model *m)
{
    uint64_t one = size_mul(m->c.block_size, m->c.block_size), all = size_mul(m->c.n_layer, one);
    switch (m->c.family) {
    case FAMILY_GPT2:
#ifndef VRAM_SMALL
        if (model_has_trait(m, TRAIT_REGISTERED_MASKS_OF_GPT2))
            return all;
#endif
        if (framework_goes(&m->c, BY_TRANSFORMERS))
            return 0;
        return m->c.attention == ATTENTION_MATH ? size_mul(4, all) : 0;
    case FAMILY_GPT_NEOX: return model_has_trait(m, TRAIT_REGISTERED_MASKS) ? all : 0;
#ifndef VRAM_SMALL
    case FAMILY_GPT_BIGCODE: return one;
    case FAMILY_GPT_NEO: return all;
#endif
    default: return 0;
    }
}

void model_count(struct model *m)
{
    struct layout l;
    layout_make(&l, m);
    for (unsigned i = 0; i < l.before_count; i++)
        model_add(m, &l.before[i], 1);
    for (unsigned i = 0; i < l.block_count; i++)
        model_add(m, &l.block[i], layout_times(&l.block[i], m));
    for (unsigned i = 0; i < l.after_count; i++)
        model_add(m, &l.after[i], 1);
    m->block_tensors = l.block_count;
    m->reported_params = m->params;
    if (m->features & HAS_POSITIONS)
        m->reported_params -= model_position_rows(m) * m->c.n_embd;
    m->buffer_bytes = model_masks(m);
    m->buffer_bytes = size_add(m->buffer_bytes, size_add(model_tables(m), model_angles(m)));
#ifndef VRAM_SMALL
    if (m->c.family == FAMILY_GPTJ || m->c.family == FAMILY_CODEGEN)  // sines and cosines
        m->buffer_bytes = size_mul3(4 * m->c.n_layer, m->c.block_size, model_rotated(m));
    m->buffer_bytes = size_add(m->buffer_bytes, size_add(model_rotations(m), model_balances(m)));
#endif
    if (m->features & HAS_ENCODER)
        m->buffer_bytes =  // position_ids and token_type_ids
            size_mul(model_has_kinds(m) ? 2 * 8 : 8, m->c.block_size);
}
