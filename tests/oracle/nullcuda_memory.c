/* The null CUDA's memory: address space that is handed out and counted, and copies. */
#include "nullcuda.h"

#include <pthread.h>
#include <sys/mman.h>

enum { COPY_LIMIT = 1 << 20, RANGES = 1 << 20 };

typedef struct {
    uintptr_t at;
    size_t size;
    bool host;
} Range;
static Range ranges[RANGES];
static size_t range_count, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

size_t null_used(void)
{
    return used;
}

void *null_reserve(size_t size, bool host)
{
    size_t rounded = (size + 0x1fffff) & ~(size_t)0x1fffff;
    pthread_mutex_lock(&lock);
    void *at = NULL;
    if ((host || used + rounded <= null_card()->total) && range_count < RANGES) {
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

void null_release(void *at)
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

/* ---- the runtime: memory ---- */
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = null_card()->total;
    *free_bytes = *total - used;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **out, size_t size)
{
    *out = null_reserve(size, false);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags)
{
    (void)flags; /* paged memory: no share in the card's total */
    *out = null_reserve(size, true);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *at)
{
    null_release(at);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    *out = null_reserve(size, true);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMallocHost(void **out, size_t size)
{
    return cudaHostAlloc(out, size, 0);
}
cudaError_t cudaFreeHost(void *at)
{
    null_release(at);
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
    out->device = out->type == cudaMemoryTypeDevice ? null_current_device : -1;
    out->devicePointer = out->hostPointer = (void *)(uintptr_t)ptr;
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind)
{
    (void)kind;
    null_wait_for_all();
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
