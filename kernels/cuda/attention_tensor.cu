// Causal attention on tensor cores, compute capability 8.0 and newer: 64 rows a block, 16 a warp,
// scores kept in registers. Forward by the running maximum of FlashAttention-2 (Dao, arXiv
// 2307.08691); backward in two kernels, one by keys and one by queries, so that nothing is added
// atomically and the result is the same each time. tensor_core.cuh has the instructions and says
// which lane holds which element.
#include "kernels/cuda/cuda_ops.cuh"
#include "kernels/cuda/tensor_core.cuh"

static const int rows = 64;  // of a block
static const int warps = 4;
static const int threads = 32 * warps;
// Halves behind each row in shared memory: they keep the rows of ldmatrix in different banks.
static const int pad = 8;

#define LOG2_E 1.44269504f

struct heads {
    int T, H;
    float scale, scale_log2;
};

// A matrix in shared memory; stride is the number of halves from row to row.
template <class T> struct shared_matrix {
    T *data;
    int stride;

    // Rows row..row+15, columns column..column+15 as the first operand.
    __device__ void first(u32 a[4], int row, int column) const
    {
        int lane = threadIdx.x & 31;
        load_four(a, data + (row + (lane & 15)) * stride + column + (lane >> 4) * 8);
    }

    // Two second operands from a matrix stored [n, k]: rows n..n+7 and n+8..n+15, columns k..k+15.
    __device__ void second(u32 b[4], int n, int k) const
    {
        int lane = threadIdx.x & 31;
        load_four(b, data + (n + (lane >> 4) * 8 + (lane & 7)) * stride + k + (lane >> 3 & 1) * 8);
    }

    // Two second operands from a matrix stored [k, n]: rows k..k+15, columns n..n+7 and n+8..n+15.
    __device__ void second_turned(u32 b[4], int k, int n) const
    {
        int lane = threadIdx.x & 31;
        load_four_turned(b, data + (k + (lane & 15)) * stride + n + (lane >> 4) * 8);
    }
};

// Copies count rows of D halves, 16 bytes at a time, zero beyond row T.
template <class T, int D>
__device__ static void load_rows(shared_matrix<T> to, const T *head, int first, int count,
                                 int64_t row_stride, int T_rows)
{
    const int chunks = D / 8;
    for (int i = threadIdx.x; i < count * chunks; i += threads) {
        int row = i / chunks, chunk = i % chunks;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (first + row < T_rows)
            v = *reinterpret_cast<const uint4 *>(head + (first + row) * row_stride + chunk * 8);
        *reinterpret_cast<uint4 *>(to.data + row * to.stride + chunk * 8) = v;
    }
}

// c[n] += a(rows of `left` from row on) * right^T, right stored [columns, D].
template <class T, int D, int COLUMNS>
__device__ static void scores(float c[COLUMNS / 8][4], shared_matrix<T> left, int row,
                              shared_matrix<T> right)
{
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        u32 a[4];
        left.first(a, row, k * 16);
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n += 2) {
            u32 b[4];
            right.second(b, n * 8, k * 16);
            multiply(c[n], a, b, (const T *)nullptr);
            multiply(c[n + 1], a, b + 2, (const T *)nullptr);
        }
    }
}

// sum[n] += p * values, p an accumulator of 16 x COLUMNS and values stored [COLUMNS, D].
template <class T, int D, int COLUMNS>
__device__ static void weigh(float sum[D / 8][4], float p[COLUMNS / 8][4], shared_matrix<T> values)
{
    const T *tag = nullptr;
#pragma unroll
    for (int k = 0; k < COLUMNS / 16; k++) {
        u32 a[4] = {pack(p[2 * k][0], p[2 * k][1], tag), pack(p[2 * k][2], p[2 * k][3], tag),
                    pack(p[2 * k + 1][0], p[2 * k + 1][1], tag),
                    pack(p[2 * k + 1][2], p[2 * k + 1][3], tag)};
#pragma unroll
        for (int n = 0; n < D / 8; n += 2) {
            u32 b[4];
            values.second_turned(b, k * 16, n * 8);
            multiply(sum[n], a, b, tag);
            multiply(sum[n + 1], a, b + 2, tag);
        }
    }
}

