// CUDA in plain C++, as far as kernels/ uses it: a block's threads are fibers that run one after
// another, its shared memory is poisoned before each block, device memory ends where a page that
// may not be touched begins. For tests: it shows wrong indices, missing barriers and what is never
// written, not how a GPU orders what is not ordered.
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define __global__
#define __device__
#define __host__
#define __align__(n) __attribute__((aligned(n)))
#define __CUDACC_VER_MAJOR__ 0
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
// Of kernels that are made ready for this header: static shared memory, poisoned before each block.
#define EMULATED_SHARED static __attribute__((section("emulated_shared")))

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;  // of the fiber that runs

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
static inline uint4 make_uint4(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return {a, b, c, d};
}
static inline uint2 make_uint2(unsigned a, unsigned b)
{
    return {a, b};
}
static inline float4 make_float4(float a, float b, float c, float d)
{
    return {a, b, c, d};
}
static inline float2 make_float2(float a, float b)
{
    return {a, b};
}

namespace emulator
{
// Runs body(ctx) for every thread of every block. Ends the program, with a line, on what CUDA would
// refuse or leave open.
void run(dim3 grid, dim3 block, size_t shared_bytes, void (*body)(void *), void *ctx);
void barrier();
// Every lane of the warp hands in `bytes` of data; when all have, returns where those of lane 0, 1,
// ... stand, `stride` bytes apart. `kind` must be the same in all lanes.
const unsigned char *meet(int kind, const void *data, size_t bytes);
enum { stride = 64 };
[[noreturn]] void fail(const char *what);
size_t allow_shared(size_t bytes);

template <class F> struct launch {
    dim3 grid, block;
    size_t shared;
    F kernel;
    template <class... A> void operator()(A... arguments)
    {
        auto thread = [&] { kernel(arguments...); };
        run(
            grid, block, shared, [](void *t) { (*(decltype(thread) *)t)(); }, &thread);
    }
};
template <class F> static launch<F> at(F kernel, dim3 grid, dim3 block, size_t shared = 0)
{
    return {grid, block, shared, kernel};
}

template <class T> static T lane_value(int kind, T v, int lane)
{
    T out;
    memcpy(&out, meet(kind, &v, sizeof v) + (lane & 31) * stride, sizeof out);
    return out;
}
}  // namespace emulator

static inline int emulated_lane()
{
    return (int)(threadIdx.x & 31);
}
#define __syncthreads() emulator::barrier()
static inline void emulated_full(unsigned mask)
{
    if (mask != 0xffffffffu)
        emulator::fail("a mask without all lanes");
}
template <class T> static inline T __shfl_sync(unsigned mask, T v, int lane)
{
    emulated_full(mask);
    return emulator::lane_value(1, v, lane);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int lanes)
{
    emulated_full(mask);
    return emulator::lane_value(2, v, emulated_lane() ^ lanes);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    emulated_full(mask);
    int nothing = 0;
    emulator::meet(3, &nothing, sizeof nothing);
}
template <class T> static inline T atomicAdd(T *p, T v)
{
    T old = *p;
    *p = old + v;
    return old;
}
template <class T> static inline T __ldcs(const T *p)
{
    return *p;
}
template <class T> static inline void __stcs(T *p, T v)
{
    *p = v;
}
template <class T> static inline T __ldg(const T *p)
{
    return *p;
}

static inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}
#define __expf expf  // the name is taken by libm
static inline float normcdff(float x)
{
    return (float)(0.5 * erfc(-(double)x * M_SQRT1_2));
}
static inline int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int min(int a, int b)
{
    return a < b ? a : b;
}
static inline int max(int a, int b)
{
    return a > b ? a : b;
}

// ---- the runtime

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorNoDevice = 100 };
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76
};
enum { cudaEventDisableTiming = 2 };
typedef struct emulated_event {
    double s;
} * cudaEvent_t;
typedef struct emulated_stream *cudaStream_t;
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount, l2CacheSize;
};

cudaError_t emulated_malloc(void **p, size_t bytes);
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes)
{
    return emulated_malloc((void **)p, bytes);
}
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char *out, int size, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
const char *cudaGetErrorName(cudaError_t code);
const char *cudaGetErrorString(cudaError_t code);
template <class K> static cudaError_t cudaFuncSetAttribute(K, cudaFuncAttribute, int bytes)
{
    emulator::allow_shared((size_t)bytes);
    return cudaSuccess;
}

#endif
