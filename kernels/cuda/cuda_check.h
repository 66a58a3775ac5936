// Checked CUDA and cuBLAS calls: the name of the error, its text, the expression and the place,
// then exit.
#ifndef KERNELS_CUDA_CHECK_H
#define KERNELS_CUDA_CHECK_H

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_CHECK(call) cuda_check((call), #call, __FILE__, __LINE__)
#define CUBLAS_CHECK(call) cublas_check((call), #call, __FILE__, __LINE__)
// After a launch: reports an error in its configuration. An error in the kernel is reported by the
// next checked call.
#define LAUNCH_CHECK() CUDA_CHECK(cudaGetLastError())

static inline void cuda_check(cudaError_t code, const char *call, const char *file, int line)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: error: %s: %s (%s)\n", file, line, call, cudaGetErrorName(code),
            cudaGetErrorString(code));
    exit(1);
}

static inline void cublas_check(cublasStatus_t code, const char *call, const char *file, int line)
{
    if (code == CUBLAS_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: error: %s: %s\n", file, line, call, cublasGetStatusString(code));
    exit(1);
}

#endif
