// TOML as the tree that yaml_parse gives: front matter between +++ lines, and configurations.
#ifndef GEN_TEXT_FRONT_TOML_H
#define GEN_TEXT_FRONT_TOML_H

#include "gen/text/yaml.h"

// Reads text[from, to) as one TOML document. Strings count as quoted; numbers, dates, true and
// false as plain words as they are written. Everything lives in a. False after toml-syntax was
// recorded.
bool front_toml(str text, size_t from, size_t to, str file, arena *a, struct diag *d,
                struct yaml_node **out);

#endif
