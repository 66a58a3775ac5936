// The CPU reference of the loss: log-softmax, negative log-likelihood, and both in place.
#include <math.h>

#include "kernels/step/gpt_ref.h"

// log(sum(exp(row))), with the largest value taken out first.
static double row_lse(const tensor *t, int64_t row, int64_t V)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t v = 0; v < V; v++)
        largest = fmax(largest, ref_get(t, row * V + v));
    for (int64_t v = 0; v < V; v++)
        sum += exp(ref_get(t, row * V + v) - largest);
    return largest + log(sum);
}

void ref_log_softmax(void *ctx, tensor *out, const tensor *in, int64_t V)
{
    (void)ctx;
    for (int64_t n = 0; n < in->count / V; n++) {
        double lse = row_lse(in, n, V);
        for (int64_t v = 0; v < V; v++)
            ref_set(out, n * V + v, ref_get(in, n * V + v) - lse);
    }
}

void ref_log_softmax_backward(void *ctx, tensor *dx, const tensor *dy, const tensor *y, int64_t V)
{
    (void)ctx;
    for (int64_t n = 0; n < y->count / V; n++) {
        double sum = 0;
        for (int64_t v = 0; v < V; v++)
            sum += ref_get(dy, n * V + v);
        for (int64_t v = 0; v < V; v++)
            ref_set(dx, n * V + v, ref_get(dy, n * V + v) - exp(ref_get(y, n * V + v)) * sum);
    }
}

void ref_nll(void *ctx, tensor *loss, tensor *weight, const tensor *logp, const tensor *target,
             int64_t V)
{
    (void)ctx;
    double sum = 0;
    for (int64_t n = 0; n < target->count; n++)
        sum -= ref_get(logp, n * V + ref_index(target, n));
    ref_set(loss, 0, sum / (double)target->count);
    ref_set(weight, 0, (double)target->count);
}

void ref_nll_backward(void *ctx, tensor *dlogp, const tensor *dloss, const tensor *weight,
                      const tensor *target, int64_t V)
{
    (void)ctx;
    memset(dlogp->data, 0, (size_t)dlogp->count * dtype_size(dlogp->type));
    for (int64_t n = 0; n < target->count; n++)
        ref_set(dlogp, n * V + ref_index(target, n), -ref_get(dloss, 0) / ref_get(weight, 0));
}

void ref_cross_entropy_in_place(void *ctx, tensor *logits, tensor *loss, const tensor *target,
                                int64_t first_row, int64_t rows, int64_t V, double loss_factor,
                                double gradient_factor, const tensor *scale)
{
    (void)ctx;
    double sum = 0;
    gradient_factor *= scale ? ref_get(scale, 0) : 1;
    for (int64_t n = 0; n < rows; n++) {
        double lse = row_lse(logits, n, V);
        int64_t word = ref_index(target, first_row + n);
        sum += lse - ref_get(logits, n * V + word);
        for (int64_t v = 0; v < V; v++) {
            double p = exp(ref_get(logits, n * V + v) - lse);
            ref_set(logits, n * V + v, gradient_factor * (p - (v == word)));
        }
    }
    ref_set(loss, 0, ref_get(loss, 0) + loss_factor * sum);
}
