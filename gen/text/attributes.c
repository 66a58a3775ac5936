// Reads attributes in braces, "{#id .class key=value}", with or without kramdown's colon.
#include "gen/text/attributes.h"

static bool is_word(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

static size_t skip_blanks(str s, size_t i)
{
    while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == '\t'))
        i++;
    return i;
}

static bool is_id_byte(char c)
{
    return is_word(c) || c == '-' || c == '.' || c == ':' || c == '+' || c == '\\' || c & 0x80;
}

// One of #id, .class, key=value, key="some words", a bare word behind a colon. Its end; 0 for
// anything else.
static size_t attribute_end(str s, size_t i, bool colon)
{
    size_t from = i;
    char quote = 0;
    if (s.ptr[i] == '#' || s.ptr[i] == '.') {
        for (i++; i < s.len && is_id_byte(s.ptr[i]); i++) {
        }
        return i > from + 1 ? i : 0;
    }
    while (i < s.len && (is_word(s.ptr[i]) || s.ptr[i] == '-'))
        i++;
    if (i == from)
        return 0;
    if (i >= s.len || s.ptr[i] != '=')
        return colon ? i : 0;
    for (i++; i < s.len; i++) {
        char c = s.ptr[i];
        if (quote && c == quote)
            return i + 1;
        if (!quote && (c == '"' || c == '\''))
            quote = c;
        else if (!quote && (c == ' ' || c == '}'))
            break;
    }
    return quote ? 0 : i;
}

static str unquoted(str s)
{
    bool quoted = s.len > 1 && (s.ptr[0] == '"' || s.ptr[0] == '\'');
    return quoted ? str_slice(s, 1, s.len - 1) : s;
}

size_t md_attributes(str s, str *id, str *classes)
{
    size_t i = 1, count = 0;
    *id = *classes = STR_NONE;
    if (!s.len || s.ptr[0] != '{')
        return 0;
    bool colon = i < s.len && s.ptr[i] == ':';
    for (i = skip_blanks(s, i + colon); i < s.len && s.ptr[i] != '}';
         i = skip_blanks(s, i), count++) {
        size_t end = attribute_end(s, i, colon);
        if (!end)
            return 0;
        if (s.ptr[i] == '#')
            *id = str_slice(s, i + 1, end);
        if (str_starts(str_slice(s, i, end), STR("id=")))
            *id = unquoted(str_slice(s, i + 3, end));
        if (s.ptr[i] == '.' && !classes->len)
            *classes = str_slice(s, i + 1, end);
        i = end;
    }
    return i < s.len && (count || colon) ? i + 1 : 0;
}

static size_t trimmed(str s, size_t end)
{
    while (end && (s.ptr[end - 1] == ' ' || s.ptr[end - 1] == '\t'))
        end--;
    return end;
}

size_t md_attributes_at_end(str s, str *id, str *classes)
{
    size_t open = str_rfind(s, '{'), end = s.len;
    while (end && (s.ptr[end - 1] == ' ' || s.ptr[end - 1] == '\n'))
        end--;
    // "%{#id}%" is what Vue's documentations set for the braces, which their templates take.
    bool marked = open && open < end && s.ptr[open - 1] == '%' && s.ptr[end - 1] == '%';
    if (marked && md_attributes(str_slice(s, open, end - 1), id, classes) == end - 1 - open)
        return trimmed(s, open - 1);
    if (open >= end || md_attributes(str_slice(s, open, end), id, classes) != end - open)
        return s.len;
    return trimmed(s, open);
}
