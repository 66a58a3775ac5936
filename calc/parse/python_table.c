// Owns looking up what a Python file's names are bound to.

#include "calc/parse/python_table.h"

const struct python_binding *python_binding_of(const struct python_names *n, struct span path)
{
    for (size_t i = n->count; i-- > 0;)
        if (span_same(n->bound[i].path, path))
            return &n->bound[i];
    return NULL;
}

const char *python_bound_to(const struct python_names *n, struct span name)
{
    const struct python_binding *b = python_binding_of(n, name);
    return b ? b->from : NULL;
}

struct span python_source(const struct python_names *n, struct span source)
{
    const char *from = python_bound_to(n, source), *end = from;
    while (end && end < n->end && *end != '\n' && *end != '#')
        end++;
    return from ? span_trim((struct span){from, (size_t)(end - from)}) : source;
}

struct py_names python_names_of(const struct python_names *n)
{
    return (struct py_names){n->find, n, n->arena};
}