// Writes 16 x D sums, times factor, to rows of a head; rows from T on are left out.
template <class T, int D>
__device__ static void store_rows(T *head, const float sum[D / 8][4], const float factor[2],
                                  int row, int64_t row_stride, int T_rows)
{
    int t = threadIdx.x & 3;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int64_t at = row + 8 * half;
        if (at >= T_rows)
            continue;
#pragma unroll
        for (int n = 0; n < D / 8; n++)
            *reinterpret_cast<u32 *>(head + at * row_stride + n * 8 + 2 * t) =
                pack(sum[n][2 * half] * factor[half], sum[n][2 * half + 1] * factor[half],
                     (const T *)nullptr);
    }
}

// Over the four lanes that share a row.
__device__ static inline float quad_max(float v)
{
    v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 1));
    return fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 2));
}

__device__ static inline float quad_sum(float v)
{
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

// Masks the keys of a tile that a row does not see.
template <int COLUMNS>
__device__ static void hide_later(float s[COLUMNS / 8][4], int row, int first, int T_rows)
{
    int t = threadIdx.x & 3;
#pragma unroll
    for (int n = 0; n < COLUMNS / 8; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int key = first + n * 8 + 2 * t + (e & 1);
            if (key > row + (e >> 1) * 8 || key >= T_rows)
                s[n][e] = -INFINITY;
        }
}

// Scores of a tile turned into weights under the new maximum; sums and output shrink with it. Every
// row sees key 0, which is in the first tile: the maximum is finite from then on.
template <int D, int COLUMNS>
__device__ static void soften(float s[COLUMNS / 8][4], float o[D / 8][4], float largest[2],
                              float sum[2], float scale_log2)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float now = largest[half], added = 0;
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n++)
            now = fmaxf(now, fmaxf(s[n][2 * half], s[n][2 * half + 1]));
        now = quad_max(now);
        float shrink = power_of_two((largest[half] - now) * scale_log2), down = now * scale_log2;
        largest[half] = now;
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                s[n][2 * half + e] = power_of_two(s[n][2 * half + e] * scale_log2 - down);
                added += s[n][2 * half + e];
            }
        sum[half] = sum[half] * shrink + added;
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
            o[n][2 * half] *= shrink;
            o[n][2 * half + 1] *= shrink;
        }
    }
}

template <class T, int D, int COLUMNS>
__global__ void forward(T *out, float *lse, const T *qkv, heads s)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int stride = D + pad;
    shared_matrix<T> q = {(T *)memory, stride}, k = {q.data + rows * stride, stride},
                     v = {k.data + COLUMNS * stride, stride};
    int64_t C = (int64_t)s.H * D, h = blockIdx.y, b = blockIdx.z;
    const T *head = qkv + b * s.T * 3 * C + h * D;
    // The longest rows first, so that none of them is left at the end.
    int tile = (int)(gridDim.x - 1 - blockIdx.x) * rows, own = threadIdx.x / 32 * 16,
        g = (threadIdx.x & 31) >> 2;
    int row = tile + own + g, end = min(s.T, tile + rows);
    float o[D / 8][4] = {}, largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    load_rows<T, D>(q, head, tile, rows, 3 * C, s.T);
    for (int first = 0; first < end; first += COLUMNS) {
        __syncthreads();
        load_rows<T, D>(k, head + C, first, COLUMNS, 3 * C, s.T);
        load_rows<T, D>(v, head + 2 * C, first, COLUMNS, 3 * C, s.T);
        __syncthreads();
        float score[COLUMNS / 8][4] = {};
        scores<T, D, COLUMNS>(score, q, own, k);
        if (first + COLUMNS - 1 > tile + own || first + COLUMNS > s.T)
            hide_later<COLUMNS>(score, row, first, s.T);
        soften<D, COLUMNS>(score, o, largest, sum, s.scale_log2);
        weigh<T, D, COLUMNS>(o, score, v);
    }
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float total = quad_sum(sum[half]);
        inverse[half] = 1.0f / total;
        if ((threadIdx.x & 3) == 0 && row + 8 * half < s.T)
            lse[(b * s.H + h) * s.T + row + 8 * half] = largest[half] * s.scale + logf(total);
    }
    store_rows<T, D>(out + b * s.T * C + h * D, o, inverse, row, C, s.T);
}

