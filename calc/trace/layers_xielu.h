// xIELU, the activation of Apertus.

#ifndef CALC_LAYERS_XIELU_H
#define CALC_LAYERS_XIELU_H

#include "calc/trace/graph.h"

struct value layer_xielu(struct graph *g, struct value x);

node_fn node_softplus, node_where, node_minimum, node_expm1;

#endif
