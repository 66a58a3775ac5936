// Linear layers.

#ifndef CALC_LINEAR_H
#define CALC_LINEAR_H

#include "calc/trace/graph.h"

// Parameters go by their numbers in layout.h; a bias that the model does not have is left out.
struct value layer_linear(struct graph *g, struct value x, uint16_t weight, shape_id out_shape);
struct value layer_head(struct graph *g, struct value x);  // lm_head, tied or not
#ifndef VRAM_SMALL
// project_in and project_out, of a narrow embedding.
struct value layer_project(struct graph *g, struct value x, uint16_t weight, shape_id shape);
#endif
struct value layer_transform(struct graph *g,
                             struct value x);       // the first layer of an encoder's head
uint16_t layer_head_weight(const struct graph *g);  // its parameter

#ifndef VRAM_SMALL
// The head over a part of the positions: one of the shapes of LINEAR_V.
struct value layer_head_chunk(struct graph *g, struct value x, shape_id shape);
// The head of one output that a reward model has.
struct value layer_score(struct graph *g, struct value x);
#endif

#endif
