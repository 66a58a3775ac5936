// Rotary positions.

#ifndef CALC_LAYERS_ROTARY_H
#define CALC_LAYERS_ROTARY_H

#include "calc/trace/layers.h"

// Angles of the positions: made once a forward pass, kept until it is closed.
void layer_rope_open(struct graph *g);
void layer_rope_close(struct graph *g);

void layer_rope_close_global(struct graph *g);  // those of layers with wider heads

// x * cos + rotate_half(x) * sin; half: the shape of one half of each head.
struct value rotary_turn(struct graph *g, struct value x, struct value cos, struct value sin,
                         shape_id half);

struct value layer_rotary(struct graph *g, struct value x, shape_id half);

// Turns pairs of neighbours of *q and of the one key *k; the results have the halves apart, but for
// the complex form. Uses both up.
void layer_rotary_latent(struct graph *g, struct value *q, struct value *k);
void layer_rotary_complex(struct graph *g, struct value *q, struct value *k);

// The same of all heads of queries and keys, which stay neighbours.
void layer_rotary_pairs(struct graph *g, struct value *q, struct value *k);

// Turns copies of *q and *k in float32, neighbours of each head, by cosines and sines of each. Uses
// both up.
void layer_rotary_wide(struct graph *g, struct value *q, struct value *k);

// Turns a part of each head and puts the rest behind it. Uses *q and *k up, and makes the new ones.
void layer_rotary_part(struct graph *g, struct value *q, struct value *k);

// Turns a part of each head by sines and cosines of neighbours, keys first. Uses *q and *k up,
// makes the new ones; held: the parts, which the caller drops.
void layer_rotary_apart(struct graph *g, struct value *q, struct value *k, struct value held[4]);

#endif
