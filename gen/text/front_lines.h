// The common case of front matter read without libyaml: lines of "key: plain words". What is more
// than that is left to it.
#ifndef GEN_TEXT_FRONT_LINES_H
#define GEN_TEXT_FRONT_LINES_H

#include "gen/text/yaml.h"

// False when the block holds anything but such lines; then nothing is known about it. True gives
// the same tree that yaml_parse gives (a fuzz target compares them).
bool front_lines(str text, size_t from, size_t to, arena *a, struct yaml_node **out);
#endif
