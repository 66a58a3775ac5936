/* Is a CUDA runtime and driver without a GPU: memory is address space, kernels do nothing, so that
 * the frameworks' own binaries, PyTorch's caching allocator among them, run on a machine that has
 * no card.
 *
 * It is loaded before libcudart and libcublas (LD_PRELOAD) and as libcuda.so.1. What torch calls
 * and is not written here returns success and does nothing (nullcuda_rest.c, which setup.sh writes
 * from the list of symbols that the installed libraries leave undefined). A device pointer is host
 * memory that was not written, so it reads as zero: .item() on the device gives 0, and copies of
 * up to 1 MiB really happen. NULLCUDA_CARD chooses the card (a100, h100, l40s, rtx4090); only what
 * decides about memory is told: compute capability, multiprocessors, shared memory and the total.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COPY_LIMIT = 1 << 20, RANGES = 1 << 20 };

/* SRC: CUDA C++ Programming Guide, table of compute capabilities; totals as PyTorch prints them. */
typedef struct {
    const char *key, *name;
    int major, minor, multiprocessors, shared_optin, threads_per_multiprocessor;
    size_t total;
} Card;
static const Card cards[] = {
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 166912, 2048, 85097971712},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 232448, 2048, 84929347584},
    {"l40s", "NVIDIA L40S", 8, 9, 142, 101376, 1536, 47576711168},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 101376, 1536, 25393692672},
    {"a10g", "NVIDIA A10G", 8, 6, 80, 101376, 1536, 23609475072},
    /* Not a card that is sold: an A100 with room for what would not fit, to see how much it would
       be. */
    {"a100-big", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 166912, 2048, 1099511627776},
    {"h100-big", "NVIDIA H100 80GB HBM3", 9, 0, 132, 232448, 2048, 1099511627776},
};

typedef struct {
    uintptr_t at;
    size_t size;
    bool host;
} Range;
static Range ranges[RANGES];
static size_t range_count, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t next_handle = 0x1000;
static size_t launches, seen; /* kernels given to the card; those that it is known to have run */
static __thread int current_device;

static const Card *card(void)
{
    const char *want = getenv("NULLCUDA_CARD");
    for (size_t i = 0; want && i < sizeof cards / sizeof *cards; i++)
        if (!strcmp(cards[i].key, want))
            return &cards[i];
    return &cards[0];
}

static int device_count(void)
{
    const char *want = getenv("NULLCUDA_DEVICES");
    return want ? atoi(want) : 1;
}

static void *handle(void)
{
    return (void *)__atomic_add_fetch(&next_handle, 16, __ATOMIC_RELAXED);
}

/* Address space of SIZE bytes; the kernel gives pages only to what is written. NULL where the card
 * is full. */
static void *reserve(size_t size, bool host)
{
    size_t rounded = (size + 0x1fffff) & ~(size_t)0x1fffff;
    pthread_mutex_lock(&lock);
    void *at = NULL;
    if ((host || used + rounded <= card()->total) && range_count < RANGES) {
        at = mmap(NULL, rounded, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            at = NULL;
        else {
            ranges[range_count++] = (Range){(uintptr_t)at, rounded, host};
            if (!host)
                used += rounded;
        }
    }
    pthread_mutex_unlock(&lock);
    return at;
}

static void release(void *at)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; at && i < range_count; i++) {
        if (ranges[i].at != (uintptr_t)at)
            continue;
        munmap(at, ranges[i].size);
        if (!ranges[i].host)
            used -= ranges[i].size;
        ranges[i] = ranges[--range_count];
        break;
    }
    pthread_mutex_unlock(&lock);
}

/* How many launches the card is behind. 0: it has always run everything. NULLCUDA_LAG=1024, the
 * depth of a driver's queue: it runs a kernel only when the queue is full or somebody waits, so
 * that a block which another stream used is not free before. A real card is between the two. */
