// Owns the step on pairs: the policy's activations are there while the reference runs. SRC:
// trl 1.16 trainer/dpo_trainer.py (_compute_loss), 0.13 (get_batch_loss_metrics,
// concatenated_forward).

#include "calc/trace/pass_preference.h"

#ifndef VRAM_SMALL
#include "calc/model/preference.h"
#include "calc/trace/cache.h"

// A copy is in eval mode; without one the adapters are off.
static void preference_bare(struct graph *g)
{
    bool copy = preference_copies(&g->m->c);
    layout_strip(&g->layout);
    g->training = g->training && !copy;
    g->frozen = copy && preference_freezes(&g->m->c);
}

// with torch.no_grad()
static struct preference preference_refer(struct graph *g, uint32_t ids, uint32_t targets,
                                          pass_forward_fn *forward)
{
    const struct layout own = g->layout;
    bool grad = g->grad, training = g->training;
    struct value cos = g->cos, sin = g->sin;
    uint32_t masks[2] = {g->masks[0], g->masks[1]};
    g->cos = g->sin = graph_none();
    g->masks[0] = g->masks[1] = TAPE_NONE;
    g->grad = false;
    preference_bare(g);
    bool returns_cache = g->returns_cache;
    cache_open_reference(g);
    struct preference p = loss_preference(g, ids, targets, forward);
    g->returns_cache = returns_cache;
    g->grad = grad;
    g->training = training;
    g->frozen = false;
    g->layout = own;
    g->cos = cos;
    g->sin = sin;
    g->masks[0] = masks[0];
    g->masks[1] = masks[1];
    return p;
}

static void preference_drop(struct graph *g, const struct preference *p)
{
    graph_drop(g, p->shifted);
    graph_drop(g, p->logits);
}

struct value pass_preference(struct graph *g, uint32_t ids, uint32_t targets,
                             pass_forward_fn *forward)
{
    struct preference none = {graph_none(), graph_none(), graph_none()};
    struct preference policy = loss_preference(g, ids, targets, forward);
    bool refers = preference_refers(&g->m->c);
    struct preference reference = refers ? preference_refer(g, ids, targets, forward) : none;
    bool grad = g->grad;
    g->grad = false;
    loss_preference_logged(g, &policy);
    g->grad = grad;
    graph_drop(g, reference.rows);
    preference_drop(g, &policy);
    preference_drop(g, &reference);
    return policy.rows;
}
#endif
