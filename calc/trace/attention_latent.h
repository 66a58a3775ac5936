// Multi-head latent attention.

#ifndef CALC_ATTENTION_LATENT_H
#define CALC_ATTENTION_LATENT_H

#include "calc/trace/graph.h"

// From the normed hidden states, which stay the caller's, to the output projection's result.
struct value layer_attention_latent(struct graph *g, struct value x);

node_fn node_copy_slice, node_sdpa_latent;

#endif
