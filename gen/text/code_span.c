// Finds where a code span ends: at a run of as many backticks as open it.
#include "gen/text/code_span.h"

static size_t run_length(str s, size_t at)
{
    size_t n = at;
    while (n < s.len && s.ptr[n] == '`')
        n++;
    return n - at;
}

// Whether the line that begins at s[at] is empty.
static bool is_empty_line(str s, size_t at)
{
    str rest = str_slice(s, at, s.len);
    return !str_trim(str_slice(rest, 0, str_find(rest, '\n'))).len;
}

struct code_span code_span_at(str s, size_t at)
{
    size_t marks = run_length(s, at), i = at + marks;
    while (i < s.len && !(s.ptr[i] == '\n' && is_empty_line(s, i + 1))) {
        size_t run = run_length(s, i);
        if (run && run == marks)
            return (struct code_span){marks, i + run, true};
        i += run ? run : 1;
    }
    return (struct code_span){marks, at + marks, false};
}
