// Data parallel schemes: what each GPU keeps whole, what in parts, and when weights are gathered.

#ifndef CALC_PARALLEL_H
#define CALC_PARALLEL_H

#include "calc/step/graph.h"
#include "calc/step/nodes.h"

bool parallel_many(const struct vram_config *c);
bool parallel_in_buckets(const struct vram_config *c);     // gradients are views of DDP's buckets
bool parallel_divides_state(const struct vram_config *c);  // ZeRO-1 and above
bool parallel_divides_gradients(const struct vram_config *c);  // ZeRO-2 and above
bool parallel_divides_weights(const struct vram_config *c);    // ZeRO-3, FSDP

// Around a pass: the weights outside of layers are gathered as long as it lasts.
void parallel_open(struct graph *g);
void parallel_close(struct graph *g);

// Around a layer. Both give a new variable for the same tensor.
struct value parallel_enter(struct graph *g, struct value x);
struct value parallel_leave(struct graph *g, struct value x);
node_fn node_gather, node_reshard;

#endif
