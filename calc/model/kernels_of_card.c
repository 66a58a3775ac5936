// Owns which number formats a card's attention kernels take.

#include "calc/model/kernels_of_card.h"

#ifndef VRAM_SMALL

#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/model.h"
#include "calc/model/precision.h"

// SRC: pytorch aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, use_mem_efficient_attention:
// bfloat16 from sm_80 on (greater_than_or_equal_sm80_mem_efficient_dtypes).
bool card_lacks_attention(const struct vram_config *c)
{
    // bfloat16_pure is of both kinds of two bytes
    bool bfloat16 =
        c->dtype != DTYPE_FLOAT32 && c->dtype != DTYPE_BFLOAT16_PURE && !precision_is_float16(c);
    return bfloat16 && model_lacks_bfloat16(c) && c->attention != ATTENTION_MATH &&
           c->task == TASK_TRAIN && !c->compile && c->context_parallel == 1 &&
           c->mode != MODE_REFERENCE && !(family_has(c) & HAS_LATENT);
}

// SRC: pytorch 2.13 aten/src/ATen/native/transformers/cuda/sdp_utils.cpp,
// can_use_mem_efficient_attention (check_batch_size_and_num_heads_dense<false>); pull request
// 191085 of July 2026, in 2.14. transformers integrations/sdpa_attention.py, use_gqa_in_sdpa:
// from 4.54 on.
bool kernels_lack_groups(const struct vram_config *c, bool low)
{
    bool asks = framework_goes(c, BY_TRANSFORMERS) && c->transformers >= 4054 && c->torch >= 2005 &&
                c->torch < 2014;
    bool flash = low && !model_lacks_flash(c);
    return asks && !flash && c->attention == ATTENTION_FLASH && !c->attention_mask &&
           c->n_kv_head != c->n_head && (family_has(c) & HAS_ROTARY) &&
           c->kernels != KERNELS_UNSLOTH && c->task == TASK_TRAIN && !c->compile &&
           c->context_parallel == 1 && c->mode != MODE_REFERENCE &&
           !(family_has(c) & (HAS_LATENT | HAS_GLOBAL_HEADS));
}

#endif
