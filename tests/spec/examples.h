// Examples in a readable chapter: a fence of 32 backticks with "example" holds input, a line ".",
// what is wanted, and perhaps another line "." with options. A → stands for a tab. The CommonMark
// and GFM specifications are written so.
#ifndef TESTS_SPEC_EXAMPLES_H
#define TESTS_SPEC_EXAMPLES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/arena.h"
#include "gen/base/buf.h"

#define EXAMPLE_FENCE STR("````````````````````````````````")

struct example {
    str words;    // behind "example"
    str section;  // the heading above it
    str input, wanted, options;
    str raw;  // the wanted part as it is in the chapter
    unsigned number;
};

struct examples {
    str rest, section;
    unsigned number;
    arena *a;
};

// Takes lines up to one that is stop or other; tabs are put in. False at the end of the text.
static inline bool example_part(struct examples *e, str stop, str *part, bool *ended)
{
    buf b = BUF_INIT;
    str line;
    while (str_line(&e->rest, &line)) {
        *ended = str_eq(line, EXAMPLE_FENCE);
        if (*ended || str_eq(line, stop)) {
            *part = arena_str(e->a, buf_view(&b));
            buf_free(&b);
            return true;
        }
        for (size_t n; (n = str_search(line, STR("→"))) < line.len;
             line = str_slice(line, n + 3, line.len)) {
            buf_str(&b, str_slice(line, 0, n));
            buf_char(&b, '\t');
        }
        buf_str(&b, line);
        buf_char(&b, '\n');
    }
    buf_free(&b);
    return false;
}

static inline bool example_next(struct examples *e, struct example *x)
{
    str line;
    bool ended;
    while (str_line(&e->rest, &line)) {
        if (str_starts(line, STR("#")) && str_search(line, STR(" ")) < 7)
            e->section = str_trim(str_slice(line, str_find(line, ' '), line.len));
        if (!str_starts(line, EXAMPLE_FENCE) || str_search(line, STR(" example")) == line.len)
            continue;
        size_t n = EXAMPLE_FENCE.len + sizeof " example" - 1;
        *x = (struct example){.words = str_trim(str_slice(line, n, line.len)),
                              .section = e->section};
        x->number = ++e->number;
        if (!example_part(e, STR("."), &x->input, &ended))
            return false;
        const char *start = e->rest.ptr;
        if (!example_part(e, STR("."), &x->wanted, &ended))
            return false;
        size_t last = ended ? EXAMPLE_FENCE.len + 1 : 2;
        x->raw = (str){start, (size_t)(e->rest.ptr - start) - last};
        return ended || example_part(e, EXAMPLE_FENCE, &x->options, &ended);
    }
    return false;
}

static inline void example_show(const char *name, str s)
{
    printf("# %s\n", name);
    for (str line; str_line(&s, &line);)
        printf("#   %.*s\n", STR_ARG(line));
}

// One line of the result, and what differs when it does. Whether it passed.
static inline bool example_report(const char *chapter, const struct example *x, str wanted, str got)
{
    bool ok = str_eq(wanted, got);
    printf("%s %s/%u: %.*s\n", ok ? "ok" : "not ok", chapter, x->number, STR_ARG(x->section));
    if (ok)
        return true;
    example_show("input", x->input);
    example_show("wanted", wanted);
    example_show("got", got);
    return false;
}

#endif
