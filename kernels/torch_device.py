"""The circumstances of a measurement: the GPU, the driver, the versions, and what NVML says of a process.

NVML is loaded by ctypes, so that nothing but PyTorch has to be installed. Signatures: NVIDIA, nvml.h (CUDA 12 and 13).
"""

import ctypes
import hashlib
import os
import platform
import sys

MIB = 1 << 20


class MemoryV2(ctypes.Structure):  # nvmlMemory_v2_t
    _fields_ = [("version", ctypes.c_uint), ("total", ctypes.c_ulonglong), ("reserved", ctypes.c_ulonglong),
                ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class ProcessInfo(ctypes.Structure):  # nvmlProcessInfo_t, since v2
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint)]


NOT_AVAILABLE = (1 << 64) - 1  # NVML_VALUE_NOT_AVAILABLE
CLOCK_SM, CLOCK_MEMORY = 1, 2  # nvmlClockType_t


class Nvml:
    """One GPU, seen through NVML. Every reading is None where the driver does not give it."""

    def __init__(self):
        self.lib, self.handle = None, ctypes.c_void_p()
        try:
            self.lib = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if self.lib.nvmlInit_v2() != 0:
            self.lib = None
            return
        # What CUDA calls device 0 may be another one of NVML's.
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
        if visible.startswith("GPU-"):
            found = self.lib.nvmlDeviceGetHandleByUUID(visible.encode(), ctypes.byref(self.handle))
        else:
            number = int(visible) if visible.isdigit() else 0
            found = self.lib.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(number), ctypes.byref(self.handle))
        if found != 0:
            self.lib = None

    def _text(self, function, *before):
        if not self.lib:
            return None
        out = ctypes.create_string_buffer(96)
        code = getattr(self.lib, function)(*before, out, ctypes.c_uint(96))
        return out.value.decode() if code == 0 else None

    def _uint(self, function, *arguments):
        if not self.lib:
            return None
        out = ctypes.c_uint()
        code = getattr(self.lib, function)(self.handle, *arguments, ctypes.byref(out))
        return out.value if code == 0 else None

    def driver(self):
        return self._text("nvmlSystemGetDriverVersion")

    def uuid_sha256(self):
        uuid = self._text("nvmlDeviceGetUUID", self.handle)
        return hashlib.sha256(uuid.encode()).hexdigest() if uuid else None

    def memory(self):
        """(total, reserved, used) in bytes. used holds no reserve: NVML's v2 figure."""
        if not self.lib:
            return None, None, None
        info = MemoryV2(version=ctypes.sizeof(MemoryV2) | (2 << 24))
        if self.lib.nvmlDeviceGetMemoryInfo_v2(self.handle, ctypes.byref(info)) != 0:
            return None, None, None
        return info.total, info.reserved, info.used

    def clock_max_mhz(self, clock):
        return self._uint("nvmlDeviceGetMaxClockInfo", ctypes.c_uint(clock))

    def power_limit_mw(self):
        return self._uint("nvmlDeviceGetPowerManagementLimit")

    def ecc(self):
        if not self.lib:
            return None
        current, pending = ctypes.c_uint(), ctypes.c_uint()
        code = self.lib.nvmlDeviceGetEccMode(self.handle, ctypes.byref(current), ctypes.byref(pending))
        return bool(current.value) if code == 0 else None

    def processes(self):
        """{pid: bytes or None} of the compute processes on the GPU; None when the driver does not tell."""
        if not self.lib:
            return None
        count = ctypes.c_uint(64)
        table = (ProcessInfo * 64)()
        function = getattr(self.lib, "nvmlDeviceGetComputeRunningProcesses_v3", None)
        if function is None or function(self.handle, ctypes.byref(count), table) != 0:
            return None
        return {p.pid: None if p.used == NOT_AVAILABLE else p.used for p in table[:count.value]}


class ProcessMemory:
    """What one process takes on the GPU, as nvidia-smi shows it.

    In a container NVML may know the process by another number, or not name it at all: then the rise of the whole
    card's use since `before` stands for it, and method says so; beside others that begin and end (not alone) nothing does.
    """

    def __init__(self, nvml):
        self.nvml, self.before, self.alone = nvml, nvml.memory()[2], True
        self.others = set(nvml.processes() or {})

    def read(self):
        """(bytes or None, method)."""
        now = self.nvml.processes() or {}
        mine = now.get(os.getpid())
        if mine is not None:
            return mine, "nvml process"
        if not self.alone:
            return None, "not available beside other processes"
        new = [used for pid, used in now.items() if pid not in self.others and used is not None]
        if len(new) == 1:
            return new[0], "nvml process, the only new one"
        used = self.nvml.memory()[2]
        if used is None or self.before is None:
            return None, "not available"
        return used - self.before, "rise of the card's use"


def device_record(torch, nvml, others):
    properties = torch.cuda.get_device_properties(0)
    total, reserved, _ = nvml.memory()
    usable = torch.cuda.mem_get_info()[1]
    return {
        "name": properties.name,
        "compute_capability": "%d.%d" % (properties.major, properties.minor),
        "sm_count": properties.multi_processor_count,
        "l2_bytes": int(getattr(properties, "L2_cache_size", 0)),
        "memory_total_bytes": total if total is not None else usable,
        "memory_reserved_bytes": reserved,
        "memory_usable_bytes": usable,
        "pci_bus_id": pci_bus_id(properties),
        "ecc": nvml.ecc(),
        "sm_clock_max_mhz": nvml.clock_max_mhz(CLOCK_SM),
        "memory_clock_max_mhz": nvml.clock_max_mhz(CLOCK_MEMORY),
        "power_limit_mw": nvml.power_limit_mw(),
        "uuid_sha256": nvml.uuid_sha256(),
        "other_processes": others,
    }


def pci_bus_id(properties):
    parts = [getattr(properties, "pci_%s_id" % part, None) for part in ("domain", "bus", "device")]
    return None if None in parts else "%08X:%02X:%02X.0" % tuple(parts)


def software_record(torch, nvml):
    try:
        import triton
        triton_version = triton.__version__
    except ImportError:
        triton_version = None
    return {
        "driver": nvml.driver(),
        "cuda_runtime": torch.version.cuda,
        "torch": torch.__version__,
        "triton": triton_version,
        "python": platform.python_version(),
        "allocator_settings": os.environ.get("PYTORCH_ALLOC_CONF") or os.environ.get("PYTORCH_CUDA_ALLOC_CONF"),
    }


def host_record():
    name = platform.system()
    try:
        with open("/etc/os-release") as f:
            for line in f:
                if line.startswith("PRETTY_NAME="):
                    name = line.split("=", 1)[1].strip().strip('"')
    except OSError:
        pass
    return {"os": name, "kernel": platform.release(), "machine": platform.machine()}


def sources_sha256(folder):
    """Of the measuring program's own files, in order of name."""
    digest = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        if name.startswith("torch_") and name.endswith(".py"):
            with open(os.path.join(folder, name), "rb") as f:
                digest.update(f.read())
    return digest.hexdigest()


def no_device(message):
    """No GPU: one line, exit status 77, which test runners read as skipped."""
    print("torch_record.py: %s; nothing was measured" % message, file=sys.stderr)
    raise SystemExit(77)
