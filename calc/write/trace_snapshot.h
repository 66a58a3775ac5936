// A trace as PyTorch's memory snapshot.

#ifndef CALC_TRACE_SNAPSHOT_H
#define CALC_TRACE_SNAPSHOT_H

#include "calc/model/handle.h"

// The structure that torch.cuda.memory._snapshot() returns: as a pickle, which
// pytorch.org/memory_viz opens, or as JSON for other programs. Addresses and segments are those of
// the replayed allocator. Runs the step and appends to v->text.
int trace_pickle(struct vram *v);
int trace_json(struct vram *v);

#endif
