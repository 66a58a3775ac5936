// Softmax, log-softmax, the likelihood, and the whole loss in place: one block a row, a row read
// twice at most.
#include "kernels/cuda/cuda_ops.cuh"

static const int threads = 512;
// Elements of a row that a thread takes together, where the alignment of every row allows it.
static const int side = 8;

// True when all rows of n elements can be read and written so.
template <class T> __device__ static inline bool rows_fit(const T *rows, int64_t n)
{
    return n % side == 0 && fit_together<side>(rows);
}

// f(i, row[i]) for the elements of a row that fall to this thread.
template <class T, class F> __device__ static inline void each_in_row(const T *row, int64_t n, F f)
{
    if (!rows_fit(row, n)) {
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
            f(i, wide(row[i]));
        return;
    }
    for (int64_t i = side * threadIdx.x; i < n; i += side * blockDim.x) {
        together<T, side> e = load<T, side>(row + i);
#pragma unroll
        for (int k = 0; k < side; k++)
            f(i + k, wide(e.v[k]));
    }
}

// out[i] = f(in[i] ...) over a row.
template <class To, class F, class... From>
__device__ static inline void map_row(To *out, int64_t n, F f, const From *...in)
{
    if (!(rows_fit(out, n) && (rows_fit(in, n) && ...))) {
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
            put(out + i, f(wide(in[i])...));
        return;
    }
    for (int64_t i = side * threadIdx.x; i < n; i += side * blockDim.x)
        map_together<side>(out + i, f, (in + i)...);
}

struct row_stats {
    float largest, sum;  // sum of exp(value - largest)
};

// Largest value and sum of exponentials of a row in one pass: each thread keeps a running pair.
template <class T> __device__ static row_stats stats_of(const T *row, int64_t n)
{
    float largest = -INFINITY, sum = 0;
    each_in_row(row, n, [&](int64_t, float v) {
        if (v > largest) {
            sum *= __expf(largest - v);
            largest = v;
        }
        sum += v == -INFINITY ? 0.0f : __expf(v - largest);
    });
    row_stats s;
    s.largest = block_max(largest);
    s.sum = block_sum(sum == 0.0f ? 0.0f : sum * __expf(largest - s.largest));
    return s;
}

template <class T> __global__ void log_softmax(T *out, const T *in, int64_t V)
{
    const T *row = in + blockIdx.x * V;
    row_stats s = stats_of(row, V);
    float lse = s.largest + logf(s.sum);
    map_row(
        out + blockIdx.x * V, V, [=](float v) { return v - lse; }, row);
}

template <class T> __global__ void log_softmax_backward(T *dx, const T *dy, const T *y, int64_t V)
{
    int64_t first = blockIdx.x * V;
    float sum = 0;
    each_in_row(dy + first, V, [&](int64_t, float g) { sum += g; });
    sum = block_sum(sum);
    map_row(
        dx + first, V, [=](float g, float v) { return g - __expf(v) * sum; }, dy + first,
        y + first);
}

template <class To, class T> __global__ void softmax(To *out, const T *in, int64_t columns)
{
    const T *row = in + blockIdx.x * columns;
    row_stats s = stats_of(row, columns);
    float by = 1 / s.sum;
    map_row(
        out + blockIdx.x * columns, columns, [=](float v) { return __expf(v - s.largest) * by; },
        row);
}

template <class To, class T>
__global__ void softmax_backward(To *dx, const T *dy, const T *y, int64_t columns)
{
    int64_t first = blockIdx.x * columns;
    float sum = 0;
    for (int64_t c = threadIdx.x; c < columns; c += blockDim.x)
        sum += wide(dy[first + c]) * wide(y[first + c]);
    sum = block_sum(sum);
    map_row(
        dx + first, columns, [=](float g, float p) { return p * (g - sum); }, dy + first,
        y + first);
}

// One block: the mean of -logp at the targets.
__global__ void likelihood(float *loss, float *weight, const float *logp, const int64_t *target,
                           int64_t N, int64_t V)
{
    float sum = 0;
    for (int64_t n = threadIdx.x; n < N; n += threads)
        sum -= logp[n * V + target[n]];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        *loss = sum / (float)N;
        *weight = (float)N;
    }
}

__global__ void likelihood_backward(float *dlogp, const float *dloss, const float *weight,
                                    const int64_t *target, int64_t N, int64_t V)
{
    int64_t n = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (n < N)
        dlogp[n * V + target[n]] = -*dloss / *weight;
}

