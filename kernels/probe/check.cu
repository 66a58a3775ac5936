// Every kernel against its CPU reference: fresh random inputs, outputs poisoned first, sizes that
// are no multiple of anything, the relative error ||gpu - reference|| / ||reference|| within what
// the type can hold.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_ops.h"
#include "kernels/step/gpt_ref.h"
#include "kernels/probe/measure.cuh"

enum { MOST_TENSORS = 360 };

// One comparison: tensors on the host and the same ones on the GPU.
struct check {
    const struct gpt_ops *gpu, *ref;
    tensor host[MOST_TENSORS], device[MOST_TENSORS];
    int count, wrong;
    uint64_t random;
};

static double next_uniform(struct check *c)
{
    c->random = c->random * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(c->random >> 40) / (double)(1 << 23) - 1.0;
}

static int add_tensor(struct check *c, enum dtype type, int64_t count)
{
    int i = c->count++;
    size_t bytes = (size_t)count * dtype_size(type);
    memset(&c->host[i], 0, sizeof c->host[i]);
    c->host[i].count = count;
    c->host[i].type = type;
    c->device[i] = c->host[i];
    c->host[i].data = malloc(bytes);
    if (!c->host[i].data)
        exit(3);
    CUDA_CHECK(cudaMalloc(&c->device[i].data, bytes));
    memset(c->host[i].data, 0xff, bytes);  // a NaN in every floating type
    CUDA_CHECK(cudaMemset(c->device[i].data, 0xff, bytes));
    return i;
}

// An output: both sides hold NaN until it is written.
static int output(struct check *c, enum dtype type, int64_t count)
{
    return add_tensor(c, type, count);
}

static int input(struct check *c, enum dtype type, int64_t count, double scale)
{
    int i = add_tensor(c, type, count);
    for (int64_t k = 0; k < count; k++)
        ref_set(&c->host[i], k, scale * next_uniform(c));
    c->gpu->upload(c->gpu->ctx, &c->device[i], c->host[i].data);
    return i;
}

static int indices(struct check *c, int64_t count, int64_t below)
{
    int i = add_tensor(c, DTYPE_I64, count);
    for (int64_t k = 0; k < count; k++)
        ((int64_t *)c->host[i].data)[k] =
            (int64_t)((next_uniform(c) + 1) / 2 * (double)below) % below;
    c->gpu->upload(c->gpu->ctx, &c->device[i], c->host[i].data);
    return i;
}

// The error that a type's rounding allows; sums of many terms and approximate exponentials
// included.
static double tolerance(enum dtype type)
{
    return type == DTYPE_F32 ? 2e-3 : type == DTYPE_F16 ? 2e-3 : 1e-2;
}

static void compare(struct check *c, const char *what, int i, enum dtype type)
{
    tensor *want = &c->host[i];
    size_t bytes = (size_t)want->count * dtype_size(want->type);
    tensor got = *want;
    double off = 0, norm = 0;
    if (!(got.data = malloc(bytes)))
        exit(3);
    c->gpu->download(c->gpu->ctx, got.data, &c->device[i]);
    for (int64_t k = 0; k < want->count; k++) {
        double a = ref_get(&got, k), b = ref_get(want, k);
        bool both_infinite = isinf(a) && isinf(b) && signbit(a) == signbit(b);
        off += both_infinite ? 0 : (a - b) * (a - b);
        norm += isinf(b) ? 0 : b * b;
    }
    free(got.data);
    double error = norm > 0 ? sqrt(off / norm) : sqrt(off);
    bool good = error <= tolerance(type);  // false for NaN
    c->wrong += !good;
    printf("%s %-28s %-9s %.2e\n", good ? "ok    " : "not ok", what, dtype_name(type), error);
}

static void clear(struct check *c)
{
    for (int i = 0; i < c->count; i++) {
        free(c->host[i].data);
        CUDA_CHECK(cudaFree(c->device[i].data));
    }
    c->count = 0;
}

