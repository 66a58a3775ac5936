// Shared by the kernel files: element access by type, dispatch over types, reductions within a warp
// and a block.
#ifndef KERNELS_CUDA_OPS_CUH
#define KERNELS_CUDA_OPS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/cuda_check.h"
#include "kernels/cuda/cuda_ops.h"

// Small uploads go through pinned memory, so that the host does not wait for the device.
enum { UPLOADS = 8 };
static const size_t most_upload = (size_t)16 << 20;

struct cuda_ops {
    struct gpt_ops table;
    void *pinned[UPLOADS];
    size_t pinned_bytes[UPLOADS];
    cudaEvent_t uploaded[UPLOADS];
    int next_upload;
    cublasLtHandle_t lt;
    void *workspace;
    uint64_t workspace_bytes;
    int compute_capability;  // 90 for 9.0
    int processors;
    struct matmul_cache *cache;
};

static inline struct cuda_ops *ops_of(void *ctx)
{
    return (struct cuda_ops *)ctx;
}

__device__ static inline float wide(float v)
{
    return v;
}
__device__ static inline float wide(__half v)
{
    return __half2float(v);
}
__device__ static inline float wide(__nv_bfloat16 v)
{
    return __bfloat162float(v);
}
__device__ static inline float wide(int64_t v)
{
    return (float)v;
}
__device__ static inline float wide(uint8_t v)
{
    return (float)v;
}
__device__ static inline void put(float *p, float v)
{
    *p = v;
}
__device__ static inline void put(__half *p, float v)
{
    *p = __float2half(v);
}
__device__ static inline void put(__nv_bfloat16 *p, float v)
{
    *p = __float2bfloat16(v);
}

// N elements that are loaded and stored together, 16 bytes at a time, or all of them when they have
// fewer.
template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) together {
    T v[N];
};

template <class T, int N> __device__ static inline together<T, N> load(const T *p)
{
    return *reinterpret_cast<const together<T, N> *>(p);
}

// f of the elements at p[0], p[1], ... of each input, to out[0], out[1], ...
template <int N, class To, class F, class... From>
__device__ static inline void map_together(To *out, F f, const From *...in)
{
    together<To, N> o;
    auto loaded = [&](const together<From, N> &...e) {
#pragma unroll
        for (int k = 0; k < N; k++)
            put(&o.v[k], f(wide(e.v[k])...));
    };
    loaded(load<From, N>(in)...);
    *reinterpret_cast<together<To, N> *>(out) = o;
}

// True when N elements from p on, and from every N-th on, may be loaded together.
template <int N, class T> __host__ __device__ static inline bool fit_together(const T *p)
{
    return (uintptr_t)p % alignof(together<T, N>) == 0;
}

// Runs the statements with T as the element type that `type` names.
#define WITH_TYPE(type, T, ...) \
    switch (type) { \
    case DTYPE_F32: { \
        typedef float T; \
        __VA_ARGS__; \
        break; \
    } \
    case DTYPE_F16: { \
        typedef __half T; \
        __VA_ARGS__; \
        break; \
    } \
    case DTYPE_BF16: { \
        typedef __nv_bfloat16 T; \
        __VA_ARGS__; \
        break; \
    } \
    default: fprintf(stderr, "%s: no kernel for type %s\n", __FILE__, dtype_name(type)); exit(1); \
    }

template <class T> static inline T *data_of(const tensor *t)
{
    return (T *)t->data;
}

// Ends the program when a kernel's partial results do not fit in the workspace.
static inline void need_workspace(const struct cuda_ops *o, uint64_t bytes)
{
    if (bytes > o->workspace_bytes) {
        fprintf(stderr,
                "vramprobe: error: a workspace of %llu bytes is too small: %llu are needed\n",
                (unsigned long long)o->workspace_bytes, (unsigned long long)bytes);
        exit(1);
    }
}

static inline unsigned blocks_for(int64_t items, int64_t per_block)
{
    int64_t n = (items + per_block - 1) / per_block;
    return (unsigned)(n < 1 ? 1 : n);
}

// Allows a kernel more dynamic shared memory than the 48 KiB that every kernel may use.
template <class K> static void allow_shared(K kernel, size_t bytes)
{
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
}

__device__ static inline float warp_sum(float v)
{
    for (int offset = 16; offset; offset >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

__device__ static inline float warp_max(float v)
{
    for (int offset = 16; offset; offset >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    return v;
}

// Sum over a block of whole warps, the same in every thread. One call at a time; syncs.
__device__ static inline float block_sum(float v)
{
    __shared__ float part[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    v = warp_sum(v);
    __syncthreads();
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    return warp_sum(lane < warps ? part[lane] : 0.0f);
}

__device__ static inline float block_max(float v)
{
    __shared__ float part[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    v = warp_max(v);
    __syncthreads();
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    return warp_max(lane < warps ? part[lane] : -INFINITY);
}

// The rows of struct gpt_ops that each file fills in.
void elementwise_install(struct gpt_ops *t);
void layout_install(struct gpt_ops *t);
void reduction_install(struct gpt_ops *t);
void layernorm_install(struct gpt_ops *t);
void cross_entropy_install(struct gpt_ops *t);
void attention_install(struct gpt_ops *t);
void update_install(struct gpt_ops *t);
void matmul_install(struct gpt_ops *t);
void matmul_close(struct cuda_ops *o);

// attention_tensor.cu: returns true when it ran, which it does for half types, compute
// capability 8.0 and newer, and D of 32, 64 or 128.
bool attention_tensor(const struct cuda_ops *o, tensor *out, tensor *lse, const tensor *qkv,
                      struct attention_shape shape);
bool attention_tensor_backward(const struct cuda_ops *o, tensor *dq, tensor *dk, tensor *dv,
                               const tensor *delta, const tensor *dout, const tensor *qkv,
                               const tensor *lse, struct attention_shape shape);

#endif
