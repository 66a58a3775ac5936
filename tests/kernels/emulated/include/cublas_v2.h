// cuBLAS's one call that kernels/ measures itself against, by the emulated cuBLASLt.
#ifndef EMULATED_CUBLAS_V2_H
#define EMULATED_CUBLAS_V2_H

#include <cublasLt.h>

typedef cublasLtHandle_t cublasHandle_t;
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };

static inline cublasStatus_t cublasCreate(cublasHandle_t *h)
{
    return cublasLtCreate(h);
}
static inline cublasStatus_t cublasDestroy(cublasHandle_t h)
{
    return cublasLtDestroy(h);
}
static inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *p, size_t bytes)
{
    return p && bytes ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
static inline cublasStatus_t
cublasGemmEx(cublasHandle_t h, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n, int k,
             const void *alpha, const void *a, cudaDataType_t a_type, int a_leading, const void *b,
             cudaDataType_t b_type, int b_leading, const void *beta, void *c, cudaDataType_t c_type,
             int c_leading, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    emulated_matmul d = {a_op, b_op, CUBLASLT_EPILOGUE_DEFAULT, NULL,
                         compute == CUBLAS_COMPUTE_32F_FAST_TF32};
    bool a_plain = a_op == CUBLAS_OP_N, b_plain = b_op == CUBLAS_OP_N;
    emulated_layout al = {
        a_type, (uint64_t)(a_plain ? m : k), (uint64_t)(a_plain ? k : m), a_leading, 1, 0};
    emulated_layout bl = {
        b_type, (uint64_t)(b_plain ? k : n), (uint64_t)(b_plain ? n : k), b_leading, 1, 0};
    emulated_layout cl = {c_type, (uint64_t)m, (uint64_t)n, c_leading, 1, 0};
    return cublasLtMatmul(h, &d, alpha, a, &al, b, &bl, beta, c, &cl, c, &cl, NULL, NULL, 0, NULL);
}

#endif