// Calls an operation on both sides: H(i) is tensor i of the side in question.
#define BOTH(operation, ...) \
    do { \
        for (int side = 0; side < 2; side++) { \
            const struct gpt_ops *ops = side ? c->gpu : c->ref; \
            tensor *t = side ? c->device : c->host; \
            (void)t; \
            ops->operation(ops->ctx, __VA_ARGS__); \
        } \
    } while (0)

static void check_elementwise(struct check *c, enum dtype type)
{
    const int64_t n = 100003;
    int out = output(c, type, n), x = input(c, type, n, 3), y = input(c, type, n, 1),
        full = output(c, DTYPE_F32, n);
    BOTH(cast, &t[full], &t[x]);
    compare(c, "cast", full, type);
    BOTH(add, &t[out], &t[x], &t[y]);
    compare(c, "add", out, type);
    BOTH(scale, &t[out], &t[x], 0.37);
    compare(c, "scale", out, type);
    BOTH(gelu, &t[out], &t[x]);
    compare(c, "gelu", out, type);
    BOTH(gelu_backward, &t[out], &t[y], &t[x]);
    compare(c, "gelu_backward", out, type);
    int mask = output(c, DTYPE_U8, n);
    BOTH(dropout, &t[out], &t[mask], &t[x], 0.2, 1234);
    compare(c, "dropout", out, type);
    compare(c, "dropout mask", mask, type);
    BOTH(dropout_backward, &t[out], &t[y], &t[mask], 0.2);
    compare(c, "dropout_backward", out, type);
    clear(c);
}

// 389 channels are read one by one, 392 by fours.
static void check_norm_of(struct check *c, enum dtype type, int64_t C)
{
    const int64_t rows = 67;
    int x = input(c, DTYPE_F32, rows * C, 2), w = input(c, DTYPE_F32, C, 1),
        b = input(c, DTYPE_F32, C, 1);
    int y = output(c, type, rows * C), mean = output(c, DTYPE_F32, rows),
        rstd = output(c, DTYPE_F32, rows);
    BOTH(layer_norm, &t[y], &t[mean], &t[rstd], &t[x], &t[w], &t[b], C);
    compare(c, "layer_norm", y, type);
    int dy = input(c, type, rows * C, 1), dx = output(c, DTYPE_F32, rows * C);
    int dw = output(c, DTYPE_F32, C), db = output(c, DTYPE_F32, C);
    BOTH(layer_norm_backward, &t[dx], &t[dw], &t[db], &t[dy], &t[x], &t[mean], &t[rstd], &t[w], C);
    compare(c, "layer_norm_backward dx", dx, type);
    compare(c, "layer_norm_backward dweight", dw, type);
    compare(c, "layer_norm_backward dbias", db, type);
    clear(c);
}

// Sizes that are no multiples of the tiles of tensor cores or of 16 bytes.
static void check_odd_matmul(struct check *c, enum dtype type)
{
    for (int i = 0; i < 8; i++) {
        struct matmul_shape s = {37, 53, 29, i & 1 ? 3 : 1, (i & 2) != 0, (i & 4) != 0, false};
        bool bias = i == 4;
        int a = input(c, type, s.batch * s.m * s.k, 1), b = input(c, type, s.batch * s.k * s.n, 1);
        int v = input(c, type, s.n, 1), out = output(c, type, s.batch * s.m * s.n);
        BOTH(matmul, &t[out], &t[a], &t[b], bias ? &t[v] : NULL, s);
        compare(c, bias ? "odd matmul with bias" : "odd matmul", out, type);
        clear(c);
    }
}

