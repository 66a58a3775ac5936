// fp16 and bf16 in plain C++: their bits, and conversions by the CPU reference's tables.
#ifndef EMULATED_CUDA_FP16_H
#define EMULATED_CUDA_FP16_H

#include "kernels/step/gpt_ref.h"

struct __half {
    uint16_t bits;
};
struct __nv_bfloat16 {
    uint16_t bits;
};
struct alignas(4) __half2 {
    __half x, y;
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

static inline float __bfloat162float(__nv_bfloat16 v)
{
    return bfloat16_to_float(v.bits);
}
static inline __nv_bfloat16 __float2bfloat16(float v)
{
    return {float_to_bfloat16(v)};
}
static inline __half __float2half(float v)
{
    return {float_to_half(v)};
}
static inline float __half2float(__half v)
{
    static float *const all = [] {
        float *t = new float[65536];
        for (int i = 0; i < 65536; i++)
            t[i] = half_to_float((uint16_t)i);
        return t;
    }();
    return all[v.bits];
}
static inline __half2 __floats2half2_rn(float a, float b)
{
    return {__float2half(a), __float2half(b)};
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    return {__float2bfloat16(a), __float2bfloat16(b)};
}

#endif
