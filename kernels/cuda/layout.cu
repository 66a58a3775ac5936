// Kernels that move elements between layouts: query, key and value in one row, tokens by heads.
#include "kernels/cuda/cuda_ops.cuh"

static const int threads = 256;

// The index in [N, columns], from column `first` on, of an element of [B, H, T, D].
struct head_place {
    int64_t H, T, D, columns, first;

    __device__ int64_t operator()(int64_t i) const
    {
        if (i >> 31 == 0) {  // 64-bit division takes several times as long
            unsigned n = (unsigned)i, width = (unsigned)D, length = (unsigned)T, d = n % width,
                     row = n / width;
            unsigned t = row % length, head = row / length;
            return ((int64_t)(head / (unsigned)H) * T + t) * columns + first +
                   (int64_t)(head % (unsigned)H) * D + d;
        }
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

// A row of q, of k or of v to its third of a row of the result, in elements of T: one block each.
template <class T> __global__ void join(T *out, const T *q, const T *k, const T *v, int64_t C)
{
    const T *part = (blockIdx.y == 0 ? q : blockIdx.y == 1 ? k : v) + blockIdx.x * C;
    T *to = out + blockIdx.x * 3 * C + blockIdx.y * C;
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x)
        to[c] = part[c];
}

static head_place place_of(struct attention_shape s, int part)
{
    int64_t C = s.H * s.D;
    head_place p = {s.H, s.T, s.D, part < 0 ? C : 3 * C, part < 0 ? 0 : part * C};
    return p;
}

static void gpu_split_heads(void *, tensor *out, const tensor *qkv, int part,
                            struct attention_shape s)
{
    WITH_TYPE(out->type, T,
              gather<<<blocks_for(out->count, threads), threads>>>(
                  data_of<T>(out), data_of<const T>(qkv), out->count, place_of(s, part)))
    LAUNCH_CHECK();
}

static void gpu_head_split(void *ctx, tensor *out, const tensor *in, struct attention_shape s)
{
    gpu_split_heads(ctx, out, in, -1, s);
}

static void gpu_merge_heads(void *, tensor *out, const tensor *in, int part,
                            struct attention_shape s)
{
    WITH_TYPE(out->type, T,
              scatter<<<blocks_for(in->count, threads), threads>>>(
                  data_of<T>(out), data_of<const T>(in), in->count, place_of(s, part)))
    LAUNCH_CHECK();
}

template <class T>
static void run_join(tensor *out, const tensor *q, const tensor *k, const tensor *v,
                     int64_t row_bytes)
{
    int64_t C = row_bytes / (int64_t)sizeof(T),
            rows = (int64_t)((uint64_t)q->count * dtype_size(q->type)) / row_bytes;
    join<<<dim3((unsigned)rows, 3), threads / 2>>>(data_of<T>(out), data_of<const T>(q),
                                                   data_of<const T>(k), data_of<const T>(v), C);
    LAUNCH_CHECK();
}

// Copied as bytes, in the largest units that divide a row.
static void gpu_concat_qkv(void *, tensor *dqkv, const tensor *dq, const tensor *dk,
                           const tensor *dv, int64_t C)
{
    int64_t bytes = C * (int64_t)dtype_size(dqkv->type);
    uintptr_t all = (uintptr_t)dqkv->data | (uintptr_t)dq->data | (uintptr_t)dk->data |
                    (uintptr_t)dv->data | (uintptr_t)bytes;
    if (all % sizeof(uint4) == 0)
        run_join<uint4>(dqkv, dq, dk, dv, bytes);
    else
        run_join<uint16_t>(dqkv, dq, dk, dv, bytes);
}

void layout_install(struct gpt_ops *t)
{
    t->split_heads = gpu_split_heads;
    t->head_split = gpu_head_split;
    t->merge_heads = gpu_merge_heads;
    t->concat_qkv = gpu_concat_qkv;
}
