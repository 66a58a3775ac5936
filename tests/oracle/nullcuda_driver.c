/* The null CUDA's driver. */
#include "nullcuda.h"

#include <dlfcn.h>

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
    *count = null_device_count();
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = null_attribute((int)which);
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
    *device = null_current_device;
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
    *module = null_handle();
    return CUDA_SUCCESS;
}
CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    (void)path;
    *module = null_handle();
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)module, (void)name;
    *function = null_handle();
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
    *clusters = null_card()->multiprocessors;
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
    *out = (CUdeviceptr)(uintptr_t)null_reserve(size, true);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemAddressFree(CUdeviceptr at, size_t size)
{
    (void)size;
    null_release((void *)(uintptr_t)at);
    return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *p,
                     unsigned long long f)
{
    (void)size, (void)p, (void)f;
    *out = (CUmemGenericAllocationHandle)(uintptr_t)null_handle();
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
