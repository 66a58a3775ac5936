// Parts for images beside a language model, as a config.json describes them.

#ifndef CALC_TOWERS_H
#define CALC_TOWERS_H

#include "calc/parse/parse.h"

// Weights of the part that vision_config describes; 0 where its kind is not known or a width is
// missing. The keys of the language model have been read.
uint64_t tower_weights(struct parse *p);

#endif