static void check_matmul(struct check *c, enum dtype type)
{
    for (int i = 0; i < 8; i++) {
        struct matmul_shape s = {104, 72, 56, i & 1 ? 3 : 1, (i & 2) != 0, (i & 4) != 0, false};
        bool bias = i == 4;
        int a = input(c, type, s.batch * s.m * s.k, 1), b = input(c, type, s.batch * s.k * s.n, 1);
        int v = input(c, type, s.n, 1), out = output(c, type, s.batch * s.m * s.n);
        BOTH(matmul, &t[out], &t[a], &t[b], bias ? &t[v] : NULL, s);
        compare(c, bias ? "matmul with bias" : "matmul", out, type);
        clear(c);
    }
    struct matmul_shape s = {104, 72, 56, 1, true, false, true};
    int a = input(c, type, s.m * s.k, 1), b = input(c, type, s.k * s.n, 1),
        sum = input(c, DTYPE_F32, s.m * s.n, 1);
    BOTH(matmul, &t[sum], &t[a], &t[b], NULL, s);
    compare(c, "matmul added to fp32", sum, type);
    clear(c);
}

static void check_attention(struct check *c, enum dtype type)
{
    const struct attention_shape shapes[] = {
        {2, 77, 3, 64}, {1, 130, 2, 32}, {1, 70, 2, 128}, {2, 45, 2, 40}};
    for (int i = 0; i < 4; i++) {
        struct attention_shape s = shapes[i];
        int64_t n = s.B * s.T, C = s.H * s.D;
        int qkv = input(c, type, n * 3 * C, 1), out = output(c, type, n * C),
            lse = output(c, DTYPE_F32, s.B * s.H * s.T);
        BOTH(attention, &t[out], &t[lse], &t[qkv], s);
        compare(c, "attention", out, type);
        compare(c, "attention lse", lse, type);
        int dout = input(c, type, n * C, 1), dq = output(c, type, n * C),
            dk = output(c, type, n * C);
        int dv = output(c, type, n * C), delta = output(c, DTYPE_F32, s.B * s.H * s.T);
        BOTH(attention_backward, &t[dq], &t[dk], &t[dv], &t[delta], NULL, &t[dout], &t[qkv],
             &t[out], &t[lse], s);
        compare(c, "attention_backward dq", dq, type);
        compare(c, "attention_backward dk", dk, type);
        compare(c, "attention_backward dv", dv, type);
        int joined = output(c, type, n * 3 * C);
        BOTH(concat_qkv, &t[joined], &t[dq], &t[dk], &t[dv], C);
        compare(c, "concat_qkv", joined, type);
        clear(c);
    }
}

static void check_matrices_of(struct check *c, enum dtype type, int64_t T)
{
    const struct attention_shape s = {2, T, 3, 24};
    int64_t n = s.B * s.T, C = s.H * s.D, scores = s.B * s.H * s.T * s.T;
    int qkv = input(c, type, n * 3 * C, 1), part = output(c, type, n * C),
        merged = output(c, type, n * C);
    BOTH(split_heads, &t[part], &t[qkv], 1, s);
    compare(c, "split_heads", part, type);
    BOTH(merge_heads, &t[merged], &t[part], -1, s);
    compare(c, "merge_heads", merged, type);
    BOTH(head_split, &t[part], &t[merged], s);
    compare(c, "head_split", part, type);
    int mask = output(c, DTYPE_U8, s.T * s.T), x = input(c, type, scores, 3),
        masked = output(c, type, scores);
    BOTH(causal_mask, &t[mask], s.T);
    BOTH(masked_fill, &t[masked], &t[x], &t[mask], -INFINITY);
    compare(c, "masked_fill", masked, type);
    int p = output(c, type, scores), dy = input(c, type, scores, 1), dx = output(c, type, scores);
    BOTH(softmax, &t[p], &t[masked], s.T);
    compare(c, "softmax", p, type);
    BOTH(softmax_backward, &t[dx], &t[dy], &t[p], s.T);
    compare(c, "softmax_backward", dx, type);
    int wide = output(c, DTYPE_F32, scores), wide_dy = input(c, DTYPE_F32, scores, 1);
    BOTH(softmax, &t[wide], &t[masked], s.T);
    compare(c, "softmax to fp32", wide, type);
    BOTH(softmax_backward, &t[dx], &t[wide_dy], &t[wide], s.T);
    compare(c, "softmax_backward from fp32", dx, type);
    clear(c);
}

