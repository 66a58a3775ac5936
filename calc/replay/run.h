// The figure that decides whether a run fits, without the rest of the report.

#ifndef CALC_RUN_H
#define CALC_RUN_H

#include "calc/replay/engine.h"

// From here on run_process plays once what runs have in common that differ by their optimizer
// alone, if one of them was the first, or, where runs go to and fro, among the last. Errors:
// VRAM_ENOMEM.
int run_resumes(struct vram *v, bool to_and_fro);

// What vram_run would give as result.process. enough: bytes of the process from which on the exact
// number does not matter, or 0. Errors: those of vram_run; VRAM_ENOFIT, not recorded: it takes
// `enough` or more. *retries: how often the cache was given back to the card.
int run_process(struct vram *v, uint64_t enough, struct vram_figure *process, uint64_t *retries);

// vram_run, but where the engine stands as that call left it, for the configuration as it is.
int run_once(struct vram *v);

// vram_trace with the core's own events.
int run_events(struct vram *v, const struct trace_sink *sink);

// A lower bound of that figure, of the live bytes alone: no replay. Errors: those of
// vram_live_peak.
int run_process_least(struct vram *v, uint64_t *process);

// A lower bound of that again, of what lives outside of the passes: no tape. 0 where it is not
// known: several stages, an impossible run.
uint64_t run_process_floor(struct vram *v);

// The last answer of vram_segments; NULL: there is none of the configuration as it is.
const struct vram_segments *segments_made(const struct vram *v);

// Replays the run that vram_run has just made, event by event, for watch; the result stays. Errors:
// what watch answers; VRAM_ENOMEM.
int run_again(struct vram *v, struct engine *e, const struct player_watch *watch);

#endif
