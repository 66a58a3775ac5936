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
#include "nullcuda.h"

/* SRC: CUDA C++ Programming Guide, table of compute capabilities; totals as PyTorch prints them. */
static const Card cards[] = {
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 166912, 2048, 85097971712},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 232448, 2048, 84929347584},
    {"l40s", "NVIDIA L40S", 8, 9, 142, 101376, 1536, 47576711168},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 101376, 1536, 25393692672},
    {"t4", "Tesla T4", 7, 5, 40, 65536, 1024, 15828320256},
    {"a10g", "NVIDIA A10G", 8, 6, 80, 101376, 1536, 23609475072},
    /* Not a card that is sold: an A100 with room for what would not fit, to see how much it would
       be. */
    {"a100-big", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 166912, 2048, 1099511627776},
    {"h100-big", "NVIDIA H100 80GB HBM3", 9, 0, 132, 232448, 2048, 1099511627776},
};

static uintptr_t next_handle = 0x1000;
__thread int null_current_device;

const Card *null_card(void)
{
    const char *want = getenv("NULLCUDA_CARD");
    for (size_t i = 0; want && i < sizeof cards / sizeof *cards; i++)
        if (!strcmp(cards[i].key, want))
            return &cards[i];
    return &cards[0];
}

int null_device_count(void)
{
    const char *want = getenv("NULLCUDA_DEVICES");
    return want ? atoi(want) : 1;
}

void *null_handle(void)
{
    return (void *)__atomic_add_fetch(&next_handle, 16, __ATOMIC_RELAXED);
}

/* ---- the runtime: devices ---- */
int null_attribute(int which)
{
    const Card *c = null_card();
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
    *count = null_device_count();
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device)
{
    *device = null_current_device;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    null_current_device = device;
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
    *value = null_attribute((int)which);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    const Card *c = null_card();
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
