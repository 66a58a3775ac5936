// Layers as their forward functions issue operations. Each takes its arguments as Python does: the
// caller's variables stay the caller's, the result is a new variable.

#ifndef CALC_LAYERS_H
#define CALC_LAYERS_H

#include "calc/trace/graph.h"

// Parameters go by their numbers in layout.h.
struct value layer_embedding(struct graph *g, uint32_t ids, uint16_t weight, shape_id out_shape);
struct value layer_norm(struct graph *g, struct value x, bool global, uint16_t weight);
struct value layer_add(struct graph *g, struct value a, struct value b, uint8_t role);
struct value layer_mul(struct graph *g, struct value a, struct value b, uint8_t role, uint8_t part);
struct value layer_softmax(struct graph *g, struct value x, uint8_t role);

// whole.add_(part): the sum is where whole was. Uses whole up.
struct value layer_add_into(struct graph *g, struct value whole, struct value part);

struct value layer_gelu(struct graph *g, struct value x);
struct value layer_dropout(struct graph *g, struct value x,
                           uint8_t role);  // x again where dropout is 0

// Cuts the fused projection into three views; x stays the caller's.
// A view: x is used up, and gets a node whose gradient is copied (NODE_VIEW) or put into zeros
// (NODE_SLICE).
struct value layer_view(struct graph *g, struct value x, enum node_kind kind);
struct value layer_copy(struct graph *g, struct value x);  // contiguous()
// whole[part of it] = part: whole is where it was, and is used up.
struct value layer_put(struct graph *g, struct value whole, struct value part);
void layer_split2(struct graph *g, struct value x, shape_id shape, struct value out[2]);
void layer_split(struct graph *g, struct value x, uint8_t count, const shape_id shapes[],
                 struct value out[]);

// The mean loss over targets; `targets` is a storage of the caller. upcast: logits.float() first.
struct value layer_cross_entropy(struct graph *g, struct value logits, uint32_t targets,
                                 bool upcast);

#endif
