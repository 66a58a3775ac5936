// What is known of a Python file's names, as its lines are read.

#ifndef CALC_PYTHON_TABLE_H
#define CALC_PYTHON_TABLE_H

#include "calc/parse/pyexpr.h"

enum { PYTHON_NAMES = 256 };

// `path`: a name, Class.attribute, or --flag of a parser of the command line.
struct python_binding {
    struct span path;
    struct py_value value;
    const char *from;    // its expression; NULL where it may be another, too
    const char *change;  // a line that changes a part of it, or NULL
    bool filled;         // an object of the class at `from`, whose fields the command line can set
};

// Whether something is done, as far as it is known.
enum python_truth { PYTHON_ALWAYS, PYTHON_PERHAPS, PYTHON_NEVER };

// Lines that change what a file of settings has, and where it has that: python_files.c.
enum { PYTHON_CHANGES = 64 };
struct python_changes {
    struct python_change {
        struct span path;
        const char *line;
    } at[PYTHON_CHANGES];
    size_t count;
    bool made, unknown;  // unknown: there are more
};

// Names that lead into a file of settings, and where: python_way.c.
enum { PYTHON_WAYS = 128 };
struct python_ways {
    struct python_known_way {
        struct span name;
        const char *def, *bound;  // the function around it, and the line that binds it there
        struct span path;         // NULL: it is not known
        size_t soft;
    } at[PYTHON_WAYS];
    size_t count;
};

struct python_names {
    struct python_binding *bound;  // PYTHON_NAMES
    size_t count;
    const char *begin, *end;  // of the text
    struct python_function {
        const char *name;  // in its header
        size_t indent;     // of it
    } functions[4];        // whose bodies the line is in, the innermost last
    size_t functions_in;
    struct mem_arena *arena;
    bool (*find)(const void *names, struct span path, struct py_value *out);  // python_names.c
    struct span class;     // whose body the line is in; empty: none
    size_t indent;         // of that body; 0: its first line is to come
    unsigned depth;        // of members within members' expressions
    size_t *left;          // how many members may still be looked up in the file
    size_t *steps;         // how many bytes may still be looked at for parameters
    bool condition;        // what is looked up decides a branch: None counts as false
    const struct vram *v;  // with the files that were given, NULL where the script reads none
    bool *asked;           // whether a value is in a file that was not
    struct python_changes *changes;
    struct python_ways *ways;
    // What the files above this one know: python_files.c, python_choice.c.
    bool (*setting)(const struct python_names *n, struct span path, struct py_value *out);
    enum python_truth (*branch)(const struct python_names *n, const char *words);
};

// What is bound to a name, Class.attribute or --flag, the last of several; NULL: nothing.
const struct python_binding *python_binding_of(const struct python_names *n, struct span path);

// As pyexpr.h's names.
struct py_names python_names_of(const struct python_names *n);

// The expression that a name is bound to above, once; NULL: none.
const char *python_bound_to(const struct python_names *n, struct span name);

// That expression, to the end of its line; the source itself where the name is bound to none.
struct span python_source(const struct python_names *n, struct span source);

#endif
