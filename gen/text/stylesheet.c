// Addresses and comments in a stylesheet, found by its tokens: comments, strings, url( and @import.
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

static size_t behind_comment(str css, size_t at)
{
    return at + 2 + str_search(str_slice(css, at + 2, css.len), STR("*/")) + 2;
}

bool stylesheet_next(str css, size_t *at, size_t *from, size_t *to)
{
    while (*at < css.len) {
        size_t i = *at;
        if (begins(css, i, STR("/*"))) {
            *at = behind_comment(css, i);
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

static bool is_apart(str css, size_t from, size_t to)
{
    char before = from ? css.ptr[from - 1] : ' ', behind = to < css.len ? css.ptr[to] : ' ';
    return is_space(before) || is_space(behind) || strchr("{};", before) || strchr("{};", behind);
}

void stylesheet_shorten(str css, buf *out)
{
    for (size_t at = 0, begun, ignored; (begun = at) < css.len;) {
        bool comment = begins(css, at, STR("/*"));
        if (comment)
            at = behind_comment(css, at);
        else if (begins(css, at, STR("url(")))
            at = read_url(css, at + 4, &ignored, &ignored);
        else if (is_quote(css, at))
            at = read_string(css, at, &ignored, &ignored);
        else
            at += css.ptr[at] == '\\' ? 2 : 1;
        if (!comment || !is_apart(css, begun, at))
            buf_str(out, str_slice(css, begun, at));
    }
}
