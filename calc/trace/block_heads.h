// Queries, keys and values of a layer as attention takes them.

#ifndef CALC_BLOCK_HEADS_H
#define CALC_BLOCK_HEADS_H

#include "calc/trace/graph.h"

struct heads {
    struct value q, k, v;
#ifndef VRAM_SMALL
    struct value gate;  // of attention's result, where the family has one
#endif
};

struct heads heads_make(struct graph *g, struct value x);

// The layer gets a mask. SRC: transformers layer_types of configuration_*.py.
bool heads_have_window(const struct graph *g);
// One key and value for all queries are repeated as views of themselves.
bool heads_spread_one(const struct graph *g);
// There is a key and a value for each query head, or the kernel takes grouped ones as they are.
bool heads_repeat(const struct graph *g);
// scaled_dot_product_attention gets contiguous copies.
bool heads_are_copied(const struct graph *g);
// A part of each head is turned.
bool heads_turn_in_part(const struct graph *g);

#endif
