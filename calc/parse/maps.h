// Maps of formats.def, "from=to from=to".

#ifndef CALC_MAPS_H
#define CALC_MAPS_H

#include "calc/parse/parse.h"

// What a value of a file stands for; the value itself where the map is empty. false: it has no such
// word.
bool map_value(const char *map, struct span value, struct span *to);

// The file's words, as "a, b".
void map_words(struct text_line *out, const char *map);

#endif
