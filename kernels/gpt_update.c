// The end of an optimizer step: unscaling, clipping, AdamW, gradients let go.
#include "kernels/gpt.h"

#include <math.h>

#define POOL (&g->pool)
#define OPS(operation, ...) g->ops->operation(g->ops->ctx, __VA_ARGS__)

// Divides the gradients by the loss scale. False when one of them is not finite: then the step is left out.
static bool unscale(struct gpt *g)
{
    for (int i = 0; i < 2; i++)  // the scale and its growth tracker live for the whole run
        if (!g->scaler_state[i])
            g->scaler_state[i] = tensor_new(POOL, DTYPE_F32, 1, CATEGORY_OPTIMIZER);
    tensor *found = gpt_make_scalar(g, 0);
    for (int slot = 0; slot < g->slots; slot++)
        if (g->gradients[slot])
            OPS(unscale, g->gradients[slot], found, 1 / g->scale);
    bool finite = gpt_read_scalar(g, found) == 0;
    tensor_drop(POOL, &found);
    return finite;
}

// torch.nn.utils.clip_grad_norm_ with a norm of 1.
static void clip(struct gpt *g)
{
    tensor *sum = gpt_make_scalar(g, 0);
    for (int slot = 0; slot < g->slots; slot++)
        if (g->gradients[slot])
            OPS(sum_squares, sum, g->gradients[slot]);
    double norm = sqrt(gpt_read_scalar(g, sum));
    tensor_drop(POOL, &sum);
    double factor = 1 / (norm + 1e-6);
    if (!(factor < 1))
        return;
    for (int slot = 0; slot < g->slots; slot++)
        if (g->gradients[slot])
            OPS(scale, g->gradients[slot], g->gradients[slot], factor);
}

// The optimizer makes its state in its first step, weight by weight.
static void make_state(struct gpt *g, int slot)
{
    tensor *w = g->weights[slot];
    g->first_moments[slot] = tensor_new(POOL, w->type, w->count, CATEGORY_OPTIMIZER);
    OPS(zero, g->first_moments[slot]);
    g->second_moments[slot] = tensor_new(POOL, w->type, w->count, CATEGORY_OPTIMIZER);
    OPS(zero, g->second_moments[slot]);
    if (!g->config.split_adamw)
        g->steps[slot] = tensor_new(POOL, DTYPE_F32, 1, CATEGORY_OPTIMIZER);
}

static void adamw(struct gpt *g)
{
    for (int slot = 0; slot < g->slots; slot++)
        if (g->weights[slot] && !g->first_moments[slot])
            make_state(g, slot);
    for (int slot = 0; slot < g->slots; slot++) {
        if (!g->gradients[slot])
            continue;
        struct adamw_settings settings = {
            .lr = g->config.lr, .beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .step = g->step_number + 1,
            .weight_decay = gpt_slot_is_matrix(slot) ? g->config.weight_decay : 0};
        OPS(adamw, g->weights[slot], g->first_moments[slot], g->second_moments[slot], g->gradients[slot], &settings);
    }
}

// The square roots that foreach AdamW makes of all weights before it divides by them.
static void split_temporaries(struct gpt *g, tensor **temporaries, bool make)
{
    for (int slot = 0; slot < g->slots; slot++) {
        if (make && g->weights[slot])
            temporaries[slot] = tensor_new(POOL, g->weights[slot]->type, g->weights[slot]->count, CATEGORY_OPTIMIZER);
        else
            tensor_drop(POOL, &temporaries[slot]);
    }
}

void gpt_update(struct gpt *g)
{
    bool scaled = g->config.train_loop && g->config.dtype == DTYPE_F16;
    bool finite = !scaled || unscale(g);
    if (g->config.train_loop && finite)
        clip(g);
    if (finite)
        adamw(g);
    if (finite && g->config.split_adamw) {
        split_temporaries(g, g->casts, true);  // the cast cache is empty between passes
        split_temporaries(g, g->casts, false);
    }
    if (scaled)
        g->scale = finite ? g->scale : g->scale / 2;
    for (int slot = 0; slot < g->slots; slot++)
        tensor_drop(POOL, &g->gradients[slot]);
}
