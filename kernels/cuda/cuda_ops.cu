// Fills in a GPU's table of operations, and makes cudaMalloc the device of the caching allocator.
#include <string.h>

#include "kernels/cuda/cuda_ops.cuh"

// The next buffer, when its last upload is done.
static int upload_buffer(struct cuda_ops *o, size_t bytes)
{
    int i = o->next_upload;
    o->next_upload = (i + 1) % UPLOADS;
    if (!o->uploaded[i])
        CUDA_CHECK(cudaEventCreateWithFlags(&o->uploaded[i], cudaEventDisableTiming));
    CUDA_CHECK(cudaEventSynchronize(o->uploaded[i]));
    if (o->pinned_bytes[i] < bytes) {
        if (o->pinned[i])
            CUDA_CHECK(cudaFreeHost(o->pinned[i]));
        CUDA_CHECK(cudaMallocHost(&o->pinned[i], bytes));
        o->pinned_bytes[i] = bytes;
    }
    return i;
}

static void gpu_upload(void *ctx, tensor *out, const void *host)
{
    struct cuda_ops *o = ops_of(ctx);
    size_t bytes = (size_t)out->count * dtype_size(out->type);
    if (bytes > most_upload) {
        CUDA_CHECK(cudaMemcpy(out->data, host, bytes, cudaMemcpyHostToDevice));
        return;
    }
    int i = upload_buffer(o, bytes);
    memcpy(o->pinned[i], host, bytes);
    CUDA_CHECK(cudaMemcpyAsync(out->data, o->pinned[i], bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaEventRecord(o->uploaded[i]));
}

static void gpu_download(void *ctx, void *host, const tensor *in)
{
    (void)ctx;
    CUDA_CHECK(cudaMemcpy(host, in->data, (size_t)in->count * dtype_size(in->type),
                          cudaMemcpyDeviceToHost));
}

static void gpu_zero(void *ctx, tensor *out)
{
    (void)ctx;
    CUDA_CHECK(cudaMemsetAsync(out->data, 0, (size_t)out->count * dtype_size(out->type)));
}

static void gpu_copy(void *ctx, tensor *out, const tensor *in)
{
    (void)ctx;
    CUDA_CHECK(cudaMemcpyAsync(out->data, in->data, (size_t)out->count * dtype_size(out->type),
                               cudaMemcpyDeviceToDevice));
}

static void gpu_synchronize(void *ctx)
{
    (void)ctx;
    CUDA_CHECK(cudaDeviceSynchronize());
}

struct cuda_ops *cuda_ops_new(void *workspace, uint64_t workspace_bytes)
{
    struct cuda_ops *o = (struct cuda_ops *)calloc(1, sizeof *o);
    if (!o)
        return NULL;
    int device, major, minor;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&o->processors, cudaDevAttrMultiProcessorCount, device));
    o->compute_capability = major * 10 + minor;
    o->workspace = workspace;
    o->workspace_bytes = workspace_bytes;
    CUBLAS_CHECK(cublasLtCreate(&o->lt));
    struct gpt_ops *t = &o->table;
    t->ctx = o;
    t->name = "cuda";
    t->upload = gpu_upload;
    t->download = gpu_download;
    t->zero = gpu_zero;
    t->copy = gpu_copy;
    t->synchronize = gpu_synchronize;
    elementwise_install(t);
    layout_install(t);
    reduction_install(t);
    layernorm_install(t);
    cross_entropy_install(t);
    attention_install(t);
    update_install(t);
    matmul_install(t);
    return o;
}

const struct gpt_ops *cuda_ops_table(const struct cuda_ops *o)
{
    return &o->table;
}

void cuda_ops_delete(struct cuda_ops *o)
{
    if (!o)
        return;
    matmul_close(o);
    for (int i = 0; i < UPLOADS; i++) {
        if (o->pinned[i])
            CUDA_CHECK(cudaFreeHost(o->pinned[i]));
        if (o->uploaded[i])
            CUDA_CHECK(cudaEventDestroy(o->uploaded[i]));
    }
    CUBLAS_CHECK(cublasLtDestroy(o->lt));
    free(o);
}

static int cuda_take(void *ctx, uint64_t bytes, void **address)
{
    (void)ctx;
    cudaError_t code = cudaMalloc(address, bytes);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // the error is handled: it must not be found by the next check
        return -1;
    }
    CUDA_CHECK(code);
    return 0;
}

static void cuda_give(void *ctx, void *address, uint64_t bytes)
{
    (void)ctx;
    (void)bytes;
    CUDA_CHECK(cudaFree(address));
}

struct device_memory cuda_device_memory(void)
{
    struct device_memory d = {cuda_take, cuda_give, NULL};
    return d;
}
