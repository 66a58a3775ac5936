// Owns the table of frameworks.

#include "calc/model/framework.h"

#include "calc/model/model.h"

static const struct framework frameworks[] = {
#define FRAMEWORK_ROW(id, loss, keep_logits, sharding, features, habits) \
    [FRAMEWORK_##id] = {CROSS_ENTROPY_##loss, KEEP_LOGITS_##keep_logits, PARALLEL_##sharding, \
                        features, habits},
#include "calc/model/frameworks.def"
};

uint64_t framework_id(const struct vram_config *c)
{
    if (c->framework != FRAMEWORK_AUTO)
        return c->framework;
    return c->family == FAMILY_GPT2 ? FRAMEWORK_NANOGPT : FRAMEWORK_TRANSFORMERS;
}

const struct framework *framework_of(const struct vram_config *c)
{
    return &frameworks[framework_id(c)];
}
