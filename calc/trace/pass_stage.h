// The pass of one stage of a pipeline.

#ifndef CALC_PASS_STAGE_H
#define CALC_PASS_STAGE_H

#include "calc/trace/graph.h"

void pass_stage(struct graph *g, graph_saved_fn *saved, void *ctx);

#endif
