// The common case of front matter read without libyaml: lines of "key: plain words". What is more than that is left to it.
#ifndef GEN_TEXT_FRONT_LINES_H
#define GEN_TEXT_FRONT_LINES_H

#include "gen/text/front.h"
#include "gen/text/yaml.h"

// False when the block holds anything but such lines; then nothing is known about it. True gives the same tree that
// yaml_parse gives (a fuzz target compares them).
bool front_lines(str text, size_t from, size_t to, arena *a, struct yaml_node **out);
// front_parse, with a choice: by_lines false always asks libyaml.
bool front_parse_tree(str text, str file, arena *a, struct diag *d, struct front *out, bool by_lines);
// "2026-05-31", with or without a time and a zone, as Unix seconds.
bool front_date(str s, int64_t *out);

#endif
