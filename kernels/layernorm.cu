// Layer norm and its backward pass: one warp a row; the weights' gradients summed in two stages through the workspace.
#include "kernels/cuda_ops.cuh"

static const int warps = 8;  // rows of a block
static const int threads = 32 * warps;
static const int64_t most_parts = 128;

template <class Y>
__global__ void norm(Y *y, float *mean, float *rstd, const float *x, const float *weight, const float *bias,
                     int64_t rows, int64_t C)
{
    int64_t row = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    const float *in = x + row * C;
    float sum = 0, squares = 0;
    for (int64_t c = lane; c < C; c += 32)
        sum += in[c];
    float m = warp_sum(sum) / (float)C;
    for (int64_t c = lane; c < C; c += 32)
        squares += (in[c] - m) * (in[c] - m);
    float r = rsqrtf(warp_sum(squares) / (float)C + 1e-5f);
    for (int64_t c = lane; c < C; c += 32)
        put(y + row * C + c, (in[c] - m) * r * weight[c] + (bias ? bias[c] : 0.0f));
    if (lane == 0) {
        mean[row] = m;
        rstd[row] = r;
    }
}

// dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat)) with g = dy * weight.
template <class Y>
__global__ void norm_backward(float *dx, const Y *dy, const float *x, const float *mean, const float *rstd,
                              const float *weight, int64_t rows, int64_t C)
{
    int64_t row = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float m = mean[row], r = rstd[row], g_sum = 0, gx_sum = 0;
    for (int64_t c = lane; c < C; c += 32) {
        float g = wide(dy[row * C + c]) * weight[c];
        g_sum += g;
        gx_sum += g * (x[row * C + c] - m) * r;
    }
    g_sum = warp_sum(g_sum) / (float)C;
    gx_sum = warp_sum(gx_sum) / (float)C;
    for (int64_t c = lane; c < C; c += 32) {
        float g = wide(dy[row * C + c]) * weight[c], x_hat = (x[row * C + c] - m) * r;
        dx[row * C + c] = r * (g - g_sum - x_hat * gx_sum);
    }
}

// One part of the rows: sums of dy * x_hat, and of dy behind them, by column.
template <class Y>
__global__ void weight_sums(float *partial, const Y *dy, const float *x, const float *mean, const float *rstd,
                            int64_t rows, int64_t C, int64_t rows_per_part)
{
    int64_t c = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (c >= C)
        return;
    int64_t first = blockIdx.y * rows_per_part, last = min(rows, first + rows_per_part);
    float dweight = 0, dbias = 0;
    for (int64_t row = first; row < last; row++) {
        float g = wide(dy[row * C + c]);
        dweight += g * (x[row * C + c] - mean[row]) * rstd[row];
        dbias += g;
    }
    partial[(2 * blockIdx.y + 0) * C + c] = dweight;
    partial[(2 * blockIdx.y + 1) * C + c] = dbias;
}

__global__ void join_weight_sums(float *dweight, float *dbias, const float *partial, int64_t parts, int64_t C)
{
    int64_t c = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (c >= C)
        return;
    float w = 0, b = 0;
    for (int64_t part = 0; part < parts; part++) {
        w += partial[2 * part * C + c];
        b += partial[(2 * part + 1) * C + c];
    }
    dweight[c] = w;
    if (dbias)
        dbias[c] = b;
}

static void gpu_layer_norm(void *, tensor *y, tensor *mean, tensor *rstd, const tensor *x, const tensor *weight,
                           const tensor *bias, int64_t C)
{
    int64_t rows = x->count / C;
    const float *b = bias ? data_of<const float>(bias) : nullptr;
    WITH_TYPE(y->type, Y, norm<<<blocks_for(rows, warps), threads>>>(
        data_of<Y>(y), data_of<float>(mean), data_of<float>(rstd), data_of<const float>(x),
        data_of<const float>(weight), b, rows, C))
    LAUNCH_CHECK();
}

static void gpu_layer_norm_backward(void *ctx, tensor *dx, tensor *dweight, tensor *dbias, const tensor *dy,
                                    const tensor *x, const tensor *mean, const tensor *rstd, const tensor *weight,
                                    int64_t C)
{
    struct cuda_ops *o = ops_of(ctx);
    int64_t rows = x->count / C, room = (int64_t)(o->workspace_bytes / sizeof(float)) / (2 * C);
    int64_t parts = rows < most_parts ? rows : most_parts;
    parts = parts < room ? parts : room;
    int64_t rows_per_part = (rows + parts - 1) / parts;
    float *partial = (float *)o->workspace;
    const float *in = data_of<const float>(x), *m = data_of<const float>(mean), *r = data_of<const float>(rstd);
    WITH_TYPE(dy->type, Y, {
        const Y *g = data_of<const Y>(dy);
        norm_backward<<<blocks_for(rows, warps), threads>>>(data_of<float>(dx), g, in, m, r,
                                                            data_of<const float>(weight), rows, C);
        weight_sums<<<dim3(blocks_for(C, threads), (unsigned)parts), threads>>>(partial, g, in, m, r, rows, C,
                                                                                rows_per_part);
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
