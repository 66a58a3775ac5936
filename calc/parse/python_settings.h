// The file of settings that a Python script reads by its name.

#ifndef CALC_PYTHON_SETTINGS_H
#define CALC_PYTHON_SETTINGS_H

#include "calc/base/span.h"

// The name in parser.parse_yaml_file("train.yaml") and its like, as it stands in the text; empty:
// none is there, or no literal.
struct span python_settings(struct span text);

#endif