static void check_matrices(struct check *c, enum dtype type)
{
    check_matrices_of(c, type, 37);
    check_matrices_of(c, type, 40);
}

static void check_norm(struct check *c, enum dtype type)
{
    check_norm_of(c, type, 389);
    check_norm_of(c, type, 392);
}

// 5003 words are read one by one, 5016 by eights.
static void check_loss_of(struct check *c, enum dtype type, int64_t V)
{
    const int64_t rows = 19;
    int logits = input(c, type, rows * V, 4), logp = output(c, type, rows * V),
        dy = input(c, type, rows * V, 1e-2);
    int dx = output(c, type, rows * V), words = indices(c, rows, V),
        loss = input(c, DTYPE_F32, 1, 0);
    BOTH(log_softmax, &t[logp], &t[logits], V);
    compare(c, "log_softmax", logp, type);
    BOTH(log_softmax_backward, &t[dx], &t[dy], &t[logp], V);
    compare(c, "log_softmax_backward", dx, type);
    int scale = input(c, DTYPE_F32, 1, 0);
    BOTH(fill, &t[scale], 25);
    BOTH(cross_entropy_in_place, &t[logits], &t[loss], &t[words], 2, rows - 2, V, 1.0 / rows, 4.0,
         &t[scale]);
    compare(c, "cross_entropy_in_place", logits, type);
    compare(c, "cross_entropy_in_place loss", loss, type);
    clear(c);
    int wide = input(c, DTYPE_F32, rows * V, 4), target = indices(c, rows, V),
        mean = output(c, DTYPE_F32, 1);
    int weight = output(c, DTYPE_F32, 1), dloss = input(c, DTYPE_F32, 1, 1),
        dlogp = output(c, DTYPE_F32, rows * V);
    BOTH(nll, &t[mean], &t[weight], &t[wide], &t[target], V);
    compare(c, "nll", mean, type);
    BOTH(nll_backward, &t[dlogp], &t[dloss], &t[weight], &t[target], V);
    compare(c, "nll_backward", dlogp, type);
    clear(c);
}

static void check_loss(struct check *c, enum dtype type)
{
    check_loss_of(c, type, 5003);
    check_loss_of(c, type, 5016);
}

static void check_tables(struct check *c, enum dtype type)
{
    const int64_t V = 53, C = 37, n = 211;
    int table = input(c, DTYPE_F32, V * C, 1), words = indices(c, n, V),
        out = output(c, DTYPE_F32, n * C);
    int grad = input(c, DTYPE_F32, n * C, 1), dtable = output(c, DTYPE_F32, V * C);
    BOTH(embedding, &t[out], &t[table], &t[words], C);
    compare(c, "embedding", out, type);
    BOTH(embedding_backward, &t[dtable], &t[grad], &t[words], C);
    compare(c, "embedding_backward", dtable, type);
    int rows = input(c, type, n * C, 1), sums = output(c, DTYPE_F32, C), low = output(c, type, C);
    BOTH(sum_rows, &t[sums], &t[rows]);
    compare(c, "sum_rows", sums, type);
    BOTH(sum_rows, &t[low], &t[rows]);
    compare(c, "sum_rows, same type", low, type);
    int order = output(c, DTYPE_I64, n);
    BOTH(range, &t[order]);
    compare(c, "range", order, type);
    clear(c);
}

