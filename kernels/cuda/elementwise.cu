// Kernels that compute each element from those with the same index: cast, add, scale, GELU,
// dropout, mask, embedding.
#include "kernels/cuda/cuda_ops.cuh"

static const int threads = 256;
// Elements of a thread: adjacent where they can be loaded together, else a block's width apart.
static const int per_thread = 8;

// out[i] = f(in[i] ...) for every i below n.
template <class To, class F, class... From>
__global__ void map(To *out, int64_t n, bool fit, F f, const From *...in)
{
    int64_t first = (int64_t)blockIdx.x * threads * per_thread,
            i = first + (int64_t)threadIdx.x * per_thread;
    if (fit && i + per_thread <= n) {
        map_together<per_thread>(out + i, f, (in + i)...);
        return;
    }
    if (fit) {
        for (; i < n; i++)
            put(out + i, f(wide(in[i])...));
        return;
    }
    for (i = first + threadIdx.x; i < n && i < first + threads * per_thread; i += threads)
        put(out + i, f(wide(in[i])...));
}

template <class To, class F, class... From>
static void map_all(To *out, int64_t n, F f, const From *...in)
{
    bool fit = fit_together<per_thread>(out) && (fit_together<per_thread>(in) && ...);
    map<<<blocks_for(n, threads * per_thread), threads>>>(out, n, fit, f, in...);
    LAUNCH_CHECK();
}

// f(i) for every i below n, where f needs more than the element itself.
template <class F> __global__ void each(int64_t n, F f)
{
    int64_t first = (int64_t)blockIdx.x * threads * per_thread + threadIdx.x;
#pragma unroll
    for (int k = 0; k < per_thread; k++) {
        int64_t i = first + k * threads;
        if (i < n)
            f(i);
    }
}

template <class F> static void for_each(int64_t n, F f)
{
    each<<<blocks_for(n, threads * per_thread), threads>>>(n, f);
    LAUNCH_CHECK();
}

// i modulo n: in 32 bits where they are enough, since 64 take several times as long.
__device__ static inline int64_t modulo(int64_t i, int64_t n)
{
    return i >> 32 || n >> 32 ? i % n : (int64_t)((uint32_t)i % (uint32_t)n);
}

static void gpu_range(void *, tensor *out)
{
    int64_t *o = data_of<int64_t>(out);
    for_each(out->count, [=] __device__(int64_t i) { o[i] = i; });
}

static void gpu_fill(void *, tensor *out, double value)
{
    float v = (float)value;
    WITH_TYPE(out->type, T, {
        T *o = data_of<T>(out);
        for_each(out->count, [=] __device__(int64_t i) { put(o + i, v); });
    })
}

static void gpu_cast(void *, tensor *out, const tensor *in)
{
    WITH_TYPE(out->type, To,
              WITH_TYPE(in->type, From,
                        map_all(
                            data_of<To>(out), out->count, [] __device__(float x) { return x; },
                            data_of<const From>(in))))
}

// b repeats when it is shorter.
static void gpu_add(void *, tensor *out, const tensor *a, const tensor *b)
{
    int64_t period = b->count;
    WITH_TYPE(out->type, First, WITH_TYPE(b->type, Second, {
                  First *o = data_of<First>(out);
                  const First *x = data_of<const First>(a);
                  const Second *y = data_of<const Second>(b);
                  if (period == out->count)
                      map_all(
                          o, out->count, [] __device__(float v, float w) { return v + w; }, x, y);
                  else
                      for_each(out->count, [=] __device__(int64_t i) {
                          put(o + i, wide(x[i]) + wide(y[modulo(i, period)]));
                      });
              }))
}

static void gpu_add_into(void *ctx, tensor *out, const tensor *in)
{
    gpu_add(ctx, out, out, in);
}

static void gpu_scale(void *, tensor *out, const tensor *in, double factor)
{
    float by = (float)factor;
    WITH_TYPE(out->type, T,
              map_all(
                  data_of<T>(out), out->count, [=] __device__(float x) { return x * by; },
                  data_of<const T>(in)))
}

static void gpu_gelu(void *, tensor *out, const tensor *in)
{
    WITH_TYPE(out->type, T,
              map_all(
                  data_of<T>(out), out->count, [] __device__(float x) { return x * normcdff(x); },
                  data_of<const T>(in)))
}

