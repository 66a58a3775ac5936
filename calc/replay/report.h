// From a finished run to struct vram_result: sums by category, by tensor, by phase, and error
// bounds.

#ifndef CALC_REPORT_H
#define CALC_REPORT_H

#include "calc/replay/accuracy.h"
#include "calc/replay/engine.h"

// The tolerances, stated once (per mille of the figure), where public measurements of the same kind
// of run are not further off (accuracy.def). The context's range is added to the process's own.
// Reserved memory is not stable to 3 %: GPT-2 with nanoGPT's defaults reserves 13,372 MiB for a
// batch of 9 and 12,818 for one of 10.
enum {
    REPORT_TOLERANCE_LIVE = 0,  // eager gpt2
    REPORT_TOLERANCE_FAMILY =
        5,  // live bytes of the other families: written from their published operations
    REPORT_TOLERANCE_MODEL = 50,  // adapters, experts, several GPUs, optimizers of other libraries
    REPORT_TOLERANCE_ALLOCATED = 10,
    REPORT_TOLERANCE_RESERVED = 50,
    REPORT_TOLERANCE_COMPILED = 50,
    REPORT_TOLERANCE_PROCESS = 50
};

// The process's figure, from what the allocator reserved. seen: by enum accuracy_of.
// paged: managed memory, on the card where there is room for it; the lower end is without.
void report_process(const struct accuracy seen[ACCURACY_COUNT], uint64_t reserved, uint64_t paged,
                    const struct vram_figure *context, struct vram_figure *out);

// enum vram_verdict of a process in a card; gpu_bytes 0: there is none. retries: how often the
// cache was given back to the card, which was full then.
uint32_t report_verdict(const struct vram_figure *process, uint64_t gpu_bytes, uint64_t retries);

// Fills v->result from the engine's last run. Errors: VRAM_ENOMEM, recorded.
int report_make(struct vram *v, struct engine *e);

// Bytes of the process from which on its whole error bound is surely not within the card, for the
// configuration as run_process, run_process_least or run_process_floor has just seen it.
uint64_t report_unsure(const struct vram *v);

#endif
