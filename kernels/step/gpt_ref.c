// The CPU reference of every kernel but attention, loss and the end of a step: element-wise
// operations, norms, matmul.
#include "kernels/step/gpt_ref.h"

#include <math.h>

float bfloat16_to_float(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t float_to_bfloat16(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (isnan(f))
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Widens the bits and rebases the exponent by a product, which is exact for subnormal numbers too.
float half_to_float(uint16_t h)
{
    uint32_t bits = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    f *= 0x1p112f;
    memcpy(&bits, &f, sizeof bits);
    bits = (h & 0x7c00) == 0x7c00 ? (uint32_t)(h & 0x7fff) << 13 | 0x7f800000 : bits;
    bits |= sign;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t float_to_half(float f)
{
    uint32_t bits, half_bits = 0x3f000000;  // of 0.5, whose last place is the smallest fp16 number
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    float size = fabsf(f);
    if (isnan(f))
        return 0x7e00;
    if (size >= 65520)  // half a step beyond the largest finite value
        return sign | 0x7c00;
    if (size < 0x1p-14f) {  // subnormal: the sum rounds to that place
        size += 0.5f;
        memcpy(&bits, &size, sizeof bits);
        return (uint16_t)(sign | (bits - half_bits));
    }
    memcpy(&bits, &size, sizeof bits);
    bits += 0xfff + ((bits >> 13) & 1);  // nearest, ties to even
    return (uint16_t)(sign | (bits - (112u << 23)) >> 13);
}

static void ref_upload(void *ctx, tensor *out, const void *host)
{
    (void)ctx;
    memcpy(out->data, host, (size_t)out->count * dtype_size(out->type));
}

static void ref_download(void *ctx, void *host, const tensor *in)
{
    (void)ctx;
    memcpy(host, in->data, (size_t)in->count * dtype_size(in->type));
}

static void ref_zero(void *ctx, tensor *out)
{
    (void)ctx;
    memset(out->data, 0, (size_t)out->count * dtype_size(out->type));
}

static void ref_fill(void *ctx, tensor *out, double value)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++)
        ref_set(out, i, value);
}

static void ref_synchronize(void *ctx)
{
    (void)ctx;
}

static void ref_range(void *ctx, tensor *out)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++)
        ((int64_t *)out->data)[i] = i;
}

static void ref_cast(void *ctx, tensor *out, const tensor *in)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++)
        ref_set(out, i, ref_get(in, i));
}

static void ref_add(void *ctx, tensor *out, const tensor *a, const tensor *b)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++)
        ref_set(out, i, ref_get(a, i) + ref_get(b, i % b->count));
}

static void ref_add_into(void *ctx, tensor *out, const tensor *in)
{
    ref_add(ctx, out, out, in);
}

static void ref_scale(void *ctx, tensor *out, const tensor *in, double factor)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++)
        ref_set(out, i, ref_get(in, i) * factor);
}

static void ref_sum_rows(void *ctx, tensor *out, const tensor *in)
{
    (void)ctx;
    for (int64_t n = 0; n < out->count; n++) {
        double sum = 0;
        for (int64_t i = n; i < in->count; i += out->count)
            sum += ref_get(in, i);
        ref_set(out, n, sum);
    }
}

static void ref_embedding(void *ctx, tensor *out, const tensor *table, const tensor *index,
                          int64_t C)
{
    (void)ctx;
    for (int64_t i = 0; i < index->count; i++)
        for (int64_t c = 0; c < C; c++)
            ref_set(out, i * C + c, ref_get(table, ref_index(index, i) * C + c));
}

static void ref_embedding_backward(void *ctx, tensor *out, const tensor *grad, const tensor *index,
                                   int64_t C)
{
    ref_zero(ctx, out);
    for (int64_t i = 0; i < index->count; i++)
        for (int64_t c = 0; c < C; c++) {
            int64_t at = ref_index(index, i) * C + c;
            ref_set(out, at, ref_get(out, at) + ref_get(grad, i * C + c));
        }
}

static void ref_layer_norm(void *ctx, tensor *y, tensor *mean, tensor *rstd, const tensor *x,
                           const tensor *weight, const tensor *bias, int64_t C)
{
    (void)ctx;
    for (int64_t n = 0; n < x->count / C; n++) {
        double sum = 0, squares = 0;
        for (int64_t c = 0; c < C; c++)
            sum += ref_get(x, n * C + c);
        double m = sum / (double)C;
        for (int64_t c = 0; c < C; c++)
            squares += pow(ref_get(x, n * C + c) - m, 2);
        double r = 1 / sqrt(squares / (double)C + 1e-5);
        for (int64_t c = 0; c < C; c++) {
            double v = (ref_get(x, n * C + c) - m) * r * ref_get(weight, c);
            ref_set(y, n * C + c, bias ? v + ref_get(bias, c) : v);
        }
        ref_set(mean, n, m);
        ref_set(rstd, n, r);
    }
}

// dx of one row: rstd * (g - mean(g) - x_hat * mean(g * x_hat)), g = dy * weight.
static void norm_row_backward(tensor *dx, const tensor *dy, const tensor *x, const tensor *weight,
                              int64_t row, int64_t C, double m, double r)
{
    double g_sum = 0, gx_sum = 0;
    for (int64_t c = 0; c < C; c++) {
        double g = ref_get(dy, row * C + c) * ref_get(weight, c);
        g_sum += g;
        gx_sum += g * (ref_get(x, row * C + c) - m) * r;
    }
    for (int64_t c = 0; c < C; c++) {
        double g = ref_get(dy, row * C + c) * ref_get(weight, c);
        double x_hat = (ref_get(x, row * C + c) - m) * r;
        ref_set(dx, row * C + c, r * (g - g_sum / (double)C - x_hat * gx_sum / (double)C));
    }
}

