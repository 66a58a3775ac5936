// The files of settings that a Python script reads.

#ifndef CALC_PYTHON_SETTINGS_H
#define CALC_PYTHON_SETTINGS_H

#include "calc/base/span.h"
#include "calc/parse/pairs.h"
#include "calc/parse/python_names.h"

// The name in parser.parse_yaml_file("train.yaml") and its like, as it stands in the text; empty:
// none is there, or no literal.
struct span python_settings(struct span text);

// Says which files the script takes values from that were not given.
void python_settings_ask(struct parse *p, struct pair_list *out, const struct python_names *n);

#endif