// Lists of more tensors than one launch takes, of sizes that leave a remainder.
static void check_optimizer(struct check *c, enum dtype type)
{
    enum { COUNT = 70 };
    struct adamw_settings s = {1e-2, 0.9, 0.95, 1e-8, 0.1, 3};
    int64_t n[3] = {16411, 1, 7};
    int at[5][COUNT];  // p, m, v, g, step
    bool decays[COUNT];
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 4; k++)
            at[k][i] = input(c, DTYPE_F32, n[i % 3], k == 1 ? 0.1 : 1);
        at[4][i] = input(c, DTYPE_F32, 1, 0);
        decays[i] = i % 2;
        BOTH(scale, &t[at[2][i]], &t[at[2][i]], 0.0);
    }
    tensor *lists[2][5][COUNT];
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < COUNT; i++) {
            lists[0][k][i] = &c->host[at[k][i]];
            lists[1][k][i] = &c->device[at[k][i]];
        }
    int sum = output(c, DTYPE_F32, 1), found = input(c, DTYPE_F32, 1, 0),
        scale = input(c, DTYPE_F32, 1, 0);
    int growth = input(c, DTYPE_F32, 1, 0);
    BOTH(fill, &t[scale], 1024);
    BOTH(unscale, lists[side][3], COUNT, &t[found], &t[scale]);
    BOTH(sum_squares, &t[sum], lists[side][3], COUNT);
    compare(c, "sum_squares", sum, type);
    BOTH(clip, lists[side][3], COUNT, &t[sum], 0.01);
    for (int i = 0; i < 3; i++)
        compare(c, "unscale and clip", at[3][67 + i], type);
    for (int round = 0; round < 2; round++) {  // the second as a step that is left out
        BOTH(count_steps, lists[side][4], COUNT, &t[found]);
        for (int own = 0; own < 2; own++) {
            struct adamw_lists l[2];
            for (int side = 0; side < 2; side++)
                l[side] = {lists[side][0],
                           lists[side][1],
                           lists[side][2],
                           lists[side][3],
                           own ? lists[side][4] : NULL,
                           decays,
                           COUNT};
            BOTH(adamw, &l[side], &s, &t[found]);
        }
        BOTH(adjust_scale, &t[scale], &t[growth], &t[found]);
        const char *names[] = {"adamw weight", "adamw first moment", "adamw second moment"};
        for (int i = 0; i < 9; i++)
            compare(c, names[i / 3], at[i / 3][(i % 3 ? 66 : 0) + i % 3], type);
        compare(c, "count_steps", at[4][69], type);
        compare(c, "adjust_scale", scale, type);
        compare(c, "adjust_scale growth", growth, type);
        BOTH(fill, &t[at[3][5]], INFINITY);
        BOTH(unscale, lists[side][3], COUNT, &t[found], &t[scale]);
        compare(c, "unscale finds infinity", found, type);
    }
    clear(c);
}

int kernels_check(uint64_t seed)
{
    const uint64_t workspace_bytes = (uint64_t)32 << 20;
    static void (*const checks[])(struct check *, enum dtype) = {
        check_elementwise, check_norm, check_odd_matmul, check_matmul,   check_attention,
        check_matrices,    check_loss, check_tables,     check_optimizer};
    const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    void *workspace;
    CUDA_CHECK(cudaMalloc(&workspace, workspace_bytes));
    struct cuda_ops *ops = cuda_ops_new(workspace, workspace_bytes);
    struct check *c = (struct check *)calloc(1, sizeof *c);
    if (!ops || !c)
        exit(3);
    c->gpu = cuda_ops_table(ops);
    c->ref = gpt_ref_ops();
    c->random = seed;
    bool has_bf16 = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        for (int k = 0; k < 3; k++)
            if (types[k] != DTYPE_BF16 || has_bf16)
                checks[i](c, types[k]);
    int wrong = c->wrong + training_check(ops, has_bf16);
    free(c);
    cuda_ops_delete(ops);
    CUDA_CHECK(cudaFree(workspace));
    return wrong;
}
