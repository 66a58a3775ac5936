// A trace in the forms that viewers read.

#ifndef CALC_TRACE_EXPORT_H
#define CALC_TRACE_EXPORT_H

#include "calc/model/handle.h"

// One event a row.
int trace_csv(struct vram *v);

// The structure that torch.cuda.memory._snapshot() returns: as a pickle, which pytorch.org/memory_viz opens, or as
// JSON for other programs. Addresses and segments are those of the replayed allocator.
int trace_snapshot(struct vram *v, bool pickle);

// Trace Event JSON, for ui.perfetto.dev and chrome://tracing: phases, memory by category, the larger tensors. One event
// is one microsecond: the order is real, the durations are not.
int trace_perfetto(struct vram *v);

#endif
