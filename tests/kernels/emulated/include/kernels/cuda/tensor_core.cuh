// In place of kernels/cuda/tensor_core.cuh: the same instructions in plain C++, from the tables of
// the PTX ISA (ldmatrix, and the fragments of mma.m16n8k16).
#ifndef KERNELS_TENSOR_CORE_CUH
#define KERNELS_TENSOR_CORE_CUH

#include <cuda_fp16.h>
#include <cuda_runtime.h>

typedef unsigned int u32;

static inline u32 pack(float low, float high, const __half *)
{
    return __float2half(low).bits | (u32)__float2half(high).bits << 16;
}

static inline u32 pack(float low, float high, const __nv_bfloat16 *)
{
    return __float2bfloat16(low).bits | (u32)__float2bfloat16(high).bits << 16;
}

static inline float element(uint16_t bits, const __half *)
{
    return __half2float({bits});
}
static inline float element(uint16_t bits, const __nv_bfloat16 *)
{
    return __bfloat162float({bits});
}

// What a lane brings to a product: four registers of A, two of B.
struct emulated_operands {
    u32 a[4], b[2];
};

// A[row][k]: lane 4 * (row % 8) + k % 8 / 2, register (row >= 8) + 2 * (k >= 8), half k % 2.
// B[k][n]: lane 4 * n + k % 8 / 2, register k >= 8, half k % 2.
// C: registers 0 and 1 are row g, columns 2t and 2t + 1; registers 2 and 3 are row g + 8.
template <class T> static void multiply(float c[4], const u32 a[4], const u32 b[2], const T *tag)
{
    emulated_operands mine = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}}, all[32];
    const unsigned char *lanes = emulator::meet(4, &mine, sizeof mine);
    for (int i = 0; i < 32; i++)
        memcpy(&all[i], lanes + i * emulator::stride, sizeof all[i]);
    int g = emulated_lane() >> 2, t = emulated_lane() & 3;
    for (int e = 0; e < 4; e++) {
        int row = g + 8 * (e >> 1), n = 2 * t + (e & 1);
        for (int k = 0; k < 16; k++) {
            u32 x = all[row % 8 * 4 + k % 8 / 2].a[(row >= 8) + 2 * (k >= 8)],
                y = all[n * 4 + k % 8 / 2].b[k >= 8];
            c[e] += element((uint16_t)(x >> k % 2 * 16), tag) *
                    element((uint16_t)(y >> k % 2 * 16), tag);
        }
    }
}

// Matrix i's rows are where lanes 8i to 8i + 7 say.
static inline u32 matrix_part(const unsigned char *lanes, int i, bool turned)
{
    int r = emulated_lane() >> 2, c = 2 * (emulated_lane() & 3);
    uint16_t pair[2];
    for (int k = 0; k < 2; k++) {
        const uint16_t *row;
        memcpy(&row, lanes + (8 * i + (turned ? c + k : r)) * emulator::stride, sizeof row);
        if ((uintptr_t)row % 16)
            emulator::fail("ldmatrix: a row that is not 16-byte aligned");
        pair[k] = row[turned ? r : c + k];
    }
    return pair[0] | (u32)pair[1] << 16;
}

static inline float power_of_two(float x)
{
    return exp2f(x);
}

static inline void load_matrices(u32 *out, int count, const void *row, bool turned)
{
    const unsigned char *lanes = emulator::meet(turned ? 6 : 5, &row, sizeof row);
    for (int i = 0; i < count; i++)
        out[i] = matrix_part(lanes, i, turned);
}

static inline void load_four(u32 a[4], const void *row)
{
    load_matrices(a, 4, row, false);
}
static inline void load_four_turned(u32 a[4], const void *row)
{
    load_matrices(a, 4, row, true);
}

#endif
