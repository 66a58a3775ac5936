// Recognises Lua cells in code spans, in fences, and in source that has not been parsed.
#include "gen/text/cells.h"

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

static size_t run_length(str s, size_t at)
{
    size_t n = at;
    while (n < s.len && s.ptr[n] == '`')
        n++;
    return n - at;
}

// Offset behind the run of exactly length backticks that closes a span opened before from; 0 when
// there is none in the same paragraph.
static size_t span_end(str s, size_t from, size_t length)
{
    for (size_t i = from; i < s.len;) {
        if (s.ptr[i] == '`') {
            size_t n = run_length(s, i);
            if (n == length)
                return i + n;
            i += n;
        } else if (s.ptr[i] == '\n' && i + 1 < s.len && s.ptr[i + 1] == '\n') {
            return 0;
        } else {
            i++;
        }
    }
    return 0;
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
        size_t length = run_length(s, i);
        if (!length)
            break;
        size_t inside = i + length;
        size_t close = i && s.ptr[i - 1] == '\\' ? 0 : span_end(s, inside, length);
        if (!close) {
            i = inside;
            continue;
        }
        if (cell_inline(span_text(s, inside, close - length), code)) {
            *end = close;
            return i;
        }
        i = close;
    }
    return s.len;
}
