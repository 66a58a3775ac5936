// The operations of a training step, as a table that a processor fills in: the CPU reference, a
// GPU, or nothing at all.
//
// Shapes: N = B*T tokens, C channels, H heads of D = C/H, V words. Row-major, contiguous. "low" is
// the type that matmuls compute in: fp16 or bf16 under autocast, else the type of the weights. An
// operation never makes a tensor: the step passes every output and every scratch tensor, so that
// the step alone decides which memory is taken and when.
#ifndef KERNELS_OPS_H
#define KERNELS_OPS_H

#include "kernels/step/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// out[m, n] = a[m, k] * b[k, n] (+ out when accumulate). a_transposed: a is stored [k, m];
// b_transposed: b is [n, k]. batch such products lie behind one another.
struct matmul_shape {
    int64_t m, n, k, batch;
    bool a_transposed, b_transposed, accumulate;
};

struct attention_shape {
    int64_t B, T, H, D;
};

typedef struct tensor tensor;

struct adamw_settings {
    double lr, beta1, beta2, epsilon, weight_decay;
    int64_t step;  // from 1; for weights that have no count of their own
};

// The i-th of each list belong together. steps[i]: how often the weight has been updated, this time
// included; NULL when adamw_settings says it. decays[i]: true when weight_decay applies to it.
struct adamw_lists {
    tensor *const *p, *const *m, *const *v, *const *g, *const *steps;
    const bool *decays;
    int count;
};

struct gpt_ops {
    void *ctx;
    const char *name;

    void (*upload)(void *ctx, tensor *out, const void *host);  // as many bytes as out has
    void (*download)(void *ctx, void *host, const tensor *in);
    void (*zero)(void *ctx, tensor *out);
    void (*fill)(void *ctx, tensor *out, double value);
    void (*synchronize)(void *ctx);

    void (*range)(void *ctx, tensor *out);  // i64: 0, 1, 2, ...
    void (*cast)(void *ctx, tensor *out, const tensor *in);
    void (*copy)(void *ctx, tensor *out, const tensor *in);  // same type
    // b repeats when it is shorter than a.
    void (*add)(void *ctx, tensor *out, const tensor *a, const tensor *b);
    void (*add_into)(void *ctx, tensor *out, const tensor *in);              // out += in
    void (*scale)(void *ctx, tensor *out, const tensor *in, double factor);  // out may be in
    // Column sums: out[n] = sum over m of in[m, n], m = in->count / out->count.
    void (*sum_rows)(void *ctx, tensor *out, const tensor *in);

    void (*embedding)(void *ctx, tensor *out, const tensor *table, const tensor *index, int64_t C);
    // out[V, C] = 0, then out[index[i], :] += grad[i, :].
    void (*embedding_backward)(void *ctx, tensor *out, const tensor *grad, const tensor *index,
                               int64_t C);

    // y[N, C] = (x - mean) * rstd * weight + bias (bias may be NULL), epsilon 1e-5.
    void (*layer_norm)(void *ctx, tensor *y, tensor *mean, tensor *rstd, const tensor *x,
                       const tensor *weight, const tensor *bias, int64_t C);
    // dbias may be NULL. dweight and dbias are set, not added to.
    void (*layer_norm_backward)(void *ctx, tensor *dx, tensor *dweight, tensor *dbias,
                                const tensor *dy, const tensor *x, const tensor *mean,
                                const tensor *rstd, const tensor *weight, int64_t C);

    // bias[n] may be NULL. Accumulates in fp32 (fp64 for fp64).
    void (*matmul)(void *ctx, tensor *out, const tensor *a, const tensor *b, const tensor *bias,
                   struct matmul_shape shape);
    void (*gelu)(void *ctx, tensor *out, const tensor *in);  // 0.5 x (1 + erf(x / sqrt 2))
    void (*gelu_backward)(void *ctx, tensor *dx, const tensor *dy, const tensor *x);
    // Keeps each value with probability 1 - p, and divides it by that. mask: 1 where kept.
    void (*dropout)(void *ctx, tensor *out, tensor *mask, const tensor *in, double p,
                    uint64_t seed);
    void (*dropout_backward)(void *ctx, tensor *dx, const tensor *dy, const tensor *mask, double p);

