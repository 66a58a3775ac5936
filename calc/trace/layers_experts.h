// The feed-forward part of a mixture of experts.

#ifndef CALC_LAYERS_EXPERTS_H
#define CALC_LAYERS_EXPERTS_H

#include "calc/trace/graph.h"

struct value layer_experts(struct graph *g, struct value x);

#endif
