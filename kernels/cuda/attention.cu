// Causal attention in O(T) memory for every type and width: one warp a query (or a key), tiles of
// the other side in shared memory. Half types on newer GPUs go to attention_tensor.cu instead.
#include "kernels/cuda/cuda_ops.cuh"

static const int warps = 8;
static const int tile = 32;            // keys (or queries) read together, one by each lane
static const int most_channels = 256;  // of a head; each lane keeps this many over 32

struct heads {
    int64_t T, H, D;
    float scale;
};

// Where row t of a head begins in [N, columns].
__device__ static inline int64_t row_of(heads s, int64_t b, int64_t h, int64_t t, int64_t columns,
                                        int64_t first)
{
    return (b * s.T + t) * columns + first + h * s.D;
}

// Copies rows [first, first + tile) of one head as floats, zero beyond T. Padded rows keep banks
// apart.
template <class T>
__device__ static void load_tile(float *to, const T *from, heads s, int64_t b, int64_t h,
                                 int64_t first, int64_t columns, int64_t offset)
{
    for (int i = threadIdx.x; i < tile * s.D; i += blockDim.x) {
        int64_t t = first + i / s.D, d = i % s.D;
        to[i / s.D * (s.D + 1) + d] =
            t < s.T ? wide(from[row_of(s, b, h, t, columns, offset) + d]) : 0.0f;
    }
}

__device__ static inline float dot(const float *a, const float *b, int64_t D)
{
    float sum = 0;
    for (int64_t d = 0; d < D; d++)
        sum += a[d] * b[d];
    return sum;
}

// One warp a query: running maximum and sum, output rescaled as they grow (Dao et al., arXiv
// 2205.14135).
template <class T> __global__ void forward(T *out, float *lse, const T *qkv, heads s)
{
    extern __shared__ float memory[];
    float *k = memory, *v = k + tile * (s.D + 1), *q = v + tile * (s.D + 1);
    int64_t C = s.H * s.D, b = blockIdx.z, h = blockIdx.y,
            i = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    float *mine = q + threadIdx.x / 32 * s.D, o[most_channels / 32] = {0}, largest = -INFINITY,
          sum = 0;
    for (int64_t d = lane; i < s.T && d < s.D; d += 32)
        mine[d] = wide(qkv[row_of(s, b, h, i, 3 * C, 0) + d]) * s.scale;
    int64_t last = min(s.T, ((int64_t)blockIdx.x + 1) * warps);
    for (int64_t first = 0; first < last; first += tile) {
        __syncthreads();
        load_tile(k, qkv, s, b, h, first, 3 * C, C);
        load_tile(v, qkv, s, b, h, first, 3 * C, 2 * C);
        __syncthreads();
        if (i >= s.T || first > i)
            continue;
        float score = first + lane <= i ? dot(mine, k + lane * (s.D + 1), s.D) : -INFINITY;
        float now = fmaxf(largest, warp_max(score)), p = __expf(score - now),
              shrink = __expf(largest - now);
        largest = now;
        sum = sum * shrink + warp_sum(p);
        for (int part = 0; part * 32 < s.D; part++)
            o[part] *= shrink;
        for (int j = 0; j < tile; j++) {
            float weight = __shfl_sync(0xffffffffu, p, j);
            for (int part = 0; part * 32 + lane < s.D; part++)
                o[part] += weight * v[j * (s.D + 1) + part * 32 + lane];
        }
    }
    if (i >= s.T)
        return;
    for (int part = 0; part * 32 + lane < s.D; part++)
        put(out + row_of(s, b, h, i, C, 0) + part * 32 + lane, o[part] / sum);
    if (lane == 0)
        lse[(b * s.H + h) * s.T + i] = largest + logf(sum);
}

