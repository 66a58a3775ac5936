// NVML by dlopen. Signatures and structures: NVIDIA, nvml.h of CUDA 12 and 13.
#include "kernels/probe/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int nvml_return;  // 0 is NVML_SUCCESS
typedef void *nvml_handle;

struct memory_v2 {  // nvmlMemory_v2_t
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct process_info {  // nvmlProcessInfo_t since v2
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, MOST_PROCESSES = 64 };
static const unsigned long long not_available = ~0ull;  // NVML_VALUE_NOT_AVAILABLE

// X(member, symbol, parameters)
#define NVML_CALLS \
    X(init, "nvmlInit_v2", (void)) \
    X(shutdown, "nvmlShutdown", (void)) \
    X(by_bus, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, nvml_handle *)) \
    X(memory, "nvmlDeviceGetMemoryInfo_v2", (nvml_handle, struct memory_v2 *)) \
    X(uuid, "nvmlDeviceGetUUID", (nvml_handle, char *, unsigned)) \
    X(driver, "nvmlSystemGetDriverVersion", (char *, unsigned)) \
    X(clock, "nvmlDeviceGetMaxClockInfo", (nvml_handle, int, unsigned *)) \
    X(power, "nvmlDeviceGetPowerManagementLimit", (nvml_handle, unsigned *)) \
    X(ecc, "nvmlDeviceGetEccMode", (nvml_handle, unsigned *, unsigned *)) \
    X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", \
      (nvml_handle, unsigned *, struct process_info *))

struct nvml {
    void *library;
    nvml_handle device;
#define X(member, symbol, parameters) nvml_return(*member) parameters;
    NVML_CALLS
#undef X
    unsigned others[MOST_PROCESSES];
    int other_count;
    int64_t used_before;
};

// False when a call is missing that is needed.
static bool load(struct nvml *n)
{
#define X(member, symbol, parameters) *(void **)&n->member = dlsym(n->library, symbol);
    NVML_CALLS
#undef X
    return n->init && n->shutdown && n->by_bus && n->init() == 0;
}

static int list_processes(struct nvml *n, struct process_info table[MOST_PROCESSES])
{
    unsigned count = MOST_PROCESSES;
    return n->processes && n->processes(n->device, &count, table) == 0 ? (int)count : -1;
}

static int64_t used_bytes(struct nvml *n)
{
    struct nvml_device d;
    nvml_read(n, &d);
    return d.used_bytes;
}

struct nvml *nvml_open(const char *pci_bus_id)
{
    struct nvml *n = calloc(1, sizeof *n);
    struct process_info table[MOST_PROCESSES];
    if (!n)
        return NULL;
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!n->library || !load(n) || n->by_bus(pci_bus_id, &n->device) != 0) {
        if (n->library)
            dlclose(n->library);
        free(n);
        return NULL;
    }
    int count = list_processes(n, table);
    for (int i = 0; i < count; i++)
        n->others[n->other_count++] = table[i].pid;
    n->used_before = used_bytes(n);
    return n;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}

static int64_t max_clock(struct nvml *n, int which)
{
    unsigned mhz;
    return n->clock && n->clock(n->device, which, &mhz) == 0 ? (int64_t)mhz : -1;
}

void nvml_read(struct nvml *n, struct nvml_device *out)
{
    *out = (struct nvml_device){.total_bytes = -1,
                                .reserved_bytes = -1,
                                .used_bytes = -1,
                                .power_limit_mw = -1,
                                .sm_clock_max_mhz = -1,
                                .memory_clock_max_mhz = -1,
                                .ecc = -1};
    if (!n)
        return;
    // NVML_STRUCT_VERSION(Memory, 2)
    struct memory_v2 m = {.version = (unsigned)sizeof m | 2u << 24};
    if (n->memory && n->memory(n->device, &m) == 0) {
        out->total_bytes = (int64_t)m.total;
        out->reserved_bytes = (int64_t)m.reserved;
        out->used_bytes = (int64_t)m.used;
    }
    unsigned a, b;
    if (n->power && n->power(n->device, &a) == 0)
        out->power_limit_mw = a;
    if (n->ecc && n->ecc(n->device, &a, &b) == 0)
        out->ecc = (int)a;
    out->sm_clock_max_mhz = max_clock(n, CLOCK_SM);
    out->memory_clock_max_mhz = max_clock(n, CLOCK_MEMORY);
    if (!n->uuid || n->uuid(n->device, out->uuid, sizeof out->uuid) != 0)
        *out->uuid = 0;
    if (!n->driver || n->driver(out->driver, sizeof out->driver) != 0)
        *out->driver = 0;
}

int nvml_process_count(struct nvml *n)
{
    struct process_info table[MOST_PROCESSES];
    return n ? list_processes(n, table) : -1;
}

static bool is_new(const struct nvml *n, unsigned pid)
{
    for (int i = 0; i < n->other_count; i++)
        if (n->others[i] == pid)
            return false;
    return true;
}

int64_t nvml_process_bytes(struct nvml *n, const char **method)
{
    struct process_info table[MOST_PROCESSES];
    int count = n ? list_processes(n, table) : -1, fresh = 0;
    int64_t newest = -1;
    for (int i = 0; i < count; i++) {
        if (table[i].used == not_available)
            continue;
        *method = "nvml process";
        if (table[i].pid == (unsigned)getpid())
            return (int64_t)table[i].used;
        if (is_new(n, table[i].pid)) {
            newest = (int64_t)table[i].used;
            fresh++;
        }
    }
    *method = "nvml process, the only new one";
    if (fresh == 1)
        return newest;
    *method = "rise of the card's use";
    int64_t now = n ? used_bytes(n) : -1;
    if (now >= 0 && n->used_before >= 0)
        return now - n->used_before;
    *method = "not available";
    return -1;
}
