// The gated delta rule, and operations that what is around it has, too.

#ifndef CALC_LAYERS_DELTA_H
#define CALC_LAYERS_DELTA_H

#include "calc/trace/graph.h"
#include "calc/trace/layers_llama.h"

// How many chunks the rule goes through; 0: the model has none.
uint64_t delta_chunk_count(const struct model *m);

// Of queries, keys and values by token.
struct value delta_rule(struct graph *g, const struct value part[3], struct value beta,
                        struct value decay);

struct value delta_unary(struct graph *g, struct value x, enum op op, enum node_kind kind,
                         shape_id shape, enum saves saves);
struct value delta_mul(struct graph *g, struct value a, struct value b);

// One name for x as it is after fn(x). Uses x up.
struct value delta_then(struct graph *g, struct value x, enum op op, enum node_kind kind,
                        shape_id shape, enum saves saves);

// A view of x with another number of elements.
struct value delta_view(struct graph *g, struct value x, enum node_kind kind, shape_id shape);

// In float32 nothing is cast, and what is by token stays so: products make copies by head.
struct value delta_by_head(struct graph *g, struct value x);

node_fn node_exp, node_cumsum, node_solve, node_expand, node_turned, node_delta_bmm, node_conv;

#endif
