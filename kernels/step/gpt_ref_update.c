// The CPU reference of a step's end: the norm of all gradients, clipping, unscaling, AdamW, the
// loss's scale.
#include <math.h>

#include "kernels/step/gpt_ref.h"

void ref_sum_squares(void *ctx, tensor *out, tensor *const *list, int count)
{
    (void)ctx;
    double sum = 0;
    for (int k = 0; k < count; k++)
        for (int64_t i = 0; i < list[k]->count; i++)
            sum += pow(ref_get(list[k], i), 2);
    ref_set(out, 0, sum);
}

static void multiply_all(tensor *const *list, int count, double factor)
{
    for (int k = 0; k < count; k++)
        for (int64_t i = 0; i < list[k]->count; i++)
            ref_set(list[k], i, ref_get(list[k], i) * factor);
}

void ref_clip(void *ctx, tensor *const *list, int count, const tensor *squares, double most)
{
    (void)ctx;
    double factor = most / (sqrt(ref_get(squares, 0)) + 1e-6);
    if (!(factor >= 1))  // a norm that is not a number makes all gradients so, as in PyTorch
        multiply_all(list, count, factor);
}

void ref_unscale(void *ctx, tensor *const *list, int count, tensor *found, const tensor *scale)
{
    (void)ctx;
    for (int k = 0; k < count; k++)
        for (int64_t i = 0; i < list[k]->count; i++)
            if (!isfinite(ref_get(list[k], i)))
                ref_set(found, 0, 1);
    multiply_all(list, count, 1 / ref_get(scale, 0));
}

static bool left_out(const tensor *found)
{
    return found && ref_get(found, 0) != 0;
}

void ref_count_steps(void *ctx, tensor *const *steps, int count, const tensor *found)
{
    (void)ctx;
    for (int k = 0; k < count && !left_out(found); k++)
        ref_set(steps[k], 0, ref_get(steps[k], 0) + 1);
}

// Loshchilov and Hutter, Decoupled weight decay regularization (arXiv 1711.05101), as
// torch.optim.AdamW applies it.
static void update(tensor *p, tensor *m, tensor *v, const tensor *g, const struct adamw_settings *s,
                   double step, double decay)
{
    double correct1 = 1 - pow(s->beta1, step), correct2 = 1 - pow(s->beta2, step);
    for (int64_t i = 0; i < p->count; i++) {
        double grad = ref_get(g, i);
        double first = s->beta1 * ref_get(m, i) + (1 - s->beta1) * grad;
        double second = s->beta2 * ref_get(v, i) + (1 - s->beta2) * grad * grad;
        double weight = ref_get(p, i) * (1 - s->lr * decay);
        ref_set(m, i, first);
        ref_set(v, i, second);
        ref_set(p, i, weight - s->lr * (first / correct1) / (sqrt(second / correct2) + s->epsilon));
    }
}

void ref_adamw(void *ctx, const struct adamw_lists *l, const struct adamw_settings *s,
               const tensor *found)
{
    (void)ctx;
    for (int k = 0; k < l->count && !left_out(found); k++)
        update(l->p[k], l->m[k], l->v[k], l->g[k], s,
               l->steps ? ref_get(l->steps[k], 0) : (double)s->step,
               l->decays[k] ? s->weight_decay : 0);
}

// torch.amp.GradScaler.update with its defaults: growth_factor 2, backoff_factor 0.5,
// growth_interval 2000.
void ref_adjust_scale(void *ctx, tensor *scale, tensor *growth, const tensor *found)
{
    (void)ctx;
    bool missed = left_out(found), grown = !missed && ref_get(growth, 0) + 1 >= 2000;
    ref_set(scale, 0, ref_get(scale, 0) * (missed ? 0.5 : grown ? 2 : 1));
    ref_set(growth, 0, missed || grown ? 0 : ref_get(growth, 0) + 1);
}
