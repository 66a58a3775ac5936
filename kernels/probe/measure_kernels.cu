// Single operations on the GPU: rates of matrix products, memory and time of attention.
#include <cublas_v2.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_ops.h"
#include "kernels/probe/measure.cuh"

static const uint64_t workspace_bytes = (uint64_t)32 << 20;

// Operations with a workspace, and a run of which only the pool is used, whose out-of-memory jump
// ends in `full`.
struct bench {
    struct caching_allocator *allocator;
    struct caching_block *workspace;
    struct cuda_ops *ops;
    struct gpt g;
    jmp_buf full;
};

static void bench_open(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->allocator = caching_new(cuda_device_memory());
    b->workspace = b->allocator ? caching_malloc(b->allocator, workspace_bytes) : NULL;
    b->ops = b->workspace ? cuda_ops_new(caching_address(b->workspace), workspace_bytes) : NULL;
    if (!b->ops) {
        fputs("vramprobe: error: no memory for a workspace of 32 MiB\n", stderr);
        exit(1);
    }
    b->g.pool.allocator = b->allocator;
    b->g.pool.out_of_memory = &b->full;
}

static void bench_close(struct bench *b)
{
    CUDA_CHECK(cudaDeviceSynchronize());
    pool_clear(&b->g.pool);
    cuda_ops_delete(b->ops);
    caching_free(b->allocator, b->workspace);
    caching_delete(b->allocator);
}

static enum dtype type_of(const struct settings *s)
{
    const char *name = settings_text(s, "dtype", "bfloat16");
    return strcmp(name, "float32") == 0   ? DTYPE_F32
           : strcmp(name, "float16") == 0 ? DTYPE_F16
                                          : DTYPE_BF16;
}

// A tensor of values between -1 and 1, made on the host: zeros would run faster than real data.
static tensor *random_tensor(struct bench *b, enum dtype type, int64_t count, uint64_t seed)
{
    const struct gpt_ops *ops = cuda_ops_table(b->ops);
    tensor *full = tensor_new(&b->g.pool, DTYPE_F32, count, CATEGORY_ACTIVATION);
    float *host = (float *)malloc((size_t)count * sizeof *host);
    if (!host)
        longjmp(b->full, 2);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        host[i] = (float)(seed >> 40) / (float)(1 << 23) - 1.0f;
    }
    ops->upload(ops->ctx, full, host);
    free(host);
    if (type == DTYPE_F32)
        return full;
    tensor *low = tensor_new(&b->g.pool, type, count, CATEGORY_ACTIVATION);
    ops->cast(ops->ctx, low, full);
    tensor_drop(&b->g.pool, &full);
    return low;
}

static void put_samples(struct rjson *values, const char *key, const char *unit,
                        const double samples[REPEATS])
{
    rjson_set(values, key, record_samples(unit, samples, REPEATS));
}

static cudaDataType_t blas_type(enum dtype type)
{
    return type == DTYPE_F32 ? CUDA_R_32F : type == DTYPE_F16 ? CUDA_R_16F : CUDA_R_16BF;
}

// The same product by cuBLAS's own call with its own choice of algorithm, for comparison. The
// workspace is the same.
static void time_cublas(struct bench *b, const struct matmul_shape *s, enum dtype type, tensor *out,
                        const tensor *x, const tensor *w, double seconds[REPEATS])
{
    const float one = 1, zero = 0;
    int m = (int)s->m, n = (int)s->n, k = (int)s->k;
    cublasComputeType_t compute =
        type == DTYPE_F32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cudaDataType_t t = blas_type(type);
    cublasHandle_t blas;
    CUBLAS_CHECK(cublasCreate(&blas));
    CUBLAS_CHECK(cublasSetWorkspace(blas, caching_address(b->workspace), workspace_bytes));
    time_runs(seconds, [&] {
        for (int i = 0; i < 10; i++)
            CUBLAS_CHECK(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, w->data, t, k,
                                      x->data, t, k, &zero, out->data, t, n, compute,
                                      CUBLAS_GEMM_DEFAULT));
    });
    CUBLAS_CHECK(cublasDestroy(blas));
}

