// What the autograd nodes of several streams allocate when they run backward.

#ifndef CALC_NODES_STREAMS_H
#define CALC_NODES_STREAMS_H

#include "calc/trace/graph.h"

node_fn node_div_both, node_square_root, node_std, node_tail_add, node_tail_copy, node_whole_add;

#endif
