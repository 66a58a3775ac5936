// What a family has, and which runs of it are modelled.

#ifndef CALC_FAMILY_H
#define CALC_FAMILY_H

#include "calc/model/model.h"

// HAS_* of the family alone; and with what the configuration and the framework choose.
uint64_t family_has(const struct vram_config *c);
uint64_t family_features(const struct vram_config *c);

// Errors: VRAM_EUNSUPPORTED, what of the run the family is not modelled with.
int family_check(const struct vram_config *c, struct message *e);

// Whether the layers that get adapters are among the experts, which is not modelled.
bool family_adapts_experts(const struct vram_config *c);

// Gemma 4, whose layers may have experts beside a dense part.
static inline bool family_is_gemma4(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    return c->family == FAMILY_GEMMA4 || c->family == FAMILY_GEMMA4_KEYS;
#else
    (void)c;
    return false;
#endif
}

// DeepSeek V2 and V3, which torchtitan has as one model.
static inline bool family_is_deepseek(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    return c->family == FAMILY_DEEPSEEK_V2 || c->family == FAMILY_DEEPSEEK_V2_GROUPS ||
           c->family == FAMILY_DEEPSEEK_V3;
#else
    (void)c;
    return false;
#endif
}

#endif
