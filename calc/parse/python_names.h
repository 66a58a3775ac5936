// The names of a Python file and what they are bound to, as far as literals say it.

#ifndef CALC_PYTHON_NAMES_H
#define CALC_PYTHON_NAMES_H

#include "calc/parse/python_table.h"

// Errors: VRAM_ENOMEM.
int python_names_begin(struct python_names *n, struct mem_arena *arena, struct span text);

// Begins again at the first line: defaults of flags are known before it.
void python_names_again(struct python_names *n);

// What a line outside of brackets binds: `name = value`, an attribute of a class, the default of a
// flag; and the name of which it changes a part.
void python_bind(struct python_names *n, const char *line);

// Whether what stands at a place is done, by the conditions around it.
enum python_truth python_condition(const struct python_names *n, const char *at);

#endif
