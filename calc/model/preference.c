// Owns what preference training needs of a configuration, and where it is modelled.
// SRC: trl 1.16 and 0.13 trainer/dpo_trainer.py.

#include "calc/model/preference.h"

#ifndef VRAM_SMALL
#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/model_limits.h"
#include "calc/model/scheme.h"

bool preference_is(const struct vram_config *c)
{
    return c->trainer == TRAINER_DPO && c->task == TASK_TRAIN;
}

bool preference_scores(const struct vram_config *c)
{
    return c->trainer == TRAINER_REWARD && c->task == TASK_TRAIN;
}

bool preference_copies(const struct vram_config *c)
{
    return preference_is(c) && (c->ref_model || !(c->lora_rank || c->precompute_ref_log_probs));
}

bool preference_refers(const struct vram_config *c)
{
    return preference_is(c) && !c->precompute_ref_log_probs;
}

bool preference_tiles(const struct vram_config *c)
{
    return c->cross_entropy == CROSS_ENTROPY_TILED;
}

bool preference_freezes(const struct vram_config *c)
{
    return c->cross_entropy == CROSS_ENTROPY_EAGER || c->cross_entropy == CROSS_ENTROPY_SELECTIVE;
}

void preference_resolve(struct vram_config *c)
{
    if (!preference_is(c) && !preference_scores(c))
        return;
    if (preference_scores(c))
        c->tie_embeddings = 0;
    else if (c->cross_entropy == CROSS_ENTROPY_AUTO)
        c->cross_entropy = CROSS_ENTROPY_TILED;
    c->keep_logits = KEEP_LOGITS_NO;  // functions' variables hold them
}

static bool preference_alone(const struct vram_config *c)
{
    return !scheme_divides_weights(c) && c->tensor_parallel == 1 && c->pipeline_parallel == 1 &&
           c->context_parallel == 1;
}

int preference_check(const struct vram_config *c, struct message *e)
{
    bool is = preference_is(c), scores = preference_scores(c), alone = preference_alone(c);
    bool eager =
        framework_goes(c, BY_TRANSFORMERS) && !c->compile && !(family_has(c) & HAS_ENCODER);
    bool selects = c->cross_entropy >= CROSS_ENTROPY_SELECTIVE &&
                   c->cross_entropy <= CROSS_ENTROPY_SELECTIVE_SLICED;
    bool known = selects || c->cross_entropy == CROSS_ENTROPY_EAGER || preference_tiles(c);
    bool other = c->offload_activations || c->lora_kernels || c->eval_accumulation_steps ||
                 c->kernels == KERNELS_FOAK || c->optimizer_in_backward;
    const struct model_limit limits[] = {
        {c->trainer && c->task != TASK_TRAIN, MESSAGE_dpo_trains, {"trainer", "task"}},
        {(c->ref_model || c->precompute_ref_log_probs) && !is,
         MESSAGE_dpo_of_ref,
         {c->ref_model ? "ref_model" : "precompute_ref_log_probs", "trainer"}},
        {(is || scores) && !alone, MESSAGE_dpo_divided, {"trainer", "parallel"}},
        {(is || scores) && (!eager || other), MESSAGE_dpo_here, {"trainer"}},
        {is && !known, MESSAGE_dpo_loss, {"trainer", "cross_entropy"}},
        {!is && selects, MESSAGE_dpo_selective, {"cross_entropy", "trainer"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}
#endif
