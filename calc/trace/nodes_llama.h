// Backward functions of the nodes of the llama families, for the table in nodes.c.

#ifndef CALC_NODES_LLAMA_H
#define CALC_NODES_LLAMA_H

#include "calc/trace/graph.h"

node_fn node_pow, node_mean, node_rsqrt, node_repeat, node_cat, node_join, node_sub, node_tanh,
    node_scatter, node_index_add, node_index_copy, node_relu, node_neg;

// Tiles of float32 for dq of memory-efficient attention, by the width of the heads.
shape_id node_sdpa_tiles(const struct node *n);

#endif
