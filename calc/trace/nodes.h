// What each autograd node allocates when it runs backward.

#ifndef CALC_NODES_H
#define CALC_NODES_H

#include "calc/trace/graph.h"

// Runs node i: results[k] is a storage (with a reference) for edge k, TAPE_NONE where nothing
// flows.
void node_run(struct graph *g, int32_t i, uint32_t results[GRAPH_EDGES]);

#endif
