// Files that a script takes its values from: their pairs, kept in the handle until the script is
// read.

#ifndef CALC_SETTINGS_H
#define CALC_SETTINGS_H

#include "calc/parse/parse.h"
#include "calc/parse/python_value.h"

// A path that no file has, one that has members, one with a value.
enum settings_found { SETTINGS_NONE, SETTINGS_MAPPING, SETTINGS_VALUE };

// Keeps the pairs that were read, under the file's name. Errors: VRAM_ENOMEM.
int settings_keep(struct parse *p);

// What the files have under "training.learning_rate". Where two have different values it is none.
enum settings_found settings_find(const struct vram *v, struct span path, struct span *value);

// The pair of number *at, or the next one, whose key is below the path ("": all are): its key from
// there on. *at moves behind it.
const struct vram_pair *settings_below(const struct vram *v, struct span path, size_t *at,
                                       struct span *key);

// A value as Python has it: a number, a truth, nothing, a text.
struct py_value settings_typed(struct span text);

// Is there a file of this name, whatever folder it is in? An empty name: is there any?
bool settings_are_given(const struct vram *v, struct span name);

#endif
