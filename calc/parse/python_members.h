// The members of a dictionary in a Python file, as far as its text says them.

#ifndef CALC_PYTHON_MEMBERS_H
#define CALC_PYTHON_MEMBERS_H

#include "calc/parse/python_names.h"

enum { PYTHON_MEMBERS = 192 };

// A key without its quotes, where it stands, and its value's expression.
struct python_member {
    struct span key;
    const char *key_at, *value_at, *end;
};

struct python_members {
    const struct python_names *names;
    struct python_member at[PYTHON_MEMBERS];  // each key once
    size_t count;
    const char *unread;  // the first place of which it is not known what it holds; NULL: none
    unsigned depth;
};

// Reads the dictionary that an expression comes to: {...}, dict(...), **others in them, a name that
// is bound to one above with what is done to it since, a member of one, their union. Returns the
// end of the expression.
const char *python_members(struct python_members *m, const char *at, const char *end);

#endif