// One block of keys: loops over the queries that see them. Scores are transposed: one row a key.
template <class T, int D, int COLUMNS>
__global__ void backward_keys(T *dk, T *dv, const T *dout, const T *qkv, const float *lse,
                              const float *delta, heads s)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int stride = D + pad;
    shared_matrix<T> k = {(T *)memory, stride}, v = {k.data + rows * stride, stride};
    shared_matrix<T> q = {v.data + rows * stride, stride},
                     grad = {q.data + COLUMNS * stride, stride};
    float *query_lse = (float *)(grad.data + COLUMNS * stride), *query_delta = query_lse + COLUMNS;
    int64_t C = (int64_t)s.H * D, h = blockIdx.y, b = blockIdx.z;
    const T *head = qkv + b * s.T * 3 * C + h * D, *dout_head = dout + b * s.T * C + h * D;
    const float *head_lse = lse + (b * s.H + h) * s.T, *head_delta = delta + (b * s.H + h) * s.T;
    int tile = (int)blockIdx.x * rows, own = threadIdx.x / 32 * 16, g = (threadIdx.x & 31) >> 2,
        t = threadIdx.x & 3;
    int row = tile + own + g;
    float dk_sum[D / 8][4] = {}, dv_sum[D / 8][4] = {};
    load_rows<T, D>(k, head + C, tile, rows, 3 * C, s.T);
    load_rows<T, D>(v, head + 2 * C, tile, rows, 3 * C, s.T);
    for (int first = tile / COLUMNS * COLUMNS; first < s.T; first += COLUMNS) {
        __syncthreads();
        load_rows<T, D>(q, head, first, COLUMNS, 3 * C, s.T);
        load_rows<T, D>(grad, dout_head, first, COLUMNS, C, s.T);
        for (int i = threadIdx.x; i < COLUMNS; i += threads) {
            query_lse[i] = first + i < s.T ? head_lse[first + i] * LOG2_E : 0.0f;
            query_delta[i] = first + i < s.T ? head_delta[first + i] : 0.0f;
        }
        __syncthreads();
        float p[COLUMNS / 8][4] = {}, ds[COLUMNS / 8][4] = {};
        scores<T, D, COLUMNS>(p, k, own, q);
        scores<T, D, COLUMNS>(ds, v, own, grad);
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int column = n * 8 + 2 * t + (e & 1);
                int query = first + column, key = row + (e >> 1) * 8;
                bool seen = query < s.T && key <= query;
                p[n][e] = seen ? power_of_two(p[n][e] * s.scale_log2 - query_lse[column]) : 0.0f;
                ds[n][e] = p[n][e] * (ds[n][e] - query_delta[column]);
            }
        weigh<T, D, COLUMNS>(dv_sum, p, grad);
        weigh<T, D, COLUMNS>(dk_sum, ds, q);
    }
    const float scaled[2] = {s.scale, s.scale}, plain[2] = {1, 1};
    store_rows<T, D>(dk + b * s.T * C + h * D, dk_sum, scaled, row, C, s.T);
    store_rows<T, D>(dv + b * s.T * C + h * D, dv_sum, plain, row, C, s.T);
}

// One block of queries: loops over the keys that they see.
template <class T, int D, int COLUMNS>
__global__ void backward_queries(T *dq, const T *dout, const T *qkv, const float *lse,
                                 const float *delta, heads s)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int stride = D + pad;
    shared_matrix<T> q = {(T *)memory, stride}, grad = {q.data + rows * stride, stride};
    shared_matrix<T> k = {grad.data + rows * stride, stride},
                     v = {k.data + COLUMNS * stride, stride};
    int64_t C = (int64_t)s.H * D, h = blockIdx.y, b = blockIdx.z;
    const T *head = qkv + b * s.T * 3 * C + h * D;
    int tile = (int)(gridDim.x - 1 - blockIdx.x) * rows, own = threadIdx.x / 32 * 16;
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, row = tile + own + g,
        end = min(s.T, tile + rows);
    int64_t at = (b * s.H + h) * s.T + row;
    float sum[D / 8][4] = {}, row_lse[2], row_delta[2];
    for (int half = 0; half < 2; half++) {
        row_lse[half] = row + 8 * half < s.T ? lse[at + 8 * half] * LOG2_E : 0.0f;
        row_delta[half] = row + 8 * half < s.T ? delta[at + 8 * half] : 0.0f;
    }
    load_rows<T, D>(q, head, tile, rows, 3 * C, s.T);
    load_rows<T, D>(grad, dout + b * s.T * C + h * D, tile, rows, C, s.T);
    for (int first = 0; first < end; first += COLUMNS) {
        __syncthreads();
        load_rows<T, D>(k, head + C, first, COLUMNS, 3 * C, s.T);
        load_rows<T, D>(v, head + 2 * C, first, COLUMNS, 3 * C, s.T);
        __syncthreads();
        float p[COLUMNS / 8][4] = {}, ds[COLUMNS / 8][4] = {};
        scores<T, D, COLUMNS>(p, q, own, k);
        scores<T, D, COLUMNS>(ds, grad, own, v);
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int key = first + n * 8 + 2 * t + (e & 1), query = row + (e >> 1) * 8;
                bool seen = key <= query && key < s.T;
                float weight = seen ? power_of_two(p[n][e] * s.scale_log2 - row_lse[e >> 1]) : 0.0f;
                ds[n][e] = weight * (ds[n][e] - row_delta[e >> 1]);
            }
        weigh<T, D, COLUMNS>(sum, ds, k);
    }
    const float scaled[2] = {s.scale, s.scale};
    store_rows<T, D>(dq + b * s.T * C + h * D, sum, scaled, row, C, s.T);
}

