// Which attention kernels a card has.

#ifndef CALC_KERNELS_OF_CARD_H
#define CALC_KERNELS_OF_CARD_H

#include "calc/model/config.h"

// Whether a training step in eager mode attends in bfloat16 on a chosen card that has no kernel for
// it: scaled_dot_product_attention then makes all scores. The small module does not know.
#ifdef VRAM_SMALL
static inline bool card_lacks_attention(const struct vram_config *c)
{
    (void)c;
    return false;
}

static inline bool kernels_lack_groups(const struct vram_config *c, bool low)
{
    (void)c;
    return low && false;
}
#else
bool card_lacks_attention(const struct vram_config *c);

// Whether no kernel takes grouped keys and values as transformers hands them over in such a step:
// memory-efficient attention, which float32 and cards before sm_80 get, knew none before PyTorch
// 2.14. low: of numbers of two bytes. c as the user wrote it: attention=mem_efficient is a choice
// of kernel, and of who makes it.
bool kernels_lack_groups(const struct vram_config *c, bool low);
#endif

#endif
