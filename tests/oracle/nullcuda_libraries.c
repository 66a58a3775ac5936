/* The libraries above the null CUDA: cuBLAS and NCCL. */
#include "nullcuda.h"

/* ---- cuBLAS: handles and the one question that has an answer (its headers need a compiler for
 * CUDA) ---- */
typedef struct {
    uint64_t algorithm[8];
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
} Heuristic; /* SRC: cublasLt.h, cublasLtMatmulHeuristicResult_t */

int cublasCreate_v2(void **out)
{
    *out = null_handle();
    return 0;
}
int cublasLtCreate(void **out)
{
    *out = null_handle();
    return 0;
}
int cublasLtMatmulDescCreate(void **out)
{
    *out = null_handle();
    return 0;
}
int cublasLtMatmulPreferenceCreate(void **out)
{
    *out = null_handle();
    return 0;
}
int cublasLtMatrixLayoutCreate(void **out)
{
    *out = null_handle();
    return 0;
}
int cublasGetMathMode(void *h, int *mode)
{
    (void)h;
    *mode = 0;
    return 0;
}
int cublasGetPointerMode_v2(void *h, int *mode)
{
    (void)h;
    *mode = 0;
    return 0;
}
size_t cublasLtGetVersion(void)
{
    return CUDART_VERSION * 10;
}
int gemm_ex(void) __asm__("cublasGemmEx");
int gemm_ex(void)
{
    null_launch();
    return 0;
}
int gemm_single(void) __asm__("cublasSgemm_v2");
int gemm_single(void)
{
    null_launch();
    return 0;
}
int gemm_batched(void) __asm__("cublasGemmStridedBatchedEx");
int gemm_batched(void)
{
    null_launch();
    return 0;
}
int lt_matmul(void) __asm__("cublasLtMatmul");
int lt_matmul(void)
{
    null_launch();
    return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void *h, void *d, void *a, void *b, void *c, void *o, void *p,
                                   int wanted, Heuristic *results, int *count)
{
    (void)h, (void)d, (void)a, (void)b, (void)c, (void)o, (void)p, (void)wanted;
    memset(results, 0, sizeof *results);
    *count = 1;
    return 0;
}

/* ---- NCCL: communicators that everybody has joined; a collective is a launch ---- */
int ncclGetVersion(int *version)
{
    *version = 22005;
    return 0;
}
const char *ncclGetErrorString(int e)
{
    return e ? "error of the null NCCL" : "no error";
}
const char *ncclGetLastError(void *comm)
{
    (void)comm;
    return "";
}
typedef struct {
    char bytes[128];
} UniqueId;
typedef struct {
    int ranks, rank;
} Comm;
static int join(Comm **out, int ranks, int rank)
{
    if (!(*out = malloc(sizeof **out)))
        return 1;
    **out = (Comm){ranks, rank};
    return 0;
}
int ncclCommInitRank(Comm **comm, int ranks, UniqueId id, int rank)
{
    (void)id;
    return join(comm, ranks, rank);
}
int ncclCommInitRankConfig(Comm **comm, int ranks, UniqueId id, int rank, void *c)
{
    (void)id, (void)c;
    return join(comm, ranks, rank);
}
int ncclCommInitRankScalable(Comm **comm, int ranks, int rank)
{
    return join(comm, ranks, rank);
}
int ncclCommSplit(Comm *comm, int color, int key, Comm **out)
{
    (void)color;
    return join(out, comm->ranks, key);
}
int ncclCommCount(Comm *comm, int *count)
{
    *count = comm->ranks;
    return 0;
}
int ncclCommUserRank(Comm *comm, int *rank)
{
    *rank = comm->rank;
    return 0;
}
int ncclCommGetAsyncError(void *comm, int *state)
{
    (void)comm;
    *state = 0;
    return 0;
}
int ncclAllReduce(void)
{
    null_launch();
    return 0;
}
int ncclAllGather(void)
{
    null_launch();
    return 0;
}
int ncclReduceScatter(void)
{
    null_launch();
    return 0;
}
int ncclBroadcast(void)
{
    null_launch();
    return 0;
}
int ncclReduce(void)
{
    null_launch();
    return 0;
}
int ncclSend(void)
{
    null_launch();
    return 0;
}
int ncclRecv(void)
{
    null_launch();
    return 0;
}
