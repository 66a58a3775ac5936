// Which layers get adapters where a file says it by a pattern, by what is left out, or not at all.

#ifndef CALC_TARGETS_H
#define CALC_TARGETS_H

#include "calc/parse/parse.h"

int conclude_targets(struct parse *p);

// Of the files targets*.c: members of lora_targets, said at the pair's place; what is said of
// experts.
int targets_set(struct parse *p, const struct vram_pair *pair, uint64_t members);
#ifndef VRAM_SMALL
int conclude_experts(struct parse *p);
#endif

#endif
