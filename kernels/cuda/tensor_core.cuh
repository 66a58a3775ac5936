// The instructions of a warp's tensor core: load 8 x 8 matrices of halves from shared memory,
// multiply 16 x 8 x 16.
//
// Fragments of mma.m16n8k16 (PTX ISA, "Matrix fragments"): lane = 4 * g + t holds rows g and g + 8
// and columns 2t, 2t + 1 of each 16 x 8 accumulator. Two adjacent accumulators, rounded, are the
// first operand of the next product. The tests replace this file by one in plain C++, written from
// the same description.
#ifndef KERNELS_TENSOR_CORE_CUH
#define KERNELS_TENSOR_CORE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned int u32;

// Two floats rounded into one register, the first in its low half.
__device__ static inline u32 pack(float low, float high, const __half *)
{
    __half2 v = __floats2half2_rn(low, high);
    return *reinterpret_cast<u32 *>(&v);
}

__device__ static inline u32 pack(float low, float high, const __nv_bfloat16 *)
{
    __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<u32 *>(&v);
}

// c += a * b; compute capability 8.0 and newer.
__device__ static inline void multiply(float c[4], const u32 a[4], const u32 b[2], const __half *)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ static inline void multiply(float c[4], const u32 a[4], const u32 b[2],
                                       const __nv_bfloat16 *)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Matrices of 8 x 8 halves: lanes 8i to 8i + 7 give the rows of matrix i, 16-byte aligned in shared
// memory. Lane 4r + c gets elements 2c and 2c + 1 of row r of each matrix; turned: of column r.
__device__ static inline void load_four(u32 a[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"((u32)__cvta_generic_to_shared(row))
                 : "memory");
}

__device__ static inline void load_four_turned(u32 a[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"((u32)__cvta_generic_to_shared(row))
                 : "memory");
}

// 2^x in one instruction: an error of 2 ulp, and 0 for results that are too small (PTX ISA,
// ex2.approx).
__device__ static inline float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#endif
