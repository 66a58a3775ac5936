// The layers that the llama families add to those of layers.h.

#ifndef CALC_LAYERS_LLAMA_H
#define CALC_LAYERS_LLAMA_H

#include "calc/trace/layers.h"

struct value layer_rows(struct graph *g, struct value x, uint32_t rows, uint8_t part,
                        shape_id shape);  // x[rows]

// The sum of the rows of one token; kind: the node of sums in the format of x.
struct value layer_rows_sum(struct graph *g, struct value x, enum node_kind kind, shape_id shape);

// Cosines and sines of the positions (g->cos, g->sin), variables of the model's forward function.
// stats: the shape of one number for each row that is normalized.
// One operation with one input. saves: the input, the result, or nothing.
enum saves { SAVES_NOTHING, SAVES_INPUT, SAVES_RESULT };
struct value layer_unary(struct graph *g, struct value x, enum op op, enum node_kind kind,
                         uint8_t role, uint8_t part, shape_id shape, enum saves saves);

struct value layer_rms_norm(struct graph *g, struct value x, bool global, uint16_t weight,
                            shape_id stats);

// x turned by its position; half: the shape of one half of each head.
// LayerNorm without a bias, one operation after the other.
struct value layer_centered_norm(struct graph *g, struct value x, bool global, uint16_t weight,
                                 shape_id stats);
struct value layer_activation(struct graph *g, struct value x, bool gelu);
// RMSNorm by w, which is used up, or by nothing where w is none (Gemma 4).
struct value layer_powered_norm(struct graph *g, struct value x, struct value w, shape_id stats);
struct value layer_l2_norm(struct graph *g, struct value x, shape_id stats);
struct value layer_squared_relu(struct graph *g, struct value x);
struct value layer_clipped(struct graph *g, struct value x);
struct value layer_gelu_new(struct graph *g, struct value x);  // transformers' GPT-2
struct value layer_repeat(struct graph *g, struct value x, shape_id shape);
struct value layer_soft_cap(struct graph *g, struct value x);
struct value layer_divide(struct graph *g, struct value x);               // by a Python number
struct value layer_scale(struct graph *g, struct value x, uint8_t role);  // by a Python number

#endif