static size_t lag(void)
{
    static size_t value = SIZE_MAX;
    if (value == SIZE_MAX)
        value = getenv("NULLCUDA_LAG") ? strtoull(getenv("NULLCUDA_LAG"), NULL, 10) : 0;
    return value;
}
static void wait_for_all(void)
{
    seen = launches;
}
static cudaError_t launch(void)
{
    if (++launches > seen + lag())
        seen = launches - lag();
    return cudaSuccess;
}

/* What kind of memory PTR is in: cudaMemoryTypeDevice, cudaMemoryTypeHost, or not ours. */
static enum cudaMemoryType kind_of(const void *ptr)
{
    enum cudaMemoryType kind = cudaMemoryTypeUnregistered;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < range_count; i++)
        if ((uintptr_t)ptr - ranges[i].at < ranges[i].size) {
            kind = ranges[i].host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
            break;
        }
    pthread_mutex_unlock(&lock);
    return kind;
}

static void copy(void *to, const void *from, size_t size)
{
    if (size <= COPY_LIMIT)
        memcpy(to, from, size);
}

/* ---- the runtime: devices ---- */
static int attribute(int which)
{
    const Card *c = card();
    switch (which) {
    case cudaDevAttrComputeCapabilityMajor: return c->major;
    case cudaDevAttrComputeCapabilityMinor: return c->minor;
    case cudaDevAttrMultiProcessorCount: return c->multiprocessors;
    case cudaDevAttrMaxThreadsPerBlock: return 1024;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return c->threads_per_multiprocessor;
    case cudaDevAttrMaxSharedMemoryPerBlock: return 49152;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return c->shared_optin;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return c->shared_optin + 1024;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
    case cudaDevAttrMaxGridDimX: return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return 65535;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return 1024;
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrClockRate: return 1410000;
    case cudaDevAttrMemoryClockRate: return 1593000;
    case cudaDevAttrGlobalMemoryBusWidth: return 5120;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCooperativeLaunch: return 1;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: return 1;
    default: return 0;
    }
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = device_count();
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    current_device = device;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    (void)device;
    *value = attribute((int)which);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    const Card *c = card();
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", c->name);
    out->totalGlobalMem = c->total;
    out->major = c->major;
    out->minor = c->minor;
    out->multiProcessorCount = c->multiprocessors;
    out->sharedMemPerBlock = 49152;
    out->sharedMemPerBlockOptin = (size_t)c->shared_optin;
    out->sharedMemPerMultiprocessor = (size_t)c->shared_optin + 1024;
    out->regsPerBlock = out->regsPerMultiprocessor = 65536;
    out->warpSize = 32;
    out->maxThreadsPerBlock = 1024;
    out->maxThreadsPerMultiProcessor = c->threads_per_multiprocessor;
    out->maxThreadsDim[0] = out->maxThreadsDim[1] = 1024;
    out->maxThreadsDim[2] = 64;
    out->maxGridSize[0] = 2147483647;
    out->maxGridSize[1] = out->maxGridSize[2] = 65535;
    out->maxBlocksPerMultiProcessor = 32;
    out->totalConstMem = 65536;
    out->memPitch = 2147483647;
    out->textureAlignment = 512;
    out->l2CacheSize = 41943040;
    out->unifiedAddressing = out->managedMemory = out->concurrentKernels = 1;
    out->pciBusID = device;
    out->uuid.bytes[0] = (char)(device + 1);
    return cudaSuccess;
}

/* CUDA 12's header gives the same function this name; a binary built with it asks for it. */
#undef cudaGetDeviceProperties
#if CUDART_VERSION < 13000
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    return cudaGetDeviceProperties_v2(out, device);
}
#endif

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", device);
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int a, int b)
{
    (void)a, (void)b;
    *can = 1;
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t e)
{
    return e ? "error of the null CUDA" : "no error";
}
const char *cudaGetErrorName(cudaError_t e)
{
    return e ? "cudaErrorNull" : "cudaSuccess";
}

