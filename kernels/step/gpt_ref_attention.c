// The CPU reference of attention: with O(T) memory, and with the matrices written out.
#include <math.h>
#include <stdlib.h>

#include "kernels/step/gpt_ref.h"

// Element of part (0 query, 1 key, 2 value) of qkv[N, 3C].
static int64_t at_part(struct attention_shape s, int part, int64_t b, int64_t t, int64_t h,
                       int64_t d)
{
    int64_t C = s.H * s.D;
    return (b * s.T + t) * 3 * C + part * C + h * s.D + d;
}

static int64_t at_token(struct attention_shape s, int64_t b, int64_t t, int64_t h, int64_t d)
{
    return (b * s.T + t) * s.H * s.D + h * s.D + d;
}

static double score(const tensor *qkv, struct attention_shape s, int64_t b, int64_t h, int64_t i,
                    int64_t j)
{
    double sum = 0;
    for (int64_t d = 0; d < s.D; d++)
        sum += ref_get(qkv, at_part(s, 0, b, i, h, d)) * ref_get(qkv, at_part(s, 1, b, j, h, d));
    return sum / sqrt((double)s.D);
}

static void attend(tensor *out, tensor *lse, const tensor *qkv, struct attention_shape s, int64_t b,
                   int64_t h, int64_t i)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j <= i; j++)
        largest = fmax(largest, score(qkv, s, b, h, i, j));
    for (int64_t j = 0; j <= i; j++)
        sum += exp(score(qkv, s, b, h, i, j) - largest);
    for (int64_t d = 0; d < s.D; d++) {
        double v = 0;
        for (int64_t j = 0; j <= i; j++)
            v += exp(score(qkv, s, b, h, i, j) - largest) / sum *
                 ref_get(qkv, at_part(s, 2, b, j, h, d));
        ref_set(out, at_token(s, b, i, h, d), v);
    }
    ref_set(lse, (b * s.H + h) * s.T + i, largest + log(sum));
}

void ref_attention(void *ctx, tensor *out, tensor *lse, const tensor *qkv, struct attention_shape s)
{
    (void)ctx;
    for (int64_t b = 0; b < s.B; b++)
        for (int64_t h = 0; h < s.H; h++)
            for (int64_t i = 0; i < s.T; i++)
                attend(out, lse, qkv, s, b, h, i);
}

// The gradients of one head's queries, keys and values, [T, D] each, summed in double and rounded
// once: sums in bfloat16 would stray by some percent from kernels that sum in float32.
struct head_sums {
    double *dq, *dk, *dv;
};

// The contributions of query i and key j.
static void pair_backward(struct head_sums *sums, const tensor *dout, const tensor *qkv,
                          struct attention_shape s, int64_t b, int64_t h, int64_t i, int64_t j,
                          double p, double delta)
{
    double dp = 0;
    for (int64_t d = 0; d < s.D; d++)
        dp += ref_get(dout, at_token(s, b, i, h, d)) * ref_get(qkv, at_part(s, 2, b, j, h, d));
    double ds = p * (dp - delta) / sqrt((double)s.D);
    for (int64_t d = 0; d < s.D; d++) {
        sums->dq[i * s.D + d] += ds * ref_get(qkv, at_part(s, 1, b, j, h, d));
        sums->dk[j * s.D + d] += ds * ref_get(qkv, at_part(s, 0, b, i, h, d));
        sums->dv[j * s.D + d] += p * ref_get(dout, at_token(s, b, i, h, d));
    }
}

static void head_backward(struct head_sums *sums, tensor *delta, const tensor *dout,
                          const tensor *qkv, const tensor *out, const tensor *lse,
                          struct attention_shape s, int64_t b, int64_t h)
{
    for (int64_t i = 0; i < s.T; i++) {
        int64_t row = (b * s.H + h) * s.T + i;
        double sum = 0;
        for (int64_t d = 0; d < s.D; d++) {
            int64_t at = at_token(s, b, i, h, d);
            sum += ref_get(dout, at) * ref_get(out, at);
        }
        ref_set(delta, row, sum);
        for (int64_t j = 0; j <= i; j++) {
            double p = exp(score(qkv, s, b, h, i, j) - ref_get(lse, row));
            pair_backward(sums, dout, qkv, s, b, h, i, j, p, sum);
        }
    }
}