    // Causal attention in O(T) memory. qkv[N, 3C], out[N, C], lse[B, H, T] (log of the sum of
    // exponentials).
    void (*attention)(void *ctx, tensor *out, tensor *lse, const tensor *qkv,
                      struct attention_shape shape);
    // delta: at least B*H*T of scratch. accumulator: B*H*T*D of scratch that an implementation may
    // use; may be NULL. dq, dk, dv [N, C].
    void (*attention_backward)(void *ctx, tensor *dq, tensor *dk, tensor *dv, tensor *delta,
                               tensor *accumulator, const tensor *dout, const tensor *qkv,
                               const tensor *out, const tensor *lse, struct attention_shape shape);
    void (*concat_qkv)(void *ctx, tensor *dqkv, const tensor *dq, const tensor *dk,
                       const tensor *dv, int64_t C);

    // Attention with its matrices, for comparison. part 0, 1, 2 of qkv as [B, H, T, D].
    void (*split_heads)(void *ctx, tensor *out, const tensor *qkv, int part,
                        struct attention_shape shape);
    // [B, H, T, D] into part of dqkv[N, 3C], or to [N, C] when part is -1.
    void (*merge_heads)(void *ctx, tensor *out, const tensor *in, int part,
                        struct attention_shape shape);
    // [N, C] to [B, H, T, D].
    void (*head_split)(void *ctx, tensor *out, const tensor *in, struct attention_shape shape);
    void (*causal_mask)(void *ctx, tensor *mask, int64_t T);  // u8 [T, T]: 1 where j > i
    void (*masked_fill)(void *ctx, tensor *out, const tensor *in, const tensor *mask, double value);
    // in may be lower than out; dx may be lower than dy and y.
    void (*softmax)(void *ctx, tensor *out, const tensor *in, int64_t columns);
    void (*softmax_backward)(void *ctx, tensor *dx, const tensor *dy, const tensor *y,
                             int64_t columns);

    void (*log_softmax)(void *ctx, tensor *out, const tensor *in, int64_t V);
    void (*log_softmax_backward)(void *ctx, tensor *dx, const tensor *dy, const tensor *y,
                                 int64_t V);
    // loss[1] = mean of -logp[i, target[i]]; weight[1] = number of targets.
    void (*nll)(void *ctx, tensor *loss, tensor *weight, const tensor *logp, const tensor *target,
                int64_t V);
    void (*nll_backward)(void *ctx, tensor *dlogp, const tensor *dloss, const tensor *weight,
                         const tensor *target, int64_t V);
    // The whole loss in place: logits[rows, V] become gradient_factor * scale[0] * (softmax -
    // one-hot); scale may be NULL and is then 1. loss[0] += loss_factor * sum.
    void (*cross_entropy_in_place)(void *ctx, tensor *logits, tensor *loss, const tensor *target,
                                   int64_t first_row, int64_t rows, int64_t V, double loss_factor,
                                   double gradient_factor, const tensor *scale);

    // The end of a step works on all weights together and passes its scalars on without reading
    // them: the host never waits. found[0] is 1 when a gradient was not finite, and the step is
    // then skipped; found may be NULL. out[0] = sum of the squares of all elements.
    void (*sum_squares)(void *ctx, tensor *out, tensor *const *list, int count);
    // All elements times min(1, most / (sqrt(squares[0]) + 1e-6)).
    void (*clip)(void *ctx, tensor *const *list, int count, const tensor *squares, double most);
    // All elements divided by scale[0]; found[0] = 1 when one is not finite.
    void (*unscale)(void *ctx, tensor *const *list, int count, tensor *found, const tensor *scale);
    // Adds one to each of these fp32 scalars.
    void (*count_steps)(void *ctx, tensor *const *steps, int count, const tensor *found);
    void (*adamw)(void *ctx, const struct adamw_lists *lists, const struct adamw_settings *settings,
                  const tensor *found);
    // Halved when found; doubled when growth[0], the steps since then, comes to 2000.
    void (*adjust_scale)(void *ctx, tensor *scale, tensor *growth, const tensor *found);
};

// The CPU reference, which computes in double precision. Slow and plain: everything else is
// compared with it.
const struct gpt_ops *gpt_ref_ops(void);
// Touches no memory: only for the sizes and the order of allocations.
const struct gpt_ops *gpt_dry_ops(void);

// A device for dry runs: its addresses are rising numbers. limit 0 means endless.
struct dry_device {
    uint64_t used, limit, next;
};
struct device_memory dry_device_memory(struct dry_device *d);
// The host's memory as a device, for the reference.
struct device_memory host_device_memory(void);

#ifdef __cplusplus
}
#endif

#endif