/* ---- the runtime: memory ---- */
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = card()->total;
    *free_bytes = *total - used;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **out, size_t size)
{
    *out = reserve(size, false);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags)
{
    (void)flags; /* paged memory: no share in the card's total */
    *out = reserve(size, true);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *at)
{
    release(at);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    *out = reserve(size, true);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMallocHost(void **out, size_t size)
{
    return cudaHostAlloc(out, size, 0);
}
cudaError_t cudaFreeHost(void *at)
{
    release(at);
    return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    (void)flags;
    *device = host;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *ptr)
{
    memset(out, 0, sizeof *out);
    out->type = kind_of(ptr);
    out->device = out->type == cudaMemoryTypeDevice ? current_device : -1;
    out->devicePointer = out->hostPointer = (void *)(uintptr_t)ptr;
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind)
{
    (void)kind;
    wait_for_all();
    copy(to, from, n);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
                            cudaStream_t s)
{
    (void)kind, (void)s;
    copy(to, from, n);
    return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    (void)symbol;
    static char room[1 << 16];
    *out = room;
    return cudaSuccess;
}

/* ---- the runtime: streams, events, launches ---- */
cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    *s = handle();
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned f)
{
    (void)f;
    *s = handle();
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned f, int p)
{
    (void)f, (void)p;
    *s = handle();
    return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *p)
{
    (void)s;
    *p = 0;
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
    (void)s;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t call, void *data, unsigned f)
{
    (void)f;
    call(s, cudaSuccess, data);
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t call, void *data)
{
    (void)s;
    call(data);
    return cudaSuccess;
}
/* Every version of it has the status second, and no more is read where nothing is captured. */
cudaError_t capture_info(cudaStream_t s,
                         enum cudaStreamCaptureStatus *status) __asm__("cudaStreamGetCaptureInfo");
cudaError_t capture_info(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
    return cudaStreamIsCapturing(s, status);
}
cudaError_t
capture_info2(cudaStream_t s,
              enum cudaStreamCaptureStatus *status) __asm__("cudaStreamGetCaptureInfo_v2");
