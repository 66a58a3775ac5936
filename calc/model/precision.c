// Owns the table of number formats.

#include "calc/model/precision.h"

#include "calc/model/shape.h"

static const struct precision precisions[dtype_COUNT] = {
#define PRECISION(id, weight, frozen, compute, autocast, scaler, copies) \
    [DTYPE_##id] = {DT_##weight, DT_##frozen, DT_##compute, autocast, scaler, copies},
#include "calc/model/precision.def"
};

const struct precision *precision_of(const struct vram_config *c)
{
    return &precisions[c->dtype];
}

bool precision_is_float16(const struct vram_config *c)
{
    return c->dtype == DTYPE_FLOAT16 || c->dtype == DTYPE_FLOAT16_LOADED ||
           c->dtype == DTYPE_FLOAT16_ACCELERATE || c->dtype == DTYPE_FLOAT16_DEEPSPEED;
}
