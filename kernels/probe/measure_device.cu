// The GPU itself: its properties, the memory of a context, the driver's reserve, the rounding of
// cudaMalloc, the speed of memory.
#include <string.h>
#include <sys/utsname.h>

#include "kernels/probe/measure.cuh"
#include "kernels/record/sha256.h"

bool gpu_find(char pci_bus_id[32], char why[160])
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0)
        code = cudaDeviceGetPCIBusId(pci_bus_id, 32, 0);
    if (code == cudaSuccess && count > 0)
        return true;
    snprintf(why, 160, "no GPU: %s",
             code == cudaSuccess ? "the driver lists none" : cudaGetErrorString(code));
    return false;
}

static void put_int(struct rjson *o, const char *key, int64_t v)
{
    rjson_set(o, key, v < 0 ? rjson_null() : rjson_int(v));
}

void gpu_describe(struct rjson *device, struct rjson *software, struct nvml *nvml)
{
    struct cudaDeviceProp p;
    struct nvml_device n;
    char text[96];
    size_t free_bytes, total;
    int version;
    CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    nvml_read(nvml, &n);
    rjson_set(device, "name", rjson_string(p.name));
    snprintf(text, sizeof text, "%d.%d", p.major, p.minor);
    rjson_set(device, "compute_capability", rjson_string(text));
    rjson_set(device, "sm_count", rjson_int(p.multiProcessorCount));
    rjson_set(device, "l2_bytes", rjson_int(p.l2CacheSize));
    rjson_set(device, "memory_total_bytes",
              rjson_int(n.total_bytes >= 0 ? n.total_bytes : (int64_t)total));
    put_int(device, "memory_reserved_bytes", n.reserved_bytes);
    rjson_set(device, "memory_usable_bytes", rjson_int((int64_t)total));
    CUDA_CHECK(cudaDeviceGetPCIBusId(text, sizeof text, 0));
    rjson_set(device, "pci_bus_id", rjson_string(text));
    rjson_set(device, "ecc", n.ecc < 0 ? rjson_null() : rjson_bool(n.ecc));
    put_int(device, "sm_clock_max_mhz", n.sm_clock_max_mhz);
    put_int(device, "memory_clock_max_mhz", n.memory_clock_max_mhz);
    put_int(device, "power_limit_mw", n.power_limit_mw);
    char digest[65];
    sha256_hex(n.uuid, strlen(n.uuid), digest);
    rjson_set(device, "uuid_sha256", *n.uuid ? rjson_string(digest) : rjson_null());
    rjson_set(software, "driver", *n.driver ? rjson_string(n.driver) : rjson_null());
    CUDA_CHECK(cudaDriverGetVersion(&version));
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    rjson_set(software, "cuda_driver", rjson_string(text));
    CUDA_CHECK(cudaRuntimeGetVersion(&version));
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    rjson_set(software, "cuda_runtime", rjson_string(text));
    snprintf(text, sizeof text, "%d.%d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__,
             __CUDACC_VER_BUILD__);
    rjson_set(software, "toolkit", rjson_string(text));
    snprintf(text, sizeof text, "%zu", cublasLtGetVersion());
    rjson_set(software, "cublaslt", rjson_string(text));
    rjson_set(software, "compiler", rjson_string(__VERSION__));
}

static int64_t free_memory(void)
{
    size_t free_bytes, total;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    return (int64_t)free_bytes;
}

// The first call that makes a context; NVML was opened before it. Then a cuBLASLt handle.
const char *measure_context(const struct settings *, struct nvml *nvml, struct rjson *values,
                            char *)
{
    const char *method = "";
    struct nvml_device before, after;
    nvml_read(nvml, &before);
    CUDA_CHECK(cudaFree(0));
    put_bytes(values, "context_bytes", nvml_process_bytes(nvml, &method));
    nvml_read(nvml, &after);
    if (before.used_bytes >= 0)
        put_bytes(values, "card_rise_bytes", after.used_bytes - before.used_bytes);
    int64_t free_before = free_memory();
    cublasLtHandle_t lt;
    CUBLAS_CHECK(cublasLtCreate(&lt));
    put_bytes(values, "cublaslt_handle_bytes", free_before - free_memory());
    put_bytes(values, "context_and_cublaslt_bytes", nvml_process_bytes(nvml, &method));
    rjson_set(values, "method", record_text(method));
    CUBLAS_CHECK(cublasLtDestroy(lt));
    return "ok";
}

const char *measure_reserve(const struct settings *, struct nvml *nvml, struct rjson *values,
                            char *)
{
    struct nvml_device n;
    size_t free_bytes, total;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    nvml_read(nvml, &n);
    put_bytes(values, "nvml_total_bytes", n.total_bytes);
    put_bytes(values, "nvml_reserved_bytes", n.reserved_bytes);
    put_bytes(values, "cuda_total_bytes", (int64_t)total);
    return "ok";
}