template <class T>
__global__ void in_place(T *logits, float *losses, const int64_t *target, int64_t V,
                         float gradient_factor, const float *scale)
{
    T *row = logits + blockIdx.x * V;
    int64_t word = target[blockIdx.x];
    row_stats s = stats_of(row, V);
    float at_target = wide(row[word]);
    gradient_factor *= scale ? *scale : 1.0f;
    __syncthreads();  // the target is read before any thread writes
    float by = gradient_factor / s.sum;
    map_row(
        row, V, [=](float v) { return __expf(v - s.largest) * by; }, row);
    __syncthreads();
    if (threadIdx.x == 0) {
        put(row + word, (__expf(at_target - s.largest) / s.sum - 1.0f) * gradient_factor);
        losses[blockIdx.x] = s.largest + logf(s.sum) - at_target;
    }
}

__global__ void add_losses(float *loss, const float *losses, int64_t rows, float factor)
{
    float sum = 0;
    for (int64_t n = threadIdx.x; n < rows; n += threads)
        sum += losses[n];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *loss += factor * sum;
}

static void gpu_log_softmax(void *, tensor *out, const tensor *in, int64_t V)
{
    WITH_TYPE(out->type, T,
              log_softmax<<<(unsigned)(in->count / V), threads>>>(data_of<T>(out),
                                                                  data_of<const T>(in), V))
    LAUNCH_CHECK();
}

static void gpu_log_softmax_backward(void *, tensor *dx, const tensor *dy, const tensor *y,
                                     int64_t V)
{
    WITH_TYPE(dx->type, T,
              log_softmax_backward<<<(unsigned)(y->count / V), threads>>>(
                  data_of<T>(dx), data_of<const T>(dy), data_of<const T>(y), V))
    LAUNCH_CHECK();
}

// Rows of attention are short: no more threads than columns.
static int threads_for(int64_t columns)
{
    int64_t n = (columns + 31) / 32 * 32;
    return (int)(n < threads ? n : threads);
}

static void gpu_softmax(void *, tensor *out, const tensor *in, int64_t columns)
{
    WITH_TYPE(out->type, To,
              WITH_TYPE(in->type, T,
                        softmax<<<(unsigned)(in->count / columns), threads_for(columns)>>>(
                            data_of<To>(out), data_of<const T>(in), columns)))
    LAUNCH_CHECK();
}

static void gpu_softmax_backward(void *, tensor *dx, const tensor *dy, const tensor *y,
                                 int64_t columns)
{
    WITH_TYPE(dx->type, To,
              WITH_TYPE(y->type, T,
                        softmax_backward<<<(unsigned)(y->count / columns), threads_for(columns)>>>(
                            data_of<To>(dx), data_of<const T>(dy), data_of<const T>(y), columns)))
    LAUNCH_CHECK();
}

static void gpu_nll(void *, tensor *loss, tensor *weight, const tensor *logp, const tensor *target,
                    int64_t V)
{
    likelihood<<<1, threads>>>(data_of<float>(loss), data_of<float>(weight),
                               data_of<const float>(logp), data_of<const int64_t>(target),
                               target->count, V);
    LAUNCH_CHECK();
}

static void gpu_nll_backward(void *ctx, tensor *dlogp, const tensor *dloss, const tensor *weight,
                             const tensor *target, int64_t V)
{
    ops_of(ctx)->table.zero(ctx, dlogp);
    likelihood_backward<<<blocks_for(target->count, threads), threads>>>(
        data_of<float>(dlogp), data_of<const float>(dloss), data_of<const float>(weight),
        data_of<const int64_t>(target), target->count, V);
    LAUNCH_CHECK();
}

static void gpu_cross_entropy_in_place(void *ctx, tensor *logits, tensor *loss,
                                       const tensor *target, int64_t first_row, int64_t rows,
                                       int64_t V, double loss_factor, double gradient_factor,
                                       const tensor *scale)
{
    struct cuda_ops *o = ops_of(ctx);
    float *losses = (float *)o->workspace;
    const int64_t *words = data_of<const int64_t>(target) + first_row;
    const float *by = scale ? data_of<const float>(scale) : nullptr;
    need_workspace(o, (uint64_t)rows * sizeof(float));
    WITH_TYPE(logits->type, T,
              in_place<<<(unsigned)rows, threads>>>(data_of<T>(logits), losses, words, V,
                                                    (float)gradient_factor, by))
    add_losses<<<1, threads>>>(data_of<float>(loss), losses, rows, (float)loss_factor);
    LAUNCH_CHECK();
}

void cross_entropy_install(struct gpt_ops *t)
{
    t->log_softmax = gpu_log_softmax;
    t->log_softmax_backward = gpu_log_softmax_backward;
    t->softmax = gpu_softmax;
    t->softmax_backward = gpu_softmax_backward;
    t->nll = gpu_nll;
    t->nll_backward = gpu_nll_backward;
    t->cross_entropy_in_place = gpu_cross_entropy_in_place;
}
