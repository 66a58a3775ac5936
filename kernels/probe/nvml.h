// NVML's figures of a GPU and of this process, by dlopen: the few calls that are needed are
// declared in nvml.c.
#ifndef KERNELS_NVML_H
#define KERNELS_NVML_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvml;

// A reading that the driver does not give is -1, or an empty text.
struct nvml_device {
    int64_t total_bytes, reserved_bytes, used_bytes;
    int64_t sm_clock_max_mhz, memory_clock_max_mhz, power_limit_mw;
    int ecc;
    char uuid[96], driver[96];
};

// NULL when there is no NVML or no such GPU. pci_bus_id as cudaDeviceGetPCIBusId gives it.
struct nvml *nvml_open(const char *pci_bus_id);
void nvml_close(struct nvml *n);
void nvml_read(struct nvml *n, struct nvml_device *out);
// Number of compute processes on the GPU; -1 when the driver does not tell.
int nvml_process_count(struct nvml *n);
// Bytes of this process as nvidia-smi shows them, or -1. In a container NVML may know the process
// by another number: then the one process that did not exist at nvml_open is taken for it, or else
// the increase of the card's use since then. *method tells which.
int64_t nvml_process_bytes(struct nvml *n, const char **method);

#ifdef __cplusplus
}
#endif

#endif
