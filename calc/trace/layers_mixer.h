// Phi-3.5-MoE's router.

#ifndef CALC_LAYERS_MIXER_H
#define CALC_LAYERS_MIXER_H

#include "calc/trace/graph.h"

// x with noise, where that is added: one more variable for the same tensor.
struct value mixer_input(struct graph *g, struct value x);

// The shares of two experts out of the router's scores; *chosen gets their numbers.
struct value mixer_route(struct graph *g, struct value scores, uint32_t *chosen);

node_fn node_noise, node_noise_view, node_mixer;

#endif