void ref_attention_backward(void *ctx, tensor *dq, tensor *dk, tensor *dv, tensor *delta,
                            tensor *accumulator, const tensor *dout, const tensor *qkv,
                            const tensor *out, const tensor *lse, struct attention_shape s)
{
    (void)ctx;
    (void)accumulator;
    size_t of_head = (size_t)(s.T * s.D);
    double *memory = malloc(3 * of_head * sizeof *memory);
    if (!memory)
        exit(3);
    struct head_sums sums = {memory, memory + of_head, memory + 2 * of_head};
    for (int64_t b = 0; b < s.B; b++)
        for (int64_t h = 0; h < s.H; h++) {
            memset(memory, 0, 3 * of_head * sizeof *memory);
            head_backward(&sums, delta, dout, qkv, out, lse, s, b, h);
            for (int64_t i = 0; i < s.T; i++)
                for (int64_t d = 0; d < s.D; d++) {
                    ref_set(dq, at_token(s, b, i, h, d), sums.dq[i * s.D + d]);
                    ref_set(dk, at_token(s, b, i, h, d), sums.dk[i * s.D + d]);
                    ref_set(dv, at_token(s, b, i, h, d), sums.dv[i * s.D + d]);
                }
        }
    free(memory);
}

void ref_concat_qkv(void *ctx, tensor *dqkv, const tensor *dq, const tensor *dk, const tensor *dv,
                    int64_t C)
{
    (void)ctx;
    const tensor *parts[] = {dq, dk, dv};
    for (int64_t n = 0; n < dq->count / C; n++)
        for (int part = 0; part < 3; part++)
            for (int64_t c = 0; c < C; c++)
                ref_set(dqkv, (n * 3 + part) * C + c, ref_get(parts[part], n * C + c));
}

// Calls `one` for each element, with (index in [B, H, T, D], b, t, h, d).
#define EACH_HEAD_ELEMENT(s, k, b, t, h, d) \
    for (int64_t b = 0, k = 0; b < (s).B; b++) \
        for (int64_t h = 0; h < (s).H; h++) \
            for (int64_t t = 0; t < (s).T; t++) \
                for (int64_t d = 0; d < (s).D; d++, k++)

void ref_split_heads(void *ctx, tensor *out, const tensor *qkv, int part, struct attention_shape s)
{
    (void)ctx;
    EACH_HEAD_ELEMENT(s, k, b, t, h, d)
    ref_set(out, k, ref_get(qkv, at_part(s, part, b, t, h, d)));
}

void ref_merge_heads(void *ctx, tensor *out, const tensor *in, int part, struct attention_shape s)
{
    (void)ctx;
    EACH_HEAD_ELEMENT(s, k, b, t, h, d)
    ref_set(out, part < 0 ? at_token(s, b, t, h, d) : at_part(s, part, b, t, h, d), ref_get(in, k));
}

void ref_head_split(void *ctx, tensor *out, const tensor *in, struct attention_shape s)
{
    (void)ctx;
    EACH_HEAD_ELEMENT(s, k, b, t, h, d)
    ref_set(out, k, ref_get(in, at_token(s, b, t, h, d)));
}

void ref_causal_mask(void *ctx, tensor *mask, int64_t T)
{
    (void)ctx;
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++)
            ref_set(mask, i * T + j, j > i);
}

void ref_masked_fill(void *ctx, tensor *out, const tensor *in, const tensor *mask, double value)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++)
        ref_set(out, i, ref_get(mask, i % mask->count) != 0 ? value : ref_get(in, i));
}

void ref_softmax(void *ctx, tensor *out, const tensor *in, int64_t columns)
{
    (void)ctx;
    for (int64_t n = 0; n < in->count / columns; n++) {
        double largest = -INFINITY, sum = 0;
        for (int64_t c = 0; c < columns; c++)
            largest = fmax(largest, ref_get(in, n * columns + c));
        for (int64_t c = 0; c < columns; c++)
            sum += exp(ref_get(in, n * columns + c) - largest);
        for (int64_t c = 0; c < columns; c++)
            ref_set(out, n * columns + c, exp(ref_get(in, n * columns + c) - largest) / sum);
    }
}

void ref_softmax_backward(void *ctx, tensor *dx, const tensor *dy, const tensor *y, int64_t columns)
{
    (void)ctx;
    for (int64_t n = 0; n < y->count / columns; n++) {
        double sum = 0;
        for (int64_t c = 0; c < columns; c++)
            sum += ref_get(dy, n * columns + c) * ref_get(y, n * columns + c);
        for (int64_t c = 0; c < columns; c++) {
            int64_t i = n * columns + c;
            ref_set(dx, i, ref_get(y, i) * (ref_get(dy, i) - sum));
        }
    }
}
