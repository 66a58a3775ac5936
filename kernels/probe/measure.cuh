// Shared by the measurements: device events, repeats with a warm-up, memory that is not zero.
#ifndef KERNELS_MEASURE_CUH
#define KERNELS_MEASURE_CUH

#include "kernels/cuda/cuda_check.h"
#include "kernels/probe/probe.h"

enum { WARM_UPS = 3, REPEATS = 10 };

// Seconds of REPEATS runs of f by device events, after WARM_UPS that are not counted.
template <class F> static void time_runs(double samples[REPEATS], F f)
{
    cudaEvent_t begin, end;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    for (int i = -WARM_UPS; i < REPEATS; i++) {
        float ms;
        CUDA_CHECK(cudaEventRecord(begin));
        f();
        CUDA_CHECK(cudaEventRecord(end));
        CUDA_CHECK(cudaEventSynchronize(end));
        CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 0)
            samples[i] = ms / 1000.0;
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
}

static inline void rates(double out[REPEATS], const double seconds[REPEATS], double amount)
{
    for (int i = 0; i < REPEATS; i++)
        out[i] = amount / seconds[i];
}

// A reading of bytes; left out when it is not known (negative).
static inline void put_bytes(struct rjson *values, const char *key, int64_t bytes)
{
    if (bytes >= 0)
        rjson_set(values, key, record_reading("B", (double)bytes));
}

static inline int64_t device_attribute(enum cudaDeviceAttr attribute)
{
    int device, value;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

#endif
