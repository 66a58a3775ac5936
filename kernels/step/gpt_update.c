// The end of an optimizer step: unscaling, clipping, AdamW, freeing the gradients. Its scalars stay
// on the device.
#include "kernels/step/gpt.h"

#define POOL (&g->pool)
#define OPS(operation, ...) g->ops->operation(g->ops->ctx, __VA_ARGS__)

// Places in g->listed.
enum { LIST_WEIGHTS, LIST_FIRST, LIST_SECOND, LIST_GRADIENTS, LIST_STEPS };

// The optimizer makes its state in its first step, weight by weight.
static void make_state(struct gpt *g, int slot)
{
    tensor *w = g->weights[slot];
    g->first_moments[slot] = tensor_new(POOL, w->type, w->count, CATEGORY_OPTIMIZER);
    OPS(zero, g->first_moments[slot]);
    g->second_moments[slot] = tensor_new(POOL, w->type, w->count, CATEGORY_OPTIMIZER);
    OPS(zero, g->second_moments[slot]);
    if (g->config.split_adamw)
        return;  // foreach AdamW counts its steps on the host
    g->steps[slot] = tensor_new(POOL, DTYPE_F32, 1, CATEGORY_OPTIMIZER);
    OPS(zero, g->steps[slot]);
}

// The weights that have a gradient, without holes; their number.
static int list(struct gpt *g)
{
    tensor **all[] = {[LIST_WEIGHTS] = g->weights,
                      [LIST_FIRST] = g->first_moments,
                      [LIST_SECOND] = g->second_moments,
                      [LIST_GRADIENTS] = g->gradients,
                      [LIST_STEPS] = g->steps};
    int count = 0;
    for (int slot = 0; slot < g->slots; slot++) {
        if (!g->gradients[slot])
            continue;
        for (int i = 0; i < 5; i++)
            g->listed[i][count] = all[i][slot];
        g->decays[count++] = gpt_slot_is_matrix(slot);
    }
    return count;
}

// torch.nn.utils.clip_grad_norm_ with a norm of 1.
static void clip(struct gpt *g, int count)
{
    tensor *squares = gpt_make_scalar(g, 0);
    OPS(sum_squares, squares, g->listed[LIST_GRADIENTS], count);
    OPS(clip, g->listed[LIST_GRADIENTS], count, squares, 1.0);
    tensor_drop(POOL, &squares);
}

static void adamw(struct gpt *g, int count, const tensor *found)
{
    const struct adamw_settings settings = {.lr = g->config.lr,
                                            .beta1 = 0.9,
                                            .beta2 = 0.95,
                                            .epsilon = 1e-8,
                                            .weight_decay = g->config.weight_decay,
                                            .step = ++g->updates};
    const struct adamw_lists lists = {.p = g->listed[LIST_WEIGHTS],
                                      .m = g->listed[LIST_FIRST],
                                      .v = g->listed[LIST_SECOND],
                                      .g = g->listed[LIST_GRADIENTS],
                                      .steps = g->config.split_adamw ? NULL : g->listed[LIST_STEPS],
                                      .decays = g->decays,
                                      .count = count};
    if (lists.steps)
        OPS(count_steps, lists.steps, count, found);
    OPS(adamw, &lists, &settings, found);
}

// The square roots that foreach AdamW makes of all weights before it divides by them.
static void split_temporaries(struct gpt *g, tensor **temporaries, bool make)
{
    for (int slot = 0; slot < g->slots; slot++) {
        if (make && g->weights[slot])
            temporaries[slot] = tensor_new(POOL, g->weights[slot]->type, g->weights[slot]->count,
                                           CATEGORY_OPTIMIZER);
        else
            tensor_drop(POOL, &temporaries[slot]);
    }
}

// True when the host decides to skip the step. Fused AdamW looks at `found` on the device; for
// foreach AdamW GradScaler reads it, and waits (torch/amp/grad_scaler.py, _maybe_opt_step).
static bool left_out(struct gpt *g, const tensor *found)
{
    return found && g->config.split_adamw && gpt_read_scalar(g, found) != 0;
}

void gpt_update(struct gpt *g)
{
    tensor *found = g->scale ? gpt_make_scalar(g, 0) : NULL;
    int count = list(g);
    if (found)
        OPS(unscale, g->listed[LIST_GRADIENTS], count, found, g->scale);
    if (g->config.train_loop)
        clip(g, count);
    if (!left_out(g, found)) {
        for (int slot = 0; slot < g->slots; slot++)
            if (g->weights[slot] && !g->first_moments[slot])
                make_state(g, slot);
        adamw(g, list(g), found);
        if (g->config.split_adamw) {
            split_temporaries(g, g->casts, true);  // the cast cache is empty between passes
            split_temporaries(g, g->casts, false);
        }
    }
    if (found)
        OPS(adjust_scale, g->scale, g->growth, found);
    tensor_drop(POOL, &found);
    for (int slot = 0; slot < g->slots; slot++)
        tensor_drop(POOL, &g->gradients[slot]);
}