// delta[b, h, t] = sum over the head's channels of dout * out: one warp a row.
template <class T>
__global__ void row_products(float *delta, const T *dout, const T *out, heads s, int64_t rows)
{
    int64_t row = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    if (row >= rows)
        return;
    int64_t t = row % s.T, h = row / s.T % s.H, b = row / (s.T * s.H),
            first = row_of(s, b, h, t, s.H * s.D, 0);
    float sum = 0;
    for (int64_t d = threadIdx.x & 31; d < s.D; d += 32)
        sum += wide(dout[first + d]) * wide(out[first + d]);
    sum = warp_sum(sum);
    if ((threadIdx.x & 31) == 0)
        delta[row] = sum;
}

// One warp a query: dq = sum over keys of ds * k.
template <class T>
__global__ void backward_query(T *dq, const T *dout, const T *qkv, const float *lse,
                               const float *delta, heads s)
{
    extern __shared__ float memory[];
    float *k = memory, *v = k + tile * (s.D + 1), *own = v + tile * (s.D + 1);
    int64_t C = s.H * s.D, b = blockIdx.z, h = blockIdx.y,
            i = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    float *q = own + threadIdx.x / 32 * 2 * s.D, *g = q + s.D, sums[most_channels / 32] = {0};
    for (int64_t d = lane; i < s.T && d < s.D; d += 32) {
        q[d] = wide(qkv[row_of(s, b, h, i, 3 * C, 0) + d]);
        g[d] = wide(dout[row_of(s, b, h, i, C, 0) + d]);
    }
    int64_t row = (b * s.H + h) * s.T + i, last = min(s.T, ((int64_t)blockIdx.x + 1) * warps);
    for (int64_t first = 0; first < last; first += tile) {
        __syncthreads();
        load_tile(k, qkv, s, b, h, first, 3 * C, C);
        load_tile(v, qkv, s, b, h, first, 3 * C, 2 * C);
        __syncthreads();
        if (i >= s.T || first > i)
            continue;
        float ds = 0;
        if (first + lane <= i) {
            float p = __expf(dot(q, k + lane * (s.D + 1), s.D) * s.scale - lse[row]);
            ds = p * (dot(g, v + lane * (s.D + 1), s.D) - delta[row]) * s.scale;
        }
        for (int j = 0; j < tile; j++) {
            float weight = __shfl_sync(0xffffffffu, ds, j);
            for (int part = 0; part * 32 + lane < s.D; part++)
                sums[part] += weight * k[j * (s.D + 1) + part * 32 + lane];
        }
    }
    for (int part = 0; i < s.T && part * 32 + lane < s.D; part++)
        put(dq + row_of(s, b, h, i, C, 0) + part * 32 + lane, sums[part]);
}

// One warp a key: dv = sum over queries of p * dout, dk = sum of ds * q.
template <class T>
__global__ void backward_key(T *dk, T *dv, const T *dout, const T *qkv, const float *lse,
                             const float *delta, heads s)
{
    extern __shared__ float memory[];
    float *q = memory, *g = q + tile * (s.D + 1), *own = g + tile * (s.D + 1);
    int64_t C = s.H * s.D, b = blockIdx.z, h = blockIdx.y,
            j = (int64_t)blockIdx.x * warps + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    float *k = own + threadIdx.x / 32 * 2 * s.D, *v = k + s.D;
    float key_sums[most_channels / 32] = {0}, value_sums[most_channels / 32] = {0};
    for (int64_t d = lane; j < s.T && d < s.D; d += 32) {
        k[d] = wide(qkv[row_of(s, b, h, j, 3 * C, C) + d]);
        v[d] = wide(qkv[row_of(s, b, h, j, 3 * C, 2 * C) + d]);
    }
    for (int64_t first = (int64_t)blockIdx.x * warps / tile * tile; first < s.T; first += tile) {
        __syncthreads();
        load_tile(q, qkv, s, b, h, first, 3 * C, 0);
        load_tile(g, dout, s, b, h, first, C, 0);
        __syncthreads();
        int64_t i = first + lane, row = (b * s.H + h) * s.T + i;
        float p = 0, ds = 0;
        if (j < s.T && i >= j && i < s.T) {
            p = __expf(dot(k, q + lane * (s.D + 1), s.D) * s.scale - lse[row]);
            ds = p * (dot(v, g + lane * (s.D + 1), s.D) - delta[row]) * s.scale;
        }
        for (int n = 0; n < tile; n++) {
            float weight = __shfl_sync(0xffffffffu, ds, n), share = __shfl_sync(0xffffffffu, p, n);
            for (int part = 0; part * 32 + lane < s.D; part++) {
                key_sums[part] += weight * q[n * (s.D + 1) + part * 32 + lane];
                value_sums[part] += share * g[n * (s.D + 1) + part * 32 + lane];
            }
        }
    }
    for (int part = 0; j < s.T && part * 32 + lane < s.D; part++) {
        put(dk + row_of(s, b, h, j, C, 0) + part * 32 + lane, key_sums[part]);
        put(dv + row_of(s, b, h, j, C, 0) + part * 32 + lane, value_sums[part]);
    }
}

