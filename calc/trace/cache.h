// The keys and values of past tokens, as transformers' DynamicCache keeps them.

#ifndef CALC_CACHE_H
#define CALC_CACHE_H

#include "calc/trace/graph.h"

// Number format in the cache of values that are computed in `dtype`.
uint8_t cache_dtype(const struct graph *g, uint8_t dtype);

// Where a block hands over its keys and values; does nothing outside of a generation and of
// training with use_cache, where the versions that copy put the copies in their place.
void cache_keep(struct graph *g, struct value *k, struct value *v);

// A training pass's model returns the cache; whether it does so as copies.
void cache_open(struct graph *g);

#ifndef VRAM_SMALL
// The same for a reference: one in eval mode is not checkpointed.
void cache_open_reference(struct graph *g);
#endif
bool cache_copies(const struct graph *g);

// cat((old, new), dim=-2) in the current layer; first: what it finds is the prompt's.
void cache_grow(struct graph *g, bool values, bool first);
// Where a step makes the whole cache once more: the old one goes, layer by layer, after it.
void cache_forget(struct graph *g, bool values, bool first);

// The step after the prompt, as long as the prompt itself: a second cache, and its end.
void cache_double(struct graph *g, bool values);
void cache_halve(struct graph *g, bool values);

#endif
