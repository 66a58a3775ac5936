// The actions of servers' keys; their rows are in actions.c.

#ifndef CALC_ACTIONS_SERVING_H
#define CALC_ACTIONS_SERVING_H

#include "calc/parse/delegate.h"

// A count of tokens into the field that map names.
int action_tokens(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

// A file or repository of llama.cpp's.
int action_gguf(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

// The type of the values' cache; map has the keys that say that of the keys'.
int action_same_cache(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

// Layers that are on the card.
int action_on_gpu(struct parse *p, const char *map, const struct entry *e, struct delegate *as);

#endif