// The slope is the normal distribution's sum up to x, plus x times its density at x.
static void gpu_gelu_backward(void *, tensor *dx, const tensor *dy, const tensor *in){
    WITH_TYPE(dx->type, T,
              map_all(
                  data_of<T>(dx), dx->count,
                  [] __device__(float g, float x) {
                      return g * (normcdff(x) + x * 0.3989422804f * __expf(-0.5f * x * x));
                  },
                  data_of<const T>(dy), data_of<const T>(in)))}

// The generator of the reference (gpt_ref.c), so that both drop the same elements.
__device__ static inline double uniform(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void gpu_dropout(void *, tensor *out, tensor *mask, const tensor *in, double p,
                        uint64_t seed)
{
    uint8_t *m = data_of<uint8_t>(mask);
    float by = (float)(1 / (1 - p));
    WITH_TYPE(out->type, T, {
        T *o = data_of<T>(out);
        const T *x = data_of<const T>(in);
        for_each(out->count, [=] __device__(int64_t i) {
            bool kept = uniform(seed, (uint64_t)i) >= p;
            m[i] = kept;
            put(o + i, kept ? wide(x[i]) * by : 0.0f);
        });
    })
}

static void gpu_dropout_backward(void *, tensor *dx, const tensor *dy, const tensor *mask, double p)
{
    float by = (float)(1 / (1 - p));
    WITH_TYPE(dx->type, T,
              map_all(
                  data_of<T>(dx), dx->count,
                  [=] __device__(float g, float kept) { return kept != 0 ? g * by : 0.0f; },
                  data_of<const T>(dy), data_of<const uint8_t>(mask)))
}

static void gpu_causal_mask(void *, tensor *mask, int64_t T)
{
    uint8_t *m = data_of<uint8_t>(mask);
    for_each(T * T, [=] __device__(int64_t i) { m[i] = i % T > i / T; });
}

static void gpu_masked_fill(void *, tensor *out, const tensor *in, const tensor *mask, double value)
{
    const uint8_t *m = data_of<const uint8_t>(mask);
    int64_t period = mask->count;
    float fill = (float)value;
    WITH_TYPE(out->type, T, {
        T *o = data_of<T>(out);
        const T *x = data_of<const T>(in);
        for_each(out->count, [=] __device__(int64_t i) {
            put(o + i, m[modulo(i, period)] ? fill : wide(x[i]));
        });
    })
}

// One block a row.
__global__ void take_rows(float *out, const float *from, const int64_t *at, int64_t C)
{
    const float *row = from + at[blockIdx.x] * C;
    for (int64_t c = threadIdx.x; c < C; c += threads)
        out[blockIdx.x * C + c] = row[c];
}

__global__ void add_rows(float *out, const float *from, const int64_t *at, int64_t C)
{
    float *row = out + at[blockIdx.x] * C;
    for (int64_t c = threadIdx.x; c < C; c += threads)
        atomicAdd(row + c, from[blockIdx.x * C + c]);
}

static void gpu_embedding(void *, tensor *out, const tensor *table, const tensor *index, int64_t C)
{
    take_rows<<<blocks_for(index->count, 1), threads>>>(
        data_of<float>(out), data_of<const float>(table), data_of<const int64_t>(index), C);
    LAUNCH_CHECK();
}

static void gpu_embedding_backward(void *ctx, tensor *out, const tensor *grad, const tensor *index,
                                   int64_t C)
{
    ops_of(ctx)->table.zero(ctx, out);
    add_rows<<<blocks_for(index->count, 1), threads>>>(
        data_of<float>(out), data_of<const float>(grad), data_of<const int64_t>(index), C);
    LAUNCH_CHECK();
}

void elementwise_install(struct gpt_ops *t)
{
    t->range = gpu_range;
    t->cast = gpu_cast;
    t->add = gpu_add;
    t->add_into = gpu_add_into;
    t->scale = gpu_scale;
    t->gelu = gpu_gelu;
    t->gelu_backward = gpu_gelu_backward;
    t->dropout = gpu_dropout;
    t->dropout_backward = gpu_dropout_backward;
    t->causal_mask = gpu_causal_mask;
    t->masked_fill = gpu_masked_fill;
    t->embedding = gpu_embedding;
    t->embedding_backward = gpu_embedding_backward;
    t->fill = gpu_fill;
}
