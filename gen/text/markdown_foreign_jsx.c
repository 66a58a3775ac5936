// Attributes of JSX as attributes of HTML, in place: what an expression says without being run
// stays, the rest becomes blanks.
#include <string.h>

#include "gen/text/markdown_foreign.h"

static bool is_name(char c)
{
    return ascii_is_alnum(c) || strchr("-_:@.", c);
}

static void blank(char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (text[i] != '\n' && text[i] != '\r')
            text[i] = ' ';
}

// Behind the brace that closes the one at from; to when there is none.
static size_t brace_end(const char *text, size_t from, size_t to)
{
    char quote = 0;
    int depth = 0;
    for (size_t i = from; i < to; i++) {
        char c = text[i];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (strchr("\"'`", c))
            quote = c;
        else if (c == '{')
            depth++;
        else if (c == '}' && !--depth)
            return i + 1;
    }
    return to;
}

size_t md_jsx_braces_end(str s, size_t at, size_t longest)
{
    size_t to = s.len - at > longest ? at + longest : s.len, end = brace_end(s.ptr, at, to);
    return s.ptr[end - 1] == '}' && end - at > 1 ? end : 0;
}

// The one string of an expression: 'x', useBaseUrl('x'), require('x').default; empty for anything
// else.
static str only_string(str s)
{
    static const char *const calls[] = {"useBaseUrl(", "require("};
    str rest = str_trim(s);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (str_starts(rest, str_c(calls[i])))
            rest = str_trim(str_slice(rest, strlen(calls[i]), rest.len));
    if (rest.len < 2 || !strchr("\"'", rest.ptr[0]))
        return STR_NONE;
    size_t end = str_find(str_slice(rest, 1, rest.len), rest.ptr[0]) + 2;
    str behind = str_trim(str_slice(rest, end, rest.len));
    bool ends = !behind.len || (behind.ptr[0] == ')' && rest.ptr != str_trim(s).ptr);
    return end <= rest.len && ends ? str_slice(rest, 0, end) : STR_NONE;
}

static bool is_number(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!ascii_is_digit(s.ptr[i]))
            return false;
    return s.len > 0;
}

// An attribute from name on whose value is the expression [open, end).
static void put_value(char *text, size_t name, size_t open, size_t end)
{
    str inside = str_slice((str){text, end}, open + 1, end - 1), words = only_string(inside);
    if (is_number(inside)) {
        text[open] = text[end - 1] = '"';
    } else if (words.len) {
        size_t from = (size_t)(words.ptr - text);
        blank(text, open, from);
        blank(text, from + words.len, end);
    } else {
        blank(text, name, end);
    }
}

// A line that has become empty would end the tag's paragraph: it gets an attribute that no element
// has.
static void fill_lines(char *text, size_t from, size_t to)
{
    for (size_t i = from, end; i < to; i = end + 1) {
        const char *line_end = memchr(text + i, '\n', to - i);
        end = line_end ? (size_t)(line_end - text) : to;
        bool empty = i > from && end > i && !str_trim((str){text + i, end - i}).len;
        if (empty)
            text[end - 1 - (text[end - 1] == '\r' && end - 1 > i)] = 'x';
    }
}

void md_jsx_attributes(char *text, size_t from, size_t to)
{
    size_t start = from;
    for (size_t i = from; i < to;) {
        size_t name = i, end;
        while (i < to && is_name(text[i]))
            i++;
        if (i > name && i + 1 < to && text[i] == '=' && text[i + 1] == '{') {
            end = brace_end(text, i + 1, to);
            put_value(text, name, i + 1, end);
        } else if (text[i] == '{') {
            blank(text, i, end = brace_end(text, i, to));
        } else if (text[i] == '"' || text[i] == '\'') {
            const char *close = memchr(text + i + 1, text[i], to - i - 1);
            end = close ? (size_t)(close - text) + 1 : to;
        } else {
            end = i + (i == name);
        }
        i = end;
    }
    fill_lines(text, start, to);
}

// The string that stands behind the sign of a declaration, in one line and without anything to be
// worked out; NULL for any other value.
static str *string_of(str s, arena *a)
{
    s = str_starts(s, STR("=")) ? str_trim(str_slice(s, 1, s.len)) : STR_NONE;
    if (!s.len || !strchr("\"'`", s.ptr[0]))
        return NULL;
    str words = str_slice(s, 1, s.len);
    size_t end = str_find(words, s.ptr[0]);
    bool closed = end < words.len;
    words.len = end;
    if (!closed || str_find(words, '\\') < end || str_find(words, '\n') < end ||
        str_search(words, STR("${")) < end)
        return NULL;
    str *kept = arena_new(a, str, 1);
    *kept = words;
    return kept;
}

static void read_exports(struct md_exports *x, str body, arena *a)
{
    static const str declaration = STR("export const ");
    x->read = true;
    for (size_t at = 0; at < body.len; at++) {
        at += str_search(str_slice(body, at, body.len), declaration);
        if (at >= body.len || (at && body.ptr[at - 1] != '\n'))
            continue;
        str rest = str_slice(body, at + declaration.len, at + declaration.len + MD_MAX_TAG);
        size_t n = 0;
        while (n < rest.len && !strchr("= \t\r\n", rest.ptr[n]))
            n++;
        bool is_new;
        str behind = str_trim(str_slice(rest, n, rest.len));
        if (!str_starts(behind, STR("=")))
            continue;
        void **place = map_put(&x->words, a, str_slice(rest, 0, n), &is_new);
        if (is_new)
            *place = string_of(behind, a);
    }
}

bool md_exported_text(struct md_exports *x, str body, str name, str *words, arena *a)
{
    if (!x->read)
        read_exports(x, body, a);
    const str *known = map_get(&x->words, name);
    *words = known ? *known : STR_NONE;
    return known;
}

static bool is_word(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

size_t md_jsx_end(str s, size_t from, size_t longest)
{
    char quote = 0;
    int depth = 0;
    for (size_t i = from + 1; i < s.len && i - from < longest; i++) {
        char c = s.ptr[i];
        if (quote && c == '\\' && depth)
            i++;  // of a string in an expression
        else if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || (c == '\'' && depth) || (c == '`' && depth) ||
                 (c == '\'' && s.ptr[i - 1] == '='))
            quote = c;
        else if (c == '{')
            depth++;
        else if (c == '}')
            depth--;
        else if (c == '`' || (c == '<' && !depth))
            return 0;
        else if (c == '>' && depth <= 0 && s.ptr[i - 1] != '=')
            return i + 1;
        if (depth < 0)
            return 0;
    }
    return 0;
}

// Whether words in another script follow the name, where attributes would: <Rust 语言> is a title.
static bool has_words(str s, size_t name)
{
    size_t i = name;
    while (i < s.len && (is_word(s.ptr[i]) || strchr(".-", s.ptr[i])))
        i++;
    while (i < s.len && s.ptr[i] == ' ')
        i++;
    return i < s.len && s.ptr[i] & 0x80;
}

size_t md_jsx_tag_end(str s, size_t at, size_t longest)
{
    size_t name = at + 1 + (at + 1 < s.len && s.ptr[at + 1] == '/');
    bool end = name > at + 1;  // words may stand before it
    if (name >= s.len || (!end && at && is_word(s.ptr[at - 1])))
        return 0;
    if (s.ptr[name] == '>')
        return name + 1;
    if (has_words(s, name))
        return 0;
    return ascii_is_upper(s.ptr[name]) ? md_jsx_end(s, at, longest) : 0;
}