// The cost of a size when its neighbours are taken too: the decrease of free memory over 16 such
// allocations.
const char *measure_malloc(const struct settings *s, struct nvml *, struct rjson *values,
                           char message[256])
{
    enum { COUNT = 16 };
    size_t bytes = (size_t)settings_int(s, "bytes", 512);
    double taken[COUNT], given[COUNT];
    void *p[COUNT];
    CUDA_CHECK(cudaFree(0));
    int64_t before = free_memory();
    for (int i = 0; i < COUNT; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        cudaError_t code = cudaMalloc(&p[i], bytes);
        clock_gettime(CLOCK_MONOTONIC, &b);
        if (code == cudaErrorMemoryAllocation) {
            snprintf(message, 256, "%d of %d allocations of %zu bytes found room", i, COUNT, bytes);
            return "oom";
        }
        CUDA_CHECK(code);
        taken[i] = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    }
    put_bytes(values, "device_bytes_for_16", before - free_memory());
    for (int i = 0; i < COUNT; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        CUDA_CHECK(cudaFree(p[i]));
        clock_gettime(CLOCK_MONOTONIC, &b);
        given[i] = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    }
    rjson_set(values, "cuda_malloc_s", record_samples("s", taken, COUNT));
    rjson_set(values, "cuda_free_s", record_samples("s", given, COUNT));
    return "ok";
}

static const int threads = 512;

__global__ void fill_words(uint4 *to, size_t n, unsigned seed)
{
    for (size_t i = (size_t)blockIdx.x * threads + threadIdx.x; i < n;
         i += (size_t)gridDim.x * threads) {
        unsigned v = seed + (unsigned)i * 2654435761u;
        to[i] = make_uint4(v, v ^ 0x9e3779b9u, v * 3u, ~v);
    }
}

// Four loads under way at once; the sum is written so that none of them can be left out.
__global__ void read_words(const uint4 *from, size_t n, unsigned *sink)
{
    unsigned sum = 0;
    size_t step = (size_t)gridDim.x * threads;
    for (size_t i = (size_t)blockIdx.x * threads + threadIdx.x; i < n; i += 4 * step) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < n) {
                uint4 v = __ldcs(from + i + k * step);
                sum ^= v.x ^ v.y ^ v.z ^ v.w;
            }
    }
    if (sum == 0x12345678u)
        *sink = sum;
}

__global__ void copy_words(uint4 *to, const uint4 *from, size_t n)
{
    size_t step = (size_t)gridDim.x * threads, i = (size_t)blockIdx.x * threads + threadIdx.x;
    for (; i + 3 * step < n; i += 4 * step) {
        // All loads come before the first store: the compiler cannot know that they are of other
        // memory.
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = __ldcs(from + i + k * step);
#pragma unroll
        for (int k = 0; k < 4; k++)
            __stcs(to + i + k * step, v[k]);
    }
    for (; i < n; i += step)
        __stcs(to + i, __ldcs(from + i));
}

static void put_rate(struct rjson *values, const char *key, const double seconds[REPEATS],
                     double bytes)
{
    double out[REPEATS];
    rates(out, seconds, bytes);
    rjson_set(values, key, record_samples("B/s", out, REPEATS));
}

// Two buffers of a gigabyte, or of a quarter of the free memory: far more than any L2.
const char *measure_bandwidth(const struct settings *, struct nvml *, struct rjson *values, char *)
{
    size_t bytes = (size_t)free_memory() / 4;
    bytes = bytes > ((size_t)1 << 30) ? (size_t)1 << 30 : bytes / 4096 * 4096;
    size_t words = bytes / sizeof(uint4);
    uint4 *a, *b;
    unsigned *sink, blocks = (unsigned)device_attribute(cudaDevAttrMultiProcessorCount) * 4;
    double seconds[REPEATS];
    CUDA_CHECK(cudaMalloc(&a, bytes));
    CUDA_CHECK(cudaMalloc(&b, bytes));
    CUDA_CHECK(cudaMalloc(&sink, sizeof *sink));
    fill_words<<<blocks, threads>>>(a, words, 7);
    time_runs(seconds, [&] { fill_words<<<blocks, threads>>>(b, words, 11); });
    put_rate(values, "write_rate", seconds, (double)bytes);
    time_runs(seconds, [&] { read_words<<<blocks, threads>>>(a, words, sink); });
    put_rate(values, "read_rate", seconds, (double)bytes);
    time_runs(seconds, [&] { copy_words<<<blocks, threads>>>(b, a, words); });
    put_rate(values, "copy_rate", seconds, 2.0 * (double)bytes);
    time_runs(seconds, [&] { CUDA_CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice)); });
    put_rate(values, "memcpy_rate", seconds, 2.0 * (double)bytes);
    LAUNCH_CHECK();
    put_bytes(values, "buffer_bytes", (int64_t)bytes);
    put_bytes(values, "l2_bytes", device_attribute(cudaDevAttrL2CacheSize));
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    CUDA_CHECK(cudaFree(sink));
    return "ok";
}