static heads heads_of(struct attention_shape a)
{
    heads s = {(int)a.T, (int)a.H, rsqrtf((float)a.D), rsqrtf((float)a.D) * LOG2_E};
    return s;
}

static bool can_run(const struct cuda_ops *o, const tensor *qkv, struct attention_shape a)
{
    bool width = a.D == 32 || a.D == 64 || a.D == 128;
    return o->compute_capability >= 80 && (qkv->type == DTYPE_F16 || qkv->type == DTYPE_BF16) &&
           width;
}

static dim3 grid_of(struct attention_shape a)
{
    return dim3(blocks_for(a.T, rows), (unsigned)a.H, (unsigned)a.B);
}

template <class T, int D, int COLUMNS>
static void run_forward(tensor *out, tensor *lse, const tensor *qkv, struct attention_shape a)
{
    size_t bytes = (size_t)(rows + 2 * COLUMNS) * (D + pad) * sizeof(T);
    allow_shared(forward<T, D, COLUMNS>, bytes);
    forward<T, D, COLUMNS><<<grid_of(a), threads, bytes>>>(data_of<T>(out), data_of<float>(lse),
                                                           data_of<const T>(qkv), heads_of(a));
    LAUNCH_CHECK();
}

template <class T, int D, int COLUMNS>
static void run_backward(tensor *dq, tensor *dk, tensor *dv, const tensor *delta,
                         const tensor *dout, const tensor *qkv, const tensor *lse,
                         struct attention_shape a)
{
    size_t bytes =
        (size_t)(2 * rows + 2 * COLUMNS) * (D + pad) * sizeof(T) + 2 * COLUMNS * sizeof(float);
    const T *g = data_of<const T>(dout), *x = data_of<const T>(qkv);
    const float *l = data_of<const float>(lse), *d = data_of<const float>(delta);
    allow_shared(backward_keys<T, D, COLUMNS>, bytes);
    allow_shared(backward_queries<T, D, COLUMNS>, bytes);
    backward_keys<T, D, COLUMNS>
        <<<grid_of(a), threads, bytes>>>(data_of<T>(dk), data_of<T>(dv), g, x, l, d, heads_of(a));
    backward_queries<T, D, COLUMNS>
        <<<grid_of(a), threads, bytes>>>(data_of<T>(dq), g, x, l, d, heads_of(a));
    LAUNCH_CHECK();
}

// Wider heads are read in narrower tiles, so that the sums stay in registers.
#define BY_WIDTH(run, T, D, ...) \
    if ((D) == 32) \
        run<T, 32, 64>(__VA_ARGS__); \
    else if ((D) == 64) \
        run<T, 64, 64>(__VA_ARGS__); \
    else \
        run<T, 128, 32>(__VA_ARGS__)

bool attention_tensor(const struct cuda_ops *o, tensor *out, tensor *lse, const tensor *qkv,
                      struct attention_shape a)
{
    if (!can_run(o, qkv, a))
        return false;
    if (qkv->type == DTYPE_F16) {
        BY_WIDTH(run_forward, __half, a.D, out, lse, qkv, a);
    } else {
        BY_WIDTH(run_forward, __nv_bfloat16, a.D, out, lse, qkv, a);
    }
    return true;
}

bool attention_tensor_backward(const struct cuda_ops *o, tensor *dq, tensor *dk, tensor *dv,
                               const tensor *delta, const tensor *dout, const tensor *qkv,
                               const tensor *lse, struct attention_shape a)
{
    if (!can_run(o, qkv, a))
        return false;
    if (qkv->type == DTYPE_F16) {
        BY_WIDTH(run_backward, __half, a.D, dq, dk, dv, delta, dout, qkv, lse, a);
    } else {
        BY_WIDTH(run_backward, __nv_bfloat16, a.D, dq, dk, dv, delta, dout, qkv, lse, a);
    }
    return true;
}
