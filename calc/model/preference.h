// Preference training: steps on pairs of sequences, with a reference that is not trained.

#ifndef CALC_PREFERENCE_H
#define CALC_PREFERENCE_H

#include "calc/model/model.h"

#ifdef VRAM_SMALL  // which has no room for it
static inline bool preference_is(const struct vram_config *c)
{
    (void)c;
    return false;
}

static inline bool preference_copies(const struct vram_config *c)
{
    (void)c;
    return false;
}

static inline bool preference_refers(const struct vram_config *c)
{
    (void)c;
    return false;
}

static inline bool preference_tiles(const struct vram_config *c)
{
    (void)c;
    return false;
}

static inline bool preference_scores(const struct vram_config *c)
{
    (void)c;
    return false;
}
#else
bool preference_is(const struct vram_config *c);

// Pairs without a reference, for a reward model: its head has one output.
bool preference_scores(const struct vram_config *c);

// The reference is a model of its own, whose weights are on the card.
bool preference_copies(const struct vram_config *c);

// A step runs the reference.
bool preference_refers(const struct vram_config *c);

// The loss is TRL's from 1.15 on, which has no whole logits.
bool preference_tiles(const struct vram_config *c);

// The reference is a frozen deep copy, as in TRL before 0.29. Later it is loaded as the policy is,
// and its weights require gradients.
bool preference_freezes(const struct vram_config *c);

// What "auto" means.
void preference_resolve(struct vram_config *c);

// Errors: what is not modelled.
int preference_check(const struct vram_config *c, struct message *e);
#endif

#endif
