// Owns which runs get masks of T x T for rows that are padded or packed.

#include "calc/model/masks.h"

#ifndef VRAM_SMALL

#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/model_limits.h"
#include "calc/model/preference.h"

static bool masks_run(const struct vram_config *c)
{
    return c->task == TASK_TRAIN && framework_goes(c, BY_TRANSFORMERS) && !c->compile &&
           !preference_is(c) && c->tensor_parallel == 1 && c->pipeline_parallel == 1 &&
           !c->eval_batch_size;
}

// Scores of their own, or code of their own in which masks were not looked at.
#define MASKS_OWN (HAS_SOFT_CAP | HAS_SINKS)
#define MASKS_OTHER \
    (HAS_LATENT | HAS_ENCODER | HAS_PICKED_KEYS | HAS_DELTA_RULE | HAS_RETURNED_SHARES | \
     HAS_ALIBI | HAS_COUNTED_POSITIONS | HAS_GLOBAL_HEADS | HAS_EVERY_TOKEN)

// Families whose layers run over sdpa, which hands a mask to the kernel: those of which traces are.
static bool masks_kernel(const struct vram_config *c)
{
    return c->attention == ATTENTION_FLASH && !(family_has(c) & MASKS_OWN);
}

// Scores that are tensors meet a mask whatever the rows are, of each sequence its own. That of a
// batch they would take in its format.
static bool masks_scores(const struct vram_config *c)
{
    bool scores = c->attention == ATTENTION_MATH ||
                  ((family_has(c) & MASKS_OWN) && c->attention == ATTENTION_FLASH);
    return scores && c->attention_mask != ATTENTION_MASK_GIVEN;
}

// transformers makes the masks of all families in one place since 4.53 (masking_utils.py).
bool model_takes_masks(const struct vram_config *c)
{
    bool family = (family_has(c) & HAS_ROTARY) && !(family_has(c) & MASKS_OTHER) && c->n_head > 1;
    return masks_run(c) && family && c->transformers >= 4053 &&
           (masks_kernel(c) || masks_scores(c));
}

// Families of which transformers' own scores are not modelled: latents, whose values are narrower
// than their keys, Llama 4's, and GPT-BigCode's one key for all queries.
static bool scores_are_unknown(const struct vram_config *c)
{
    bool eager = c->attention == ATTENTION_MATH && c->task == TASK_TRAIN &&
                 framework_goes(c, BY_TRANSFORMERS) && c->mode != MODE_REFERENCE;
    return eager &&
           ((family_has(c) & (HAS_LATENT | HAS_EVERY_TOKEN)) || c->family == FAMILY_GPT_BIGCODE);
}

int model_check_masks(const struct vram_config *c, struct message *e)
{
    const char *family = vram_field_at(FIELD_family)->values[c->family];
    if (scores_are_unknown(c))
        return err_set(e, MESSAGE_scores_here, NO_POS, ABOUT("attention", "family"),
                       ARGS(arg_text("family", family)));
    const struct model_limit limits[] = {
        {c->attention_mask && !model_takes_masks(c), MESSAGE_masks_here, {"attention_mask"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}
#endif
