// The lexer of programming languages and JSON, driven by the flags of a language's row; and the
// shell's.
#include <string.h>

#include "gen/text/highlight_lexer.h"

static bool starts_at(const struct hl *h, str prefix)
{
    return prefix.len && str_starts(str_slice(h->code, h->at, h->at + prefix.len), prefix);
}

static size_t behind(const struct hl *h, size_t from, str mark)
{
    str rest = str_slice(h->code, from, h->code.len);
    size_t n = str_search(rest, mark);
    return n < rest.len ? from + n + mark.len : h->code.len;
}

// Lua's [[ or [==[ at i: the offset behind its closing bracket, 0 when it is none.
static size_t long_bracket_end(const struct hl *h, size_t i)
{
    size_t level = 0, k = i + 1;
    char close[16] = "]";
    while (k < h->code.len && h->code.ptr[k] == '=' && level + 3 < sizeof close)
        k++, close[++level] = '=';
    if (i >= h->code.len || h->code.ptr[i] != '[' || k >= h->code.len || h->code.ptr[k] != '[')
        return 0;
    close[level + 1] = ']';
    return behind(h, k, (str){close, level + 2});
}

static bool read_comment(struct hl *h)
{
    if (starts_at(h, h->l->comment)) {
        size_t end = 0;
        if (h->l->flags & HL_LONG_BRACKETS)
            end = long_bracket_end(h, h->at + h->l->comment.len);
        hl_span(h, 'c', end ? end : hl_line_end(h->code, h->at));
        return true;
    }
    if (!starts_at(h, h->l->open))
        return false;
    hl_span(h, 'c', behind(h, h->at + h->l->open.len, h->l->close));
    return true;
}

static bool is_triple(str code, size_t i)
{
    return i + 2 < code.len && code.ptr[i + 1] == code.ptr[i] && code.ptr[i + 2] == code.ptr[i];
}

static size_t triple_end(str code, size_t i)
{
    char quote = code.ptr[i];
    for (size_t k = i + 3; k < code.len; k++)
        if (code.ptr[k] == '\\')
            k++;
        else if (code.ptr[k] == quote && is_triple(code, k))
            return k + 3;
    return code.len;
}

static size_t string_end(const struct hl *h, size_t i)
{
    if ((h->l->flags & HL_TRIPLE) && is_triple(h->code, i))
        return triple_end(h->code, i);
    return hl_quoted_end(h->code, i, false);
}

static bool is_key(const struct hl *h, size_t end)
{
    while (end < h->code.len && strchr(" \t\r\n", h->code.ptr[end]) && h->code.ptr[end])
        end++;
    return end < h->code.len && h->code.ptr[end] == ':';
}

static bool read_string(struct hl *h)
{
    char c = hl_peek(h, 0);
    if (c == '"' || c == '\'') {
        size_t end = string_end(h, h->at);
        hl_span(h, (h->l->flags & HL_KEYS) && is_key(h, end) ? 'f' : 's', end);
        return true;
    }
    size_t end = c == '[' && (h->l->flags & HL_LONG_BRACKETS) ? long_bracket_end(h, h->at) : 0;
    if (end)
        hl_span(h, 's', end);
    return end != 0;
}

static bool read_number(struct hl *h)
{
    bool fraction = hl_peek(h, 0) == '.' && ascii_is_digit(hl_peek(h, 1)) &&
                    !(h->at && h->code.ptr[h->at - 1] == '.');
    if (!ascii_is_digit(hl_peek(h, 0)) && !fraction)
        return false;
    hl_span(h, 'n', hl_number_end(h->code, h->at));
    return true;
}

// r"", Rb'', f"" of Python: two letters at most, all of them prefixes.
static bool is_prefix(str name)
{
    if (name.len > 2)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("rbufRBUF", name.ptr[i]))
            return false;
    return true;
}

static bool read_name(struct hl *h)
{
    if (!hl_is_name_byte(hl_peek(h, 0)))
        return false;
    size_t end = hl_name_end(h->code, h->at);
    str name = str_slice(h->code, h->at, end);
    char next = end < h->code.len ? h->code.ptr[end] : 0;
    if ((next == '"' || next == '\'') && (h->l->flags & HL_PREFIXES) && is_prefix(name)) {
        hl_span(h, 's', string_end(h, end));
        return true;
    }
    char class = hl_word(h->l, name);
    if (!class && next == '(' && (h->l->flags & HL_CALLS))
        class = 'f';
    if (class)
        hl_span(h, class, end);
    else
        h->at = end;
    return true;
}

static bool at_line_start(const struct hl *h)
{
    size_t i = h->at;
    while (i && (h->code.ptr[i - 1] == ' ' || h->code.ptr[i - 1] == '\t'))
        i--;
    return !i || h->code.ptr[i - 1] == '\n';
}

// "#include <stdio.h>": the directive, and the header's name as a string.
static void read_directive(struct hl *h)
{
    size_t i = h->at + 1;
    while (i < h->code.len && (h->code.ptr[i] == ' ' || h->code.ptr[i] == '\t'))
        i++;
    size_t end = hl_name_end(h->code, i);
    bool include = str_eq(str_slice(h->code, i, end), STR("include"));
    hl_span(h, 'k', end);
    while (hl_peek(h, 0) == ' ')
        h->at++;
    size_t line = hl_line_end(h->code, h->at);
    str rest = str_slice(h->code, h->at, line);
    size_t close = str_find(rest, '>');
    if (include && rest.len && rest.ptr[0] == '<' && close < rest.len)
        hl_span(h, 's', h->at + close + 1);
}

static bool read_special(struct hl *h)
{
    char c = hl_peek(h, 0);
    bool directive = c == '#' && (h->l->flags & HL_DIRECTIVES);
    bool decorator = c == '@' && (h->l->flags & HL_DECORATORS);
    if ((!directive && !decorator) || !at_line_start(h))
        return false;
    if (directive) {
        read_directive(h);
        return true;
    }
    size_t end = h->at + 1;
    while (end < h->code.len && (hl_is_name_byte(h->code.ptr[end]) || h->code.ptr[end] == '.'))
        end++;
    hl_span(h, 'f', end);
    return true;
}

void hl_code(const struct hl_language *l, str code, buf *out)
{
    struct hl h = {.l = l, .code = code, .out = out};
    while (h.at < code.len)
        if (!read_comment(&h) && !read_special(&h) && !read_string(&h) && !read_number(&h) &&
            !read_name(&h))
            h.at++;
    hl_flush(&h);
}