const char *measure_matmul(const struct settings *s, struct nvml *, struct rjson *values,
                           char message[256])
{
    struct matmul_shape shape = {settings_int(s, "m", 8192),
                                 settings_int(s, "n", 8192),
                                 settings_int(s, "k", 8192),
                                 1,
                                 false,
                                 true,
                                 false};
    enum dtype type = type_of(s);
    double seconds[REPEATS], flops[REPEATS];
    struct bench b;
    bench_open(&b);
    if (setjmp(b.full)) {
        snprintf(message, 256, "no room for the matrices");
        bench_close(&b);
        return "oom";
    }
    const struct gpt_ops *ops = cuda_ops_table(b.ops);
    tensor *x = random_tensor(&b, type, shape.m * shape.k, 1),
           *w = random_tensor(&b, type, shape.n * shape.k, 2);
    tensor *out = tensor_new(&b.g.pool, type, shape.m * shape.n, CATEGORY_ACTIVATION);
    time_runs(seconds, [&] {
        for (int i = 0; i < 10; i++)
            ops->matmul(ops->ctx, out, x, w, NULL, shape);
    });
    rates(flops, seconds, 10.0 * 2.0 * (double)shape.m * (double)shape.n * (double)shape.k);
    put_samples(values, "matmul_rate", "FLOP/s", flops);
    time_cublas(&b, &shape, type, out, x, w, seconds);
    rates(flops, seconds, 10.0 * 2.0 * (double)shape.m * (double)shape.n * (double)shape.k);
    put_samples(values, "cublas_rate", "FLOP/s", flops);
    bench_close(&b);
    return "ok";
}

// Forward and backward of one layer's attention through the step's own functions, so that the
// memory is the step's.
static void run_attention(struct bench *b, const struct attention_shape *a, enum dtype type,
                          bool matrices, struct rjson *values)
{
    struct gpt &g = b->g;
    struct block_saved saved;
    tensor *out = NULL, *dout = NULL, *dqkv = NULL;
    memset(&saved, 0, sizeof saved);
    g.config.batch_size = a->B;
    g.config.seq_len = g.config.block_size = a->T;
    g.config.n_head = a->H;
    g.config.n_embd = a->H * a->D;
    g.config.dtype = type;
    g.config.attention = matrices ? GPT_MATRIX : GPT_TILED;
    g.ops = cuda_ops_table(b->ops);
    g.recording = true;
    tensor *qkv = random_tensor(b, type, 3 * a->B * a->T * a->H * a->D, 3);
    tensor *upstream = random_tensor(b, type, a->B * a->T * a->H * a->D, 4);
    pool_reset_peak(&g.pool);
    uint64_t before = g.pool.live;
    double seconds[REPEATS];
    time_runs(seconds, [&] {
        out = gpt_attention_forward(&g, qkv, &saved);
        dout = tensor_hold(upstream);
        saved.qkv_out = matrices ? NULL : tensor_hold(qkv);
        saved.attention_out = matrices ? NULL : tensor_hold(out);
        gpt_attention_backward(&g, &saved, &dout, &dqkv);
        tensor_drop(&g.pool, &dqkv);
        tensor_drop(&g.pool, &out);
    });
    put_samples(values, "forward_and_backward_s", "s", seconds);
    rjson_set(values, "peak_bytes", record_reading("B", (double)(g.pool.live_peak - before)));
}

const char *measure_attention(const struct settings *s, struct nvml *, struct rjson *values,
                              char message[256])
{
    struct attention_shape a = {settings_int(s, "B", 8), settings_int(s, "T", 1024),
                                settings_int(s, "H", 12), settings_int(s, "D", 64)};
    bool matrices = strcmp(settings_text(s, "attention", "tiled"), "matrix") == 0;
    struct bench b;
    bench_open(&b);
    if (setjmp(b.full)) {
        snprintf(message, 256, "no room for the matrices");
        bench_close(&b);
        return "oom";
    }
    run_attention(&b, &a, type_of(s), matrices, values);
    bench_close(&b);
    return "ok";
}
