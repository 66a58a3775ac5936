// What a script takes out of a file of settings: config["training"]["lr"], cfg.lora.r,
// cfg.get("epochs", 3) of a name that yaml.safe_load, json.load, OmegaConf.load and their kin are
// bound to, through functions, their parameters and sections that have a name of their own.

#ifndef CALC_PYTHON_FILES_H
#define CALC_PYTHON_FILES_H

#include "calc/parse/pairs.h"
#include "calc/parse/python_names.h"

// Lets the names reach into the files that the handle has, if the text loads any: n->setting finds
// values there, and sets *n->asked for one that is in no file. Errors: VRAM_ENOMEM.
int python_files_begin(struct python_names *n, const struct vram *v);

// The section of a file that an expression stands for, in the arena, and the expression's end;
// NULL: it stands for none.
const char *python_section(const struct python_names *n, const char *at, const char *end,
                           struct span *path);

#endif