static void ref_layer_norm_backward(void *ctx, tensor *dx, tensor *dweight, tensor *dbias,
                                    const tensor *dy, const tensor *x, const tensor *mean,
                                    const tensor *rstd, const tensor *weight, int64_t C)
{
    (void)ctx;
    int64_t rows = x->count / C;
    for (int64_t n = 0; n < rows; n++)
        norm_row_backward(dx, dy, x, weight, n, C, ref_get(mean, n), ref_get(rstd, n));
    for (int64_t c = 0; c < C; c++) {
        double dw = 0, db = 0;
        for (int64_t n = 0; n < rows; n++) {
            double g = ref_get(dy, n * C + c);
            dw += g * (ref_get(x, n * C + c) - ref_get(mean, n)) * ref_get(rstd, n);
            db += g;
        }
        ref_set(dweight, c, dw);
        if (dbias)
            ref_set(dbias, c, db);
    }
}

static double dot(const tensor *a, const tensor *b, const struct matmul_shape *s, int64_t batch,
                  int64_t i, int64_t j)
{
    int64_t a0 = batch * s->m * s->k, b0 = batch * s->k * s->n;
    double sum = 0;
    for (int64_t p = 0; p < s->k; p++)
        sum += ref_get(a, a0 + (s->a_transposed ? p * s->m + i : i * s->k + p)) *
               ref_get(b, b0 + (s->b_transposed ? j * s->k + p : p * s->n + j));
    return sum;
}

static void ref_matmul(void *ctx, tensor *out, const tensor *a, const tensor *b, const tensor *bias,
                       struct matmul_shape shape)
{
    (void)ctx;
    for (int64_t batch = 0; batch < shape.batch; batch++)
        for (int64_t i = 0; i < shape.m; i++)
            for (int64_t j = 0; j < shape.n; j++) {
                int64_t at = (batch * shape.m + i) * shape.n + j;
                double v = dot(a, b, &shape, batch, i, j) + (bias ? ref_get(bias, j) : 0);
                ref_set(out, at, shape.accumulate ? v + ref_get(out, at) : v);
            }
}

static void ref_gelu(void *ctx, tensor *out, const tensor *in)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++) {
        double x = ref_get(in, i);
        ref_set(out, i, 0.5 * x * (1 + erf(x * M_SQRT1_2)));
    }
}

static void ref_gelu_backward(void *ctx, tensor *dx, const tensor *dy, const tensor *x)
{
    (void)ctx;
    for (int64_t i = 0; i < dx->count; i++) {
        double v = ref_get(x, i);
        double slope = 0.5 * (1 + erf(v * M_SQRT1_2)) + v * exp(-0.5 * v * v) / sqrt(2 * M_PI);
        ref_set(dx, i, ref_get(dy, i) * slope);
    }
}

// A counter-based generator (SplitMix64's finisher): value i of a seed does not depend on the
// others.
static double uniform(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void ref_dropout(void *ctx, tensor *out, tensor *mask, const tensor *in, double p,
                        uint64_t seed)
{
    (void)ctx;
    for (int64_t i = 0; i < out->count; i++) {
        bool kept = uniform(seed, (uint64_t)i) >= p;
        ((uint8_t *)mask->data)[i] = kept;
        ref_set(out, i, kept ? ref_get(in, i) / (1 - p) : 0);
    }
}

static void ref_dropout_backward(void *ctx, tensor *dx, const tensor *dy, const tensor *mask,
                                 double p)
{
    (void)ctx;
    for (int64_t i = 0; i < dx->count; i++)
        ref_set(dx, i, ((const uint8_t *)mask->data)[i] ? ref_get(dy, i) / (1 - p) : 0);
}

static const struct gpt_ops reference = {
    .name = "reference",
    .upload = ref_upload,
    .download = ref_download,
    .zero = ref_zero,
    .fill = ref_fill,
    .synchronize = ref_synchronize,
    .range = ref_range,
    .cast = ref_cast,
    .copy = ref_cast,
    .add = ref_add,
    .add_into = ref_add_into,
    .scale = ref_scale,
    .sum_rows = ref_sum_rows,
    .embedding = ref_embedding,
    .embedding_backward = ref_embedding_backward,
    .layer_norm = ref_layer_norm,
    .layer_norm_backward = ref_layer_norm_backward,
    .matmul = ref_matmul,
    .gelu = ref_gelu,
    .gelu_backward = ref_gelu_backward,
    .dropout = ref_dropout,
    .dropout_backward = ref_dropout_backward,
    .attention = ref_attention,
    .attention_backward = ref_attention_backward,
    .concat_qkv = ref_concat_qkv,
    .split_heads = ref_split_heads,
    .merge_heads = ref_merge_heads,
    .head_split = ref_head_split,
    .causal_mask = ref_causal_mask,
    .masked_fill = ref_masked_fill,
    .softmax = ref_softmax,
    .softmax_backward = ref_softmax_backward,
    .log_softmax = ref_log_softmax,
    .log_softmax_backward = ref_log_softmax_backward,
    .nll = ref_nll,
    .nll_backward = ref_nll_backward,
    .cross_entropy_in_place = ref_cross_entropy_in_place,
    .sum_squares = ref_sum_squares,
    .clip = ref_clip,
    .unscale = ref_unscale,
    .count_steps = ref_count_steps,
    .adamw = ref_adamw,
    .adjust_scale = ref_adjust_scale,
};

const struct gpt_ops *gpt_ref_ops(void)
{
    return &reference;
}
