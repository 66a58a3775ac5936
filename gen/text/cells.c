// Recognises Lua cells in code spans, in fences, and in source that has not been parsed.
#include "gen/text/cells.h"

#include "gen/text/code_span.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool cell_inline(str literal, str *code)
{
    static const str mark = STR("{lua}");
    if (!str_starts(literal, mark))
        return false;
    str rest = str_slice(literal, mark.len, literal.len);
    if (!rest.len || !is_space(*rest.ptr))
        return false;
    *code = str_trim(rest);
    return code->len > 0;
}

static str first_word(str info)
{
    size_t n = 0;
    while (n < info.len && !is_space(info.ptr[n]))
        n++;
    return str_slice(info, 0, n);
}

bool cell_fence(str info)
{
    return str_eq(first_word(info), STR("{lua}"));
}

bool cell_output(str info)
{
    return str_eq(first_word(info), STR("output"));
}

// A code span loses one space at each end when it has both.
static str span_text(str s, size_t from, size_t to)
{
    bool padded = to > from + 1 && is_space(s.ptr[from]) && is_space(s.ptr[to - 1]);
    return str_slice(s, from + padded, to - padded);
}

size_t cell_next(str s, size_t from, str *code, size_t *end)
{
    size_t i = from;
    while (i < s.len) {
        i += str_find(str_slice(s, i, s.len), '`');
        if (i == s.len)
            break;
        struct code_span span = code_span_at(s, i);
        size_t inside = i + span.marks;
        if (!span.closed || (i && s.ptr[i - 1] == '\\')) {
            i = inside;
            continue;
        }
        if (cell_inline(span_text(s, inside, span.end - span.marks), code)) {
            *end = span.end;
            return i;
        }
        i = span.end;
    }
    return s.len;
}
