// A trace as rows and as Trace Event JSON. Each runs the step and appends to v->text.

#ifndef CALC_TRACE_EVENTS_H
#define CALC_TRACE_EVENTS_H

#include "calc/model/handle.h"

// One event a row.
int trace_csv(struct vram *v);

// Trace Event JSON, for ui.perfetto.dev and chrome://tracing: phases, memory by category, the
// larger tensors. One event is one microsecond: the order is real, the durations are not.
int trace_perfetto(struct vram *v);

#endif
