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
#else
bool card_lacks_attention(const struct vram_config *c);
#endif

#endif
