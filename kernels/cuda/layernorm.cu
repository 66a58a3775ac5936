// Layer norm and its backward pass: one warp a row; the weights' gradients summed in two stages
// through the workspace.
#include "kernels/cuda/cuda_ops.cuh"

static const int warps = 8;  // rows of a block
static const int threads = 32 * warps;
static const int64_t most_parts = 128;
// Channels that a lane takes together, where the alignment of the rows allows it.
static const int side = 4;

// f(in[c] ...) for the channels of a row that fall to this lane, by fours when fit.
template <class F, class... From>
__device__ static inline void each_channel(int64_t C, bool fit, F f, const From *...in)
{
    int lane = threadIdx.x & 31;
    if (!fit) {
        for (int64_t c = lane; c < C; c += 32)
            f(wide(in[c])...);
        return;
    }
    auto loaded = [&](const together<From, side> &...e) {
#pragma unroll
        for (int k = 0; k < side; k++)
            f(wide(e.v[k])...);
    };
    for (int64_t c = side * lane; c < C; c += side * 32)
        loaded(load<From, side>(in + c)...);
}

// out[c] = f(in[c] ...) over a row.
template <class To, class F, class... From>
__device__ static inline void map_channels(To *out, int64_t C, bool fit, F f, const From *...in)
{
    int lane = threadIdx.x & 31;
    if (!fit) {
        for (int64_t c = lane; c < C; c += 32)
            put(out + c, f(wide(in[c])...));
        return;
    }
    for (int64_t c = side * lane; c < C; c += side * 32)
        map_together<side>(out + c, f, (in + c)...);
}

template <class Y>
__global__ void norm(Y *y, float *mean, float *rstd, const float *x, const float *weight,
                     const float *bias, int64_t rows, int64_t C, bool fit)
{
    int64_t row = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    if (row >= rows)
        return;
    const float *in = x + row * C;
    float sum = 0, squares = 0;
    each_channel(
        C, fit, [&](float v) { sum += v; }, in);
    float m = warp_sum(sum) / (float)C;
    each_channel(
        C, fit, [&](float v) { squares += (v - m) * (v - m); }, in);
    float r = rsqrtf(warp_sum(squares) / (float)C + 1e-5f);
    if (bias)
        map_channels(
            y + row * C, C, fit, [=](float v, float w, float b) { return (v - m) * r * w + b; }, in,
            weight, bias);
    else
        map_channels(
            y + row * C, C, fit, [=](float v, float w) { return (v - m) * r * w; }, in, weight);
    if ((threadIdx.x & 31) == 0) {
        mean[row] = m;
        rstd[row] = r;
    }
}

// dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat)) with g = dy * weight.
template <class Y>
__global__ void norm_backward(float *dx, const Y *dy, const float *x, const float *mean,
                              const float *rstd, const float *weight, int64_t rows, int64_t C,
                              bool fit)
{
    int64_t row = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    if (row >= rows)
        return;
    float m = mean[row], r = rstd[row], g_sum = 0, gx_sum = 0;
    const float *in = x + row * C;
    const Y *slope = dy + row * C;
    each_channel(
        C, fit,
        [&](float dy_c, float v, float w) {
            g_sum += dy_c * w;
            gx_sum += dy_c * w * (v - m) * r;
        },
        slope, in, weight);
    g_sum = warp_sum(g_sum) / (float)C;
    gx_sum = warp_sum(gx_sum) / (float)C;
    map_channels(
        dx + row * C, C, fit,
        [=](float g, float v, float w) { return r * (g * w - g_sum - (v - m) * r * gx_sum); },
        slope, in, weight);
}

// One part of the rows: sums of dy * x_hat, and of dy behind them, by column.
template <class Y>
__global__ void weight_sums(float *partial, const Y *dy, const float *x, const float *mean,
                            const float *rstd, int64_t rows, int64_t C, int64_t rows_per_part)
{
    int64_t c = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (c >= C)
        return;
    int64_t first = blockIdx.y * rows_per_part, last = min(rows, first + rows_per_part);
    float dweight = 0, dbias = 0;
#pragma unroll 4
    for (int64_t row = first; row < last; row++) {
        float g = wide(dy[row * C + c]);
        dweight += g * (x[row * C + c] - mean[row]) * rstd[row];
        dbias += g;
    }
    partial[(2 * blockIdx.y + 0) * C + c] = dweight;
    partial[(2 * blockIdx.y + 1) * C + c] = dbias;
}

__global__ void join_weight_sums(float *dweight, float *dbias, const float *partial, int64_t parts,
                                 int64_t C)
{
    int64_t c = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (c >= C)
        return;
    float w = 0, b = 0;
#pragma unroll 8
    for (int64_t part = 0; part < parts; part++) {
        w += partial[2 * part * C + c];
        b += partial[(2 * part + 1) * C + c];
    }
    dweight[c] = w;
    if (dbias)
        dbias[c] = b;
}

template <class Y>
static bool fits(int64_t C, const Y *y, const float *a, const float *b, const float *c)
{
    return C % side == 0 && fit_together<side>(y) && fit_together<side>(a) &&
           fit_together<side>(b) && fit_together<side>(c);
}

static void gpu_layer_norm(void *, tensor *y, tensor *mean, tensor *rstd, const tensor *x,
                           const tensor *weight, const tensor *bias, int64_t C)
{
    int64_t rows = x->count / C;
    const float *b = bias ? data_of<const float>(bias) : nullptr, *in = data_of<const float>(x);
    const float *w = data_of<const float>(weight);
    WITH_TYPE(y->type, Y,
              norm<<<blocks_for(rows, warps), threads>>>(data_of<Y>(y), data_of<float>(mean),
                                                         data_of<float>(rstd), in, w, b, rows, C,
                                                         fits(C, data_of<const Y>(y), in, w, b)))
    LAUNCH_CHECK();
}

static void gpu_layer_norm_backward(void *ctx, tensor *dx, tensor *dweight, tensor *dbias,
                                    const tensor *dy, const tensor *x, const tensor *mean,
                                    const tensor *rstd, const tensor *weight, int64_t C)
{
    struct cuda_ops *o = ops_of(ctx);
    int64_t rows = x->count / C, room = (int64_t)(o->workspace_bytes / sizeof(float)) / (2 * C);
    int64_t parts = rows < most_parts ? rows : most_parts;
    parts = parts < room ? parts : room;
    int64_t rows_per_part = (rows + parts - 1) / parts;
    float *partial = (float *)o->workspace;
    const float *in = data_of<const float>(x), *m = data_of<const float>(mean),
                *r = data_of<const float>(rstd);
    const float *w = data_of<const float>(weight);
    need_workspace(o, (uint64_t)(2 * C) * sizeof(float));
    WITH_TYPE(dy->type, Y, {
        const Y *g = data_of<const Y>(dy);
        norm_backward<<<blocks_for(rows, warps), threads>>>(
            data_of<float>(dx), g, in, m, r, w, rows, C,
            fits(C, g, in, w, data_of<const float>(dx)));
        weight_sums<<<dim3(blocks_for(C, threads), (unsigned)parts), threads>>>(
            partial, g, in, m, r, rows, C, rows_per_part);
    })
    join_weight_sums<<<blocks_for(C, threads), threads>>>(
        data_of<float>(dweight), dbias ? data_of<float>(dbias) : nullptr, partial, parts, C);
    LAUNCH_CHECK();
}

void layernorm_install(struct gpt_ops *t)
{
    t->layer_norm = gpu_layer_norm;
    t->layer_norm_backward = gpu_layer_norm_backward;
}
