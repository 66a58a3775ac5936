// Backward functions of autograd nodes, by kind: for the table in nodes.c.

#ifndef CALC_NODES_H
#define CALC_NODES_H

#include "calc/step/graph.h"

// results[k]: a storage with a reference for edge k, or TAPE_NONE.
typedef void node_fn(struct graph *g, const struct node *n, uint32_t results[]);

// nodes_llama.c
node_fn node_pow, node_mean, node_rsqrt, node_repeat, node_cat, node_tanh, node_scatter,
    node_index_add;
node_fn node_quantized;

// loss_chunked.c
node_fn node_fused_loss, node_cut_loss;

#endif
