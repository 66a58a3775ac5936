// Values of Python expressions, as far as configuration files write them: numbers, strings,
// arithmetic, names of fields set before. What is beyond that (a call, a list) is "unknown", and
// only an error where a field needs it.

#ifndef CALC_PYEXPR_H
#define CALC_PYEXPR_H

#include "calc/parse/parse.h"
#include "calc/parse/python_value.h"

// What names stand for, and names with what is behind them (args.x, CONFIG["a"]): sets *out and
// returns true, or false for what stands for nothing known.
struct py_names {
    bool (*find)(const void *ctx, struct span name, struct py_value *out);
    const void *ctx;
    struct mem_arena *arena;  // of strings that are put together; NULL: those are unknown
};

struct py_error {
    const char *at;  // NULL: none
    message_id id;
    bool open;  // something is never closed: the text ends inside of it
};

// Evaluates the expression that begins at `at` and ends at a line's end outside of brackets, at
// `;`, at `#` or at `end`. inside: of a call's brackets, where a line's end is a blank. Returns the
// first byte that was not read.
const char *py_eval(const struct py_names *names, bool inside, const char *at, const char *end,
                    struct py_value *out, struct py_error *error);

// What vram_set gets for a value that was read from `source`; an empty span where it cannot be
// said.
enum { PY_NUMBER = 32 };
struct span py_text(char buf[PY_NUMBER], const struct py_value *v, struct span source);

// Names of fields stand for their values, as config files of nanoGPT use them. ctx is a struct
// vram_config.
bool py_field(const void *config, struct span name, struct py_value *out);

#endif
