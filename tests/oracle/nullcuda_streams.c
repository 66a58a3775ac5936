/* The null CUDA's streams, events and launches: kernels do nothing, and are counted. */
#include "nullcuda.h"

#include <dlfcn.h>

static size_t launches, seen; /* kernels given to the card; those that it is known to have run */

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
void null_wait_for_all(void)
{
    seen = launches;
}
cudaError_t null_launch(void)
{
    if (++launches > seen + lag())
        seen = launches - lag();
    return cudaSuccess;
}

/* ---- the runtime: streams, events, launches ---- */
cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    *s = null_handle();
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned f)
{
    (void)f;
    *s = null_handle();
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned f, int p)
{
    (void)f, (void)p;
    *s = null_handle();
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
    null_wait_for_all();
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
    (void)s;
    return launches <= seen ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaDeviceSynchronize(void)
{
    null_wait_for_all();
    return cudaSuccess;
}
/* CUDA 13 calls the two with underscores; what they are given decides nothing. */
cudaError_t launch_kernel(void) __asm__("cudaLaunchKernel");
cudaError_t launch_kernel(void)
{
    return null_launch();
}
cudaError_t launch_kernel13(void) __asm__("__cudaLaunchKernel");
cudaError_t launch_kernel13(void)
{
    return null_launch();
}
cudaError_t launch_extended(void) __asm__("cudaLaunchKernelExC");
cudaError_t launch_extended(void)
{
    return null_launch();
}
CUresult launch_triton(void) __asm__("cuLaunchKernelEx");
CUresult launch_triton(void)
{
    null_launch();
    return CUDA_SUCCESS;
}
CUresult launch_driver(void) __asm__("cuLaunchKernel");
CUresult launch_driver(void)
{
    null_launch();
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
    out->binaryVersion = out->ptxVersion = null_card()->major * 10 + null_card()->minor;
    out->maxThreadsPerBlock = 1024;
    out->numRegs = 32;
    out->maxDynamicSharedSizeBytes = null_card()->shared_optin;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *f,
                                                                   int size, size_t shared,
                                                                   unsigned flags)
{
    (void)f, (void)shared, (void)flags;
    int fit = null_card()->threads_per_multiprocessor / (size > 0 ? size : 1);
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
