// Addresses in a stylesheet, found by its tokens: comments, strings, url( and @import.
// SRC: W3C, CSS Syntax Module Level 3, 4.3 (comments, strings, url tokens)
#include "gen/text/stylesheet.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t behind_spaces(str css, size_t at)
{
    while (at < css.len && is_space(css.ptr[at]))
        at++;
    return at;
}

// The string that opens at at: its inside, and the place behind it.
static size_t read_string(str css, size_t at, size_t *from, size_t *to)
{
    char quote = css.ptr[at];
    *from = ++at;
    while (at < css.len && css.ptr[at] != quote && css.ptr[at] != '\n')
        at += css.ptr[at] == '\\' && at + 1 < css.len ? 2 : 1;
    *to = at < css.len ? at : css.len;
    return at < css.len ? at + 1 : css.len;
}

static bool begins(str css, size_t at, str word)
{
    return str_eq_nocase(str_slice(css, at, at + word.len), word);
}

static bool is_quote(str css, size_t at)
{
    return at < css.len && (css.ptr[at] == '"' || css.ptr[at] == '\'');
}

// Behind "url(".
static size_t read_url(str css, size_t at, size_t *from, size_t *to)
{
    at = behind_spaces(css, at);
    if (is_quote(css, at))
        return read_string(css, at, from, to);
    *from = at;
    while (at < css.len && css.ptr[at] != ')' && !is_space(css.ptr[at]))
        at++;
    *to = at;
    return at;
}

bool stylesheet_next(str css, size_t *at, size_t *from, size_t *to)
{
    while (*at < css.len) {
        size_t i = *at;
        if (begins(css, i, STR("/*"))) {
            size_t end = str_search(str_slice(css, i + 2, css.len), STR("*/"));
            *at = i + 2 + end + 2;
        } else if (begins(css, i, STR("url("))) {
            *at = read_url(css, i + 4, from, to);
            return true;
        } else if (begins(css, i, STR("@import")) && is_quote(css, behind_spaces(css, i + 7))) {
            *at = read_string(css, behind_spaces(css, i + 7), from, to);
            return true;
        } else if (is_quote(css, i)) {
            *at = read_string(css, i, from, to);
        } else {
            *at = i + 1;
        }
    }
    return false;
}
