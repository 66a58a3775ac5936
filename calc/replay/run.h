// The figure that decides whether a run fits, without the rest of the report.

#ifndef CALC_RUN_H
#define CALC_RUN_H

#include "calc/model/handle.h"

// What vram_run would give as result.process. enough: bytes of the process from which on the exact number does not
// matter, or 0. Errors: those of vram_run; VRAM_ENOFIT, not recorded: it takes `enough` or more.
int run_process(struct vram *v, uint64_t enough, struct vram_figure *process);

// A lower bound of that figure, of the live bytes alone: no replay. Errors: those of vram_live_peak.
int run_process_least(struct vram *v, uint64_t *process);

#endif
