// Objects of classes of settings: those that a parser of the command line fills (HfArgumentParser,
// TrlParser, tyro), and those that a script makes with arguments.

#ifndef CALC_PYTHON_FILLED_H
#define CALC_PYTHON_FILLED_H

#include "calc/parse/python_table.h"

enum { PYTHON_FILLED = 8 };  // objects of a parser

// Binds what a line `a, b = parser.parse_args_into_dataclasses()` does; false: it is none.
bool python_bind_filled(struct python_names *n, struct span line);

// object.name: the class's default where a parser fills the object, or what it was made with.
bool python_field(const struct python_names *n, struct span object, struct span name,
                  struct py_value *out);

#endif
