// Kernels that move elements between layouts: query, key and value side by side, tokens by heads.
#include "kernels/cuda_ops.cuh"

static const int threads = 256;

// Where an element of [B, H, T, D] stands in [N, columns], from column `first` on.
struct head_place {
    int64_t H, T, D, columns, first;

    __device__ int64_t operator()(int64_t i) const
    {
        int64_t d = i % D, t = i / D % T, h = i / (D * T) % H, b = i / (D * T * H);
        return (b * T + t) * columns + first + h * D + d;
    }
};

template <class T> __global__ void gather(T *out, const T *in, int64_t n, head_place place)
{
    int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i < n)
        out[i] = in[place(i)];
}

template <class T> __global__ void scatter(T *out, const T *in, int64_t n, head_place place)
{
    int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i < n)
        out[place(i)] = in[i];
}

template <class T> __global__ void join(T *out, const T *q, const T *k, const T *v, int64_t n, int64_t C)
{
    int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i >= n)
        return;
    int64_t c = i % (3 * C), row = i / (3 * C);
    const T *part = c < C ? q : c < 2 * C ? k : v;
    out[i] = part[row * C + c % C];
}

static head_place place_of(struct attention_shape s, int part)
{
    int64_t C = s.H * s.D;
    head_place p = {s.H, s.T, s.D, part < 0 ? C : 3 * C, part < 0 ? 0 : part * C};
    return p;
}

static void gpu_split_heads(void *, tensor *out, const tensor *qkv, int part, struct attention_shape s)
{
    WITH_TYPE(out->type, T, gather<<<blocks_for(out->count, threads), threads>>>(
        data_of<T>(out), data_of<const T>(qkv), out->count, place_of(s, part)))
    LAUNCH_CHECK();
}

static void gpu_head_split(void *ctx, tensor *out, const tensor *in, struct attention_shape s)
{
    gpu_split_heads(ctx, out, in, -1, s);
}

static void gpu_merge_heads(void *, tensor *out, const tensor *in, int part, struct attention_shape s)
{
    WITH_TYPE(out->type, T, scatter<<<blocks_for(in->count, threads), threads>>>(
        data_of<T>(out), data_of<const T>(in), in->count, place_of(s, part)))
    LAUNCH_CHECK();
}

static void gpu_concat_qkv(void *, tensor *dqkv, const tensor *dq, const tensor *dk, const tensor *dv, int64_t C)
{
    WITH_TYPE(dqkv->type, T, join<<<blocks_for(dqkv->count, threads), threads>>>(
        data_of<T>(dqkv), data_of<const T>(dq), data_of<const T>(dk), data_of<const T>(dv), dqkv->count, C))
    LAUNCH_CHECK();
}

void layout_install(struct gpt_ops *t)
{
    t->split_heads = gpu_split_heads;
    t->head_split = gpu_head_split;
    t->merge_heads = gpu_merge_heads;
    t->concat_qkv = gpu_concat_qkv;
}
