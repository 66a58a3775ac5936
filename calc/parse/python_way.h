// The way from an expression in a Python file to its place in a file of settings.

#ifndef CALC_PYTHON_WAY_H
#define CALC_PYTHON_WAY_H

#include "calc/parse/pairs.h"
#include "calc/parse/python_names.h"

// The way so far: a path in the files, and the default of the last .get(key, default).
struct way {
    const struct python_names *n;
    char path[PAIRS_PATH];
    size_t len;
    unsigned depth;
    const char *fallback;
    bool gets;
    size_t soft;  // length of the path that a section with a default, .get("lora", {}), is below
};

// From an expression into a file. Returns the expression's end, NULL: it does not lead there.
const char *way_walk(struct way *w, const char *at, const char *end);

// A call that loads a file, at a place where a word begins; NULL: there is none. *len: of the word.
const char *python_load_at(const char *begin, const char *at, const char *end, size_t *len);

// The name at a place: x, or self.x.
struct span way_name(const char *at, const char *end);

// Over blanks in a line, over white space, to a line's end, to the next line.
const char *way_spaces(const char *at, const char *end);
const char *way_blank(const char *at, const char *end);
const char *way_line_end(const char *at, const char *end);
const char *way_next_line(const char *at, const char *end);

#endif