static heads heads_of(struct attention_shape shape)
{
    if (shape.D > most_channels) {
        fprintf(stderr, "attention.cu: error: heads of %lld channels; at most %d\n",
                (long long)shape.D, most_channels);
        exit(1);
    }
    heads s = {shape.T, shape.H, shape.D, rsqrtf((float)shape.D)};
    return s;
}

// Shared memory for two tiles and rows_per_warp rows a warp.
static size_t shared_bytes(heads s, int rows_per_warp)
{
    return sizeof(float) * (2 * tile * (s.D + 1) + warps * rows_per_warp * s.D);
}

static void gpu_attention(void *ctx, tensor *out, tensor *lse, const tensor *qkv,
                          struct attention_shape shape)
{
    if (attention_tensor(ops_of(ctx), out, lse, qkv, shape))
        return;
    heads s = heads_of(shape);
    dim3 grid(blocks_for(s.T, warps), (unsigned)s.H, (unsigned)shape.B);
    size_t bytes = shared_bytes(s, 1);
    WITH_TYPE(qkv->type, T, {
        allow_shared(forward<T>, bytes);
        forward<<<grid, 32 * warps, bytes>>>(data_of<T>(out), data_of<float>(lse),
                                             data_of<const T>(qkv), s);
    })
    LAUNCH_CHECK();
}

static void gpu_attention_backward(void *ctx, tensor *dq, tensor *dk, tensor *dv, tensor *delta,
                                   tensor *, const tensor *dout, const tensor *qkv,
                                   const tensor *out, const tensor *lse,
                                   struct attention_shape shape)
{
    heads s = heads_of(shape);
    int64_t rows = shape.B * s.H * s.T;
    float *d = data_of<float>(delta);
    WITH_TYPE(qkv->type, T,
              row_products<<<blocks_for(rows, warps), 32 * warps>>>(d, data_of<const T>(dout),
                                                                    data_of<const T>(out), s, rows))
    LAUNCH_CHECK();
    if (attention_tensor_backward(ops_of(ctx), dq, dk, dv, delta, dout, qkv, lse, shape))
        return;
    dim3 grid(blocks_for(s.T, warps), (unsigned)s.H, (unsigned)shape.B);
    size_t bytes = shared_bytes(s, 2);
    const float *l = data_of<const float>(lse);
    WITH_TYPE(qkv->type, T, {
        const T *g = data_of<const T>(dout), *x = data_of<const T>(qkv);
        allow_shared(backward_query<T>, bytes);
        allow_shared(backward_key<T>, bytes);
        backward_query<<<grid, 32 * warps, bytes>>>(data_of<T>(dq), g, x, l, d, s);
        backward_key<<<grid, 32 * warps, bytes>>>(data_of<T>(dk), data_of<T>(dv), g, x, l, d, s);
    })
    LAUNCH_CHECK();
}

void attention_install(struct gpt_ops *t)
{
    t->attention = gpu_attention;
    t->attention_backward = gpu_attention_backward;
}
