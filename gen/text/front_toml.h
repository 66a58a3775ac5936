// Front matter in TOML, as Hugo's pages have it between +++ lines.
#ifndef GEN_TEXT_FRONT_TOML_H
#define GEN_TEXT_FRONT_TOML_H

#include "gen/text/yaml.h"

// The keys of text[from, to) above its first table whose values are strings, plain values or lists of them on one line, as the
// map that yaml_parse would give; everything else is passed over. Everything lives in a.
void front_toml(str text, size_t from, size_t to, arena *a, struct yaml_node **out);

#endif
