// libvram: the library's tables of cards and presets.

#ifndef VRAM_TABLES_H
#define VRAM_TABLES_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vram_gpu {
    const char *name;                                // "RTX 4070"
    uint64_t memory_bytes;                           // the total that nvidia-smi prints
    uint64_t bandwidth_mb_s;                         // 10^6 bytes a second
    uint64_t fp16_gflops, bf16_gflops, fp32_gflops;  // dense; 0 = not supported
    uint32_t compute_capability;                     // 89 for 8.9; AMD: 0
    uint32_t sm_count;                               // multiprocessors or compute units
    bool memory_reported;  // memory_bytes: seen as a driver's report; else the advertised size
    const char *architecture;
    const char *source, *source_note;  // address of the datasheet; this and the rest: NULL where
                                       // left out to save space
    const char *memory_source, *memory_note;
};
VRAM_API const struct vram_gpu *vram_gpu_at(size_t index);  // NULL past the end
// Case, spaces, '-' and the makers' words do not matter. NULL if unknown.
VRAM_API const struct vram_gpu *vram_gpu_find(const char *name);

// The two totals of a card's memory.
struct vram_capacity {
    uint64_t total_bytes;  // as nvidia-smi prints it; 0 where only cuda_memory is known
    uint64_t
        cuda_bytes;  // as cudaMemGetInfo and PyTorch's messages say it: what processes can have
    uint64_t cuda_low_bytes,
        cuda_high_bytes;  // the extremes of what was seen; cuda_bytes where nothing was
    uint32_t basis;       // enum vram_capacity_basis, of cuda_bytes
    uint32_t seen;        // observations behind it
};

// The totals of a card of the table under a system: "linux" (or NULL), "windows". False for another
// card or system.
VRAM_API bool vram_gpu_capacity(const struct vram_gpu *card, const char *system,
                                struct vram_capacity *out);

struct vram_preset {
    const char *name, *what;
    const char *fields;  // "n_layer=12 n_head=12 ..."
    const char *run;     // fields of the way it is run, "" if it has none of its own
    const char *source;  // address of the configuration; "" where there is none
};
VRAM_API const struct vram_preset *vram_preset_at(size_t index);  // NULL past the end

// "Did you mean": the nearest of count names to a word of len bytes (edit distance, at most a third
// of its length), or NULL.
VRAM_API const char *vram_nearest(const char *word, size_t len, const char *const *names,
                                  size_t count);

#ifdef __cplusplus
}
#endif

#endif
