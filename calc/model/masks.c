// Owns which runs get masks of T x T for rows that are padded or packed.

#include "calc/model/masks.h"

#ifndef VRAM_SMALL

#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/model_limits.h"
#include "calc/model/preference.h"

// Families whose layers run as Llama's do, over sdpa. Those with windows make two masks.
bool model_takes_masks(const struct vram_config *c)
{
    const uint64_t alike = HAS_ROTARY | HAS_RMS_NORM | HAS_GATE | HAS_REPEATED_FLASH |
                           HAS_QKV_BIAS | HAS_BARE_OUTPUT | HAS_HEAD_NORM | HAS_EXPERTS |
                           HAS_GELU_GATE | HAS_EMBEDDING_SCALE | HAS_GEMMA_NORM;
    return c->task == TASK_TRAIN && framework_goes(c, BY_TRANSFORMERS) && c->transformers >= 5000 &&
           !c->compile && c->attention == ATTENTION_FLASH && c->n_kv_head > 1 && c->n_head > 1 &&
           c->sliding_window_pattern <= 1 && c->family != FAMILY_GEMMA3 && !preference_is(c) &&
           (family_has(c) & ~alike) == 0 && (family_has(c) & HAS_RMS_NORM) &&
           c->tensor_parallel == 1 && c->pipeline_parallel == 1 && !c->eval_batch_size;
}

int model_check_masks(const struct vram_config *c, struct message *e)
{
    const struct model_limit limits[] = {
        {c->attention_mask && !model_takes_masks(c), MESSAGE_masks_here, {"attention_mask"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}
#endif
