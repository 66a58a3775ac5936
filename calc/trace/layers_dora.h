// DoRA: low-rank adapters and a trained length for each output.

#ifndef CALC_LAYERS_DORA_H
#define CALC_LAYERS_DORA_H

#include "calc/trace/graph.h"

// What DoRA adds to base, the frozen layer's result for x.
struct value dora_path(struct graph *g, struct value x, struct value base, bool global,
                       uint16_t weight);

#endif
