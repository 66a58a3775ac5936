// Matrix products by cuBLASLt: row-major operands, bias in the epilogue, the chosen algorithm kept
// by shape.
#include <string.h>

#include "kernels/cuda/cuda_ops.cuh"

// The properties of a product by which its algorithm is chosen.
struct matmul_key {
    struct matmul_shape shape;
    int a_type, out_type;
    bool has_bias;
};

struct matmul_plan {
    struct matmul_key key;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, out;
    cublasLtMatmulAlgo_t algorithm;
    bool adds_bias;  // in the epilogue; else it is added afterwards
};

struct matmul_cache {
    struct matmul_plan plans[256];
    int count;
};

static cudaDataType_t cuda_type(int type)
{
    return type == DTYPE_F16 ? CUDA_R_16F : type == DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cublasLtMatrixLayout_t layout(int type, int64_t rows, int64_t columns, int64_t batch)
{
    cublasLtMatrixLayout_t l;
    CUBLAS_CHECK(
        cublasLtMatrixLayoutCreate(&l, cuda_type(type), (uint64_t)rows, (uint64_t)columns, rows));
    int32_t count = (int32_t)batch;
    int64_t stride = rows * columns;
    CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                  sizeof count));
    CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                  &stride, sizeof stride));
    return l;
}

static void set(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute, const void *value,
                size_t size)
{
    CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(d, attribute, value, size));
}

// cuBLAS reads matrices by columns: [m, n] by rows here is [n, m] there, so b comes first and a
// second.
static void describe(struct matmul_plan *p)
{
    const struct matmul_shape *s = &p->key.shape;
    cublasOperation_t plain = CUBLAS_OP_N, turned = CUBLAS_OP_T;
    CUBLAS_CHECK(cublasLtMatmulDescCreate(&p->operation,
                                          p->key.a_type == DTYPE_F32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                     : CUBLAS_COMPUTE_32F,
                                          CUDA_R_32F));
    set(p->operation, CUBLASLT_MATMUL_DESC_TRANSA, s->b_transposed ? &turned : &plain,
        sizeof plain);
    set(p->operation, CUBLASLT_MATMUL_DESC_TRANSB, s->a_transposed ? &turned : &plain,
        sizeof plain);
    p->a = s->b_transposed ? layout(p->key.a_type, s->k, s->n, s->batch)
                           : layout(p->key.a_type, s->n, s->k, s->batch);
    p->b = s->a_transposed ? layout(p->key.a_type, s->m, s->k, s->batch)
                           : layout(p->key.a_type, s->k, s->m, s->batch);
    p->out = layout(p->key.out_type, s->n, s->m, s->batch);
}

static void set_epilogue(struct matmul_plan *p, bool bias)
{
    cublasLtEpilogue_t epilogue = bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    set(p->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    p->adds_bias = bias;
}

// Tensors begin at multiples of 256 bytes, which is the default of the preference.
static bool choose(struct cuda_ops *o, struct matmul_plan *p)
{
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CUBLAS_CHECK(
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &o->workspace_bytes, sizeof o->workspace_bytes));
    cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(o->lt, p->operation, p->a, p->b, p->out,
                                                           p->out, preference, 1, &found, &count);
    CUBLAS_CHECK(cublasLtMatmulPreferenceDestroy(preference));
    if (status != CUBLAS_STATUS_NOT_SUPPORTED)
        CUBLAS_CHECK(status);
    p->algorithm = found.algo;
    return status == CUBLAS_STATUS_SUCCESS && count > 0;
}

static void set_bias(struct matmul_plan *p, const tensor *bias)
{
    set(p->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias->data, sizeof bias->data);
}

// The choice may depend on the address of the bias, so that is set first.
static void choose_with_bias(struct cuda_ops *o, struct matmul_plan *p, const tensor *bias)
{
    set_epilogue(p, p->key.has_bias);
    if (p->key.has_bias)
        set_bias(p, bias);
    if (choose(o, p))
        return;
    if (p->key.has_bias)
        set_epilogue(p, false);
    if (!p->key.has_bias || !choose(o, p)) {
        fprintf(stderr, "matmul.cu: error: cuBLASLt has no algorithm for m=%lld n=%lld k=%lld\n",
                (long long)p->key.shape.m, (long long)p->key.shape.n, (long long)p->key.shape.k);
        exit(1);
    }
}

static void forget(struct matmul_plan *p)
{
    CUBLAS_CHECK(cublasLtMatmulDescDestroy(p->operation));
    CUBLAS_CHECK(cublasLtMatrixLayoutDestroy(p->a));
    CUBLAS_CHECK(cublasLtMatrixLayoutDestroy(p->b));
    CUBLAS_CHECK(cublasLtMatrixLayoutDestroy(p->out));
}

static struct matmul_plan *plan_for(struct cuda_ops *o, const struct matmul_key *key,
                                    const tensor *bias)
{
    struct matmul_cache *c = o->cache;
    for (int i = 0; i < c->count; i++)
        if (memcmp(&c->plans[i].key, key, sizeof *key) == 0)
            return &c->plans[i];
    if (c->count == (int)(sizeof c->plans / sizeof *c->plans))
        forget(&c->plans[--c->count]);
    struct matmul_plan *p = &c->plans[c->count++];
    p->key = *key;
    describe(p);
    choose_with_bias(o, p, bias);
    return p;
}

static void gpu_matmul(void *ctx, tensor *out, const tensor *a, const tensor *b, const tensor *bias,
                       struct matmul_shape shape)
{
    struct cuda_ops *o = ops_of(ctx);
    struct matmul_key key;
    memset(&key, 0, sizeof key);  // keys are compared as bytes
    key.shape.m = shape.m;
    key.shape.n = shape.n;
    key.shape.k = shape.k;
    key.shape.batch = shape.batch;
    key.shape.a_transposed = shape.a_transposed;
    key.shape.b_transposed = shape.b_transposed;
    key.shape.accumulate = shape.accumulate;
    key.a_type = a->type;
    key.out_type = out->type;
    key.has_bias = bias != NULL;
    struct matmul_plan *p = plan_for(o, &key, bias);
    const float one = 1, beta = shape.accumulate ? 1.0f : 0.0f;
    if (p->adds_bias)
        set_bias(p, bias);
    CUBLAS_CHECK(cublasLtMatmul(o->lt, p->operation, &one, b->data, p->a, a->data, p->b, &beta,
                                out->data, p->out, out->data, p->out, &p->algorithm, o->workspace,
                                o->workspace_bytes, 0));
    if (bias && !p->adds_bias)
        o->table.add(ctx, out, out, bias);
}

void matmul_install(struct gpt_ops *t)
{
    struct cuda_ops *o = ops_of(t->ctx);
    o->cache = (struct matmul_cache *)calloc(1, sizeof *o->cache);
    if (!o->cache)
        exit(3);
    t->matmul = gpu_matmul;
}

void matmul_close(struct cuda_ops *o)
{
    for (int i = 0; i < o->cache->count; i++)
        forget(&o->cache->plans[i]);
    free(o->cache);
}
