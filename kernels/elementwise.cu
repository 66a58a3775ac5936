// Kernels that make each element from those at the same place: cast, add, scale, GELU, dropout, mask, embedding.
#include "kernels/cuda_ops.cuh"

static const int threads = 256;
static const int per_thread = 4;  // elements a thread handles, a block's width apart, so that loads are coalesced

// out[i] = f(i) for every i below n.
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
    WITH_TYPE(out->type, To, WITH_TYPE(in->type, From, {
        To *o = data_of<To>(out);
        const From *x = data_of<const From>(in);
        for_each(out->count, [=] __device__(int64_t i) { put(o + i, wide(x[i])); });
    }))
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
            for_each(out->count, [=] __device__(int64_t i) { put(o + i, wide(x[i]) + wide(y[i])); });
        else
            for_each(out->count, [=] __device__(int64_t i) { put(o + i, wide(x[i]) + wide(y[i % period])); });
    }))
}

static void gpu_add_into(void *ctx, tensor *out, const tensor *in)
{
    gpu_add(ctx, out, out, in);
}

static void gpu_scale(void *, tensor *out, const tensor *in, double factor)
{
    float by = (float)factor;
    WITH_TYPE(out->type, T, {
        T *o = data_of<T>(out);
        const T *x = data_of<const T>(in);
        for_each(out->count, [=] __device__(int64_t i) { put(o + i, wide(x[i]) * by); });
    })
}

static void gpu_gelu(void *, tensor *out, const tensor *in)
{
    WITH_TYPE(out->type, T, {
        T *o = data_of<T>(out);
        const T *x = data_of<const T>(in);
        for_each(out->count, [=] __device__(int64_t i) { put(o + i, wide(x[i]) * normcdff(wide(x[i]))); });
    })
}

// The slope is the normal distribution's sum up to x, plus x times its density at x.
static void gpu_gelu_backward(void *, tensor *dx, const tensor *dy, const tensor *in)
{
    WITH_TYPE(dx->type, T, {
        T *o = data_of<T>(dx);
        const T *g = data_of<const T>(dy);
        const T *x = data_of<const T>(in);
        for_each(dx->count, [=] __device__(int64_t i) {
            float v = wide(x[i]);
            put(o + i, wide(g[i]) * (normcdff(v) + v * 0.3989422804f * __expf(-0.5f * v * v)));
        });
    })
}

// The reference's generator (gpt_ref.c), so that both drop the same elements.
__device__ static inline double uniform(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void gpu_dropout(void *, tensor *out, tensor *mask, const tensor *in, double p, uint64_t seed)
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
    const uint8_t *m = data_of<const uint8_t>(mask);
    float by = (float)(1 / (1 - p));
    WITH_TYPE(dx->type, T, {
        T *o = data_of<T>(dx);
        const T *g = data_of<const T>(dy);
        for_each(dx->count, [=] __device__(int64_t i) { put(o + i, m[i] ? wide(g[i]) * by : 0.0f); });
    })
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
        for_each(out->count, [=] __device__(int64_t i) { put(o + i, m[i % period] ? fill : wide(x[i])); });
    })
}

static void gpu_embedding(void *, tensor *out, const tensor *table, const tensor *index, int64_t C)
{
    const int64_t *at = data_of<const int64_t>(index);
    float *o = data_of<float>(out);
    const float *w = data_of<const float>(table);
    for_each(out->count, [=] __device__(int64_t i) { o[i] = w[at[i / C] * C + i % C]; });
}

static void gpu_embedding_backward(void *ctx, tensor *out, const tensor *grad, const tensor *index, int64_t C)
{
    const int64_t *at = data_of<const int64_t>(index);
    float *o = data_of<float>(out);
    const float *g = data_of<const float>(grad);
    ops_of(ctx)->table.zero(ctx, out);
    for_each(grad->count, [=] __device__(int64_t i) { atomicAdd(o + at[i / C] * C + i % C, g[i]); });
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
