// Addresses in a stylesheet, and what of it is sent, by its tokens: comments, strings, url( and
// @import, escapes, white space.
// SRC: W3C, CSS Syntax Module Level 3, 4.3 (comments, strings, url tokens, escapes, white space)
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

// Behind a backslash and what it escapes; one blank ends a number.
static size_t behind_escape(str css, size_t at)
{
    size_t from = ++at;
    while (at < css.len && at < from + 6 && ascii_hex(css.ptr[at]) >= 0)
        at++;
    if (at == from)
        return at + 1;
    at += begins(css, at, STR("\r\n"));
    return at < css.len && is_space(css.ptr[at]) ? at + 1 : at;
}

// Behind the comment, address, string, escape, blanks or other byte at at.
static size_t behind_token(str css, size_t at)
{
    size_t ignored;
    if (begins(css, at, STR("/*")))
        return behind_comment(css, at);
    if (begins(css, at, STR("url(")))
        return read_url(css, at + 4, &ignored, &ignored);
    if (is_quote(css, at))
        return read_string(css, at, &ignored, &ignored);
    if (is_space(css.ptr[at]))
        return behind_spaces(css, at);
    return css.ptr[at] == '\\' ? behind_escape(css, at) : at + 1;
}

// Whether blanks between two bytes say something; '\0' is what is not a byte of its own. An empty
// value of a custom property keeps one, without which older browsers drop it.
static bool is_blank_needed(char before, char behind)
{
    if (behind == '{' || (behind == '}' && before != ':'))
        return false;
    if (before == ':')
        return behind == ';' || behind == '}';
    return !before || !strchr("{};,", before);
}

void stylesheet_shorten(str css, buf *out)
{
    bool blank = false;
    char before = '{';  // as at the beginning of a block
    for (size_t at = 0, from; (from = at) < css.len;) {
        at = behind_token(css, at);
        bool comment = begins(css, from, STR("/*"));
        if (is_space(css.ptr[from]) || (comment && is_apart(css, from, at))) {
            blank |= !comment;
            continue;
        }
        char byte = at == from + 1 ? css.ptr[from] : '\0';
        if (blank && is_blank_needed(before, byte))
            buf_char(out, ' ');
        blank = false;
        if (byte == '}' && before == ';')
            out->len--;
        buf_str(out, str_slice(css, from, at));
        before = byte;
    }
}