cudaError_t capture_info2(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
    return cudaStreamIsCapturing(s, status);
}
typedef struct {
    size_t at;
} Event;
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned f)
{
    (void)f;
    *e = (cudaEvent_t)calloc(1, sizeof(Event));
    return *e ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    return cudaEventCreateWithFlags(e, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    free(e);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    (void)s;
    ((Event *)e)->at = launches;
    return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned f)
{
    (void)f;
    return cudaEventRecord(e, s);
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return ((Event *)e)->at <= seen ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    if (((Event *)e)->at > seen)
        seen = ((Event *)e)->at;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    (void)s;
    wait_for_all();
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
    (void)s;
    return launches <= seen ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaDeviceSynchronize(void)
{
    wait_for_all();
    return cudaSuccess;
}
/* CUDA 13 calls the two with underscores; what they are given decides nothing. */
cudaError_t launch_kernel(void) __asm__("cudaLaunchKernel");
cudaError_t launch_kernel(void)
{
    return launch();
}
cudaError_t launch_kernel13(void) __asm__("__cudaLaunchKernel");
cudaError_t launch_kernel13(void)
{
    return launch();
}
cudaError_t launch_extended(void) __asm__("cudaLaunchKernelExC");
cudaError_t launch_extended(void)
{
    return launch();
}
CUresult launch_triton(void) __asm__("cuLaunchKernelEx");
CUresult launch_triton(void)
{
    launch();
    return CUDA_SUCCESS;
}
CUresult launch_driver(void) __asm__("cuLaunchKernel");
CUresult launch_driver(void)
{
    launch();
    return CUDA_SUCCESS;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
    (void)a, (void)b;
    *ms = 0.05f;
    return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
    (void)function;
    memset(out, 0, sizeof *out);
    out->binaryVersion = out->ptxVersion = card()->major * 10 + card()->minor;
    out->maxThreadsPerBlock = 1024;
    out->numRegs = 32;
    out->maxDynamicSharedSizeBytes = card()->shared_optin;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *f,
                                                                   int size, size_t shared,
                                                                   unsigned flags)
{
    (void)f, (void)shared, (void)flags;
    int fit = card()->threads_per_multiprocessor / (size > 0 ? size : 1);
    *blocks = fit < 1 ? 1 : fit > 32 ? 32 : fit;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *f, int size,
                                                          size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, size, shared, 0);
}
void **__cudaRegisterFatBinary(void *binary)
{
    (void)binary;
    static void *module;
    return &module;
}

/* torch forbids CUDA in a child of a process that has asked for a card (its only handler is the
 * child's). Here nothing is shared with a card, and cases run in children of one process that has
 * imported everything. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                      void *library)
{
    static int (*next)(void (*)(void), void (*)(void), void (*)(void), void *);
    if (!prepare && !parent)
        return 0;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "__register_atfork");
    return next(prepare, parent, child, library);
}

/* ---- the driver, for Triton, NVRTC and expandable segments ---- */
static CUresult no_operation(void)
{
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult e, const char **text)
{
    (void)e;
    *text = "error of the null CUDA";
    return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count)
{
    *count = device_count();
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = attribute((int)which);
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    *active = 1;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = (CUcontext)(uintptr_t)0x10;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = (CUcontext)(uintptr_t)0x10;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = current_device;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetLimit(size_t *value, CUlimit which)
{
    (void)which;
    *value = 0;
    return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    (void)image;
    *module = handle();
    return CUDA_SUCCESS;
}
CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    (void)path;
    *module = handle();
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)module, (void)name;
    *function = handle();
    return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
    (void)function;
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS                ? 32
             : which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
                                                                : 0;
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction f, const CUlaunchConfig *config)
{
    (void)f, (void)config;
    *clusters = card()->multiprocessors;
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int size,
                                                     size_t shared)
{
    (void)f;
    return (CUresult)cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, NULL, size,
                                                                            shared, 0);
}
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr ptr)
{
    if (which == CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
        *(CUdeviceptr *)data = ptr;
    else if (which == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        *(unsigned *)data = CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t align, CUdeviceptr hint,
                             unsigned long long f)
{
    (void)align, (void)hint, (void)f;
    *out = (CUdeviceptr)(uintptr_t)reserve(size, true);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemAddressFree(CUdeviceptr at, size_t size)
{
    (void)size;
    release((void *)(uintptr_t)at);
    return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *p,
                     unsigned long long f)
{
    (void)size, (void)p, (void)f;
    *out = (CUmemGenericAllocationHandle)(uintptr_t)handle();
    return CUDA_SUCCESS;
}

/* The driver's function of that name, else one that does nothing. */
static void *driver_function(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found ? found : (void *)no_operation;
}
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    (void)version, (void)flags;
    *out = driver_function(name);
    if (status)
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status)
{
    (void)version, (void)flags;
    *out = driver_function(name);
    if (status)
        *status = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

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
    *out = handle();
    return 0;
}
int cublasLtCreate(void **out)
{
    *out = handle();
    return 0;
}
int cublasLtMatmulDescCreate(void **out)
{
    *out = handle();
    return 0;
}
int cublasLtMatmulPreferenceCreate(void **out)
{
    *out = handle();
    return 0;
}
int cublasLtMatrixLayoutCreate(void **out)
{
    *out = handle();
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
    launch();
    return 0;
}
int gemm_single(void) __asm__("cublasSgemm_v2");
int gemm_single(void)
{
    launch();
    return 0;
}
int gemm_batched(void) __asm__("cublasGemmStridedBatchedEx");
int gemm_batched(void)
{
    launch();
    return 0;
}
int lt_matmul(void) __asm__("cublasLtMatmul");
int lt_matmul(void)
{
    launch();
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
    launch();
    return 0;
}
int ncclAllGather(void)
{
    launch();
    return 0;
}
int ncclReduceScatter(void)
{
    launch();
    return 0;
}
int ncclBroadcast(void)
{
    launch();
    return 0;
}
int ncclReduce(void)
{
    launch();
    return 0;
}
int ncclSend(void)
{
    launch();
    return 0;
}
int ncclRecv(void)
{
    launch();
    return 0;
}
