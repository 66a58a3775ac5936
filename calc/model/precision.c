// Owns the table of number formats.

#include "calc/model/precision.h"

#include "calc/model/framework.h"
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

bool precision_is_accelerate(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    if (c->dtype == DTYPE_BFLOAT16_ACCELERATE_WIDE || c->dtype == DTYPE_FLOAT16_ACCELERATE_WIDE)
        return true;
#endif
    return c->dtype == DTYPE_BFLOAT16_ACCELERATE || c->dtype == DTYPE_FLOAT16_ACCELERATE;
}

bool precision_is_float16(const struct vram_config *c)
{
#ifndef VRAM_SMALL
    if (c->dtype == DTYPE_FLOAT16_ACCELERATE_WIDE)
        return true;
#endif
    return c->dtype == DTYPE_FLOAT16 || c->dtype == DTYPE_FLOAT16_LOADED ||
           c->dtype == DTYPE_FLOAT16_ACCELERATE || c->dtype == DTYPE_FLOAT16_DEEPSPEED;
}

bool precision_generates_narrow(const struct vram_config *c)
{
    const struct precision *p = precision_of(c);
    bool wide = p->autocast && p->weight == DT_F32 && framework_goes(c, BY_WIDE_GENERATION);
    return c->task == TASK_INFERENCE && c->dtype != DTYPE_FLOAT32 && !wide;
}
