// Finds what a component of MDX shows as a listing: a file that is imported as text, or words of
// the page; and the parts of pages that are components. Sources:
// starlight.astro.build/components/code,
// docusaurus.io/docs/markdown-features/react#importing-code-snippets and #importing-markdown.
#include "gen/site/source/include_mdx.h"

#include <string.h>

#include "gen/text/js_string.h"
#include "gen/text/markdown_foreign.h"

enum { MAX_SEARCHED = 64 << 20 };  // bytes that are looked through for the listings of a page

static bool is_name(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '$';
}

static size_t name_length(str s)
{
    size_t n = 0;
    while (n < s.len && is_name(s.ptr[n]))
        n++;
    return n;
}

// The words between the quotes or backticks at the head of s; *end is behind them. False when there
// are none, or a program would fill them in. escaped: set when a sign of them is written with a
// backslash; NULL: none may be.
static bool read_words(str s, str *words, size_t *end, bool *escaped)
{
    char quote = s.len ? s.ptr[0] : 0;
    size_t n = 1;
    if (!quote || !strchr("\"'`", quote))
        return false;
    while (n < s.len && s.ptr[n] != quote) {
        bool sign = s.ptr[n] == '\\' && escaped && n + 1 < s.len && strchr("`$\\", s.ptr[n + 1]);
        if ((s.ptr[n] == '\\' && !sign) || (quote != '`' && s.ptr[n] == '\n') ||
            (quote == '`' && str_starts(str_slice(s, n, s.len), STR("${"))))
            return false;
        if (sign)
            *escaped = true;
        n += 1 + sign;
    }
    *words = str_slice(s, 1, n), *end = n + 1;
    return n < s.len;
}

// The rest of each line of a text that begins with words; false behind the last.
static bool next_line_with(str text, size_t *at, str words, str *rest)
{
    while (*at < text.len) {
        str line = str_slice(text, *at, text.len);
        *at += str_find(line, '\n') + 1;
        if (!str_starts(line, words))
            continue;
        *rest = str_trim(str_slice(line, words.len, line.len));
        return true;
    }
    return false;
}

// What import name from "./file" names, its escapes read.
static bool imported(str text, str name, str *path, arena *a)
{
    str rest;
    size_t at = 0, end = 0;
    while (next_line_with(text, &at, STR("import "), &rest)) {
        if (!str_starts(rest, name) || name_length(rest) != name.len)
            continue;
        rest = str_trim(str_slice(rest, name.len, rest.len));
        str from = str_trim(str_slice(rest, 5, rest.len));
        if (str_starts(rest, STR("from ")) && from.len && strchr("\"'", from.ptr[0]))
            return (*path = js_string(from, &end, a)).len > 0;
    }
    return false;
}

// The file that is imported as text, without the words of its loader.
static bool imported_raw(str text, str name, str *path, arena *a)
{
    if (!imported(text, name, path, a))
        return false;
    size_t loader = str_rfind(*path, '!'), query = str_find(*path, '?');
    bool raw = str_search(*path, STR("raw-loader!")) < path->len ||
               str_eq(str_slice(*path, query, path->len), STR("?raw"));
    *path = str_slice(*path, loader < path->len ? loader + 1 : 0, query);
    return raw && path->len;
}

// The words of export const name = `words`, or behind other words than export const.
static bool declared(str text, str lead, str name, struct include_listing *out)
{
    str rest;
    size_t at = 0, end;
    while (next_line_with(text, &at, lead, &rest)) {
        if (!str_starts(rest, name) || name_length(rest) != name.len)
            continue;
        rest = str_trim(str_slice(rest, name.len, rest.len));
        return str_starts(rest, STR("=")) &&
               read_words(str_trim(str_slice(rest, 1, rest.len)), &out->words, &end, &out->escaped);
    }
    return false;
}

// The value of an attribute of a tag: from its quote or brace on.
static str value_of(str tag, str name)
{
    for (size_t at = 0; at < tag.len; at++) {
        at += str_search(str_slice(tag, at, tag.len), name);
        size_t equals = at + name.len;
        if (equals + 1 < tag.len && at && strchr(" \t\r\n", tag.ptr[at - 1]) &&
            tag.ptr[equals] == '=')
            return str_slice(tag, equals + 1, tag.len);
    }
    return STR_NONE;
}

// What {name} or {`words`} means, or "words".
static bool read_value(str text, str value, struct include_listing *out, arena *a)
{
    size_t end;
    bool braces = str_starts(value, STR("{"));
    if (braces)
        value = str_trim(str_slice(value, 1, value.len));
    if (read_words(value, &out->words, &end, NULL))
        return !braces || str_starts(str_trim(str_slice(value, end, value.len)), STR("}"));
    str name = str_slice(value, 0, name_length(value));
    bool alone =
        braces && name.len && str_starts(str_trim(str_slice(value, name.len, value.len)), STR("}"));
    return alone && (imported_raw(text, name, &out->path, a) ||
                     declared(text, STR("export const "), name, out) ||
                     declared(text, STR("const "), name, out));
}

bool include_listing(str text, size_t at, size_t *searched, struct include_listing *out, arena *a)
{
    str rest = str_slice(text, at, text.len), close = STR("</CodeBlock>"), ignored;
    bool block = str_starts(rest, STR("<CodeBlock"));
    size_t name = block ? 10 : 5, end;
    if (!str_starts(rest, STR("<Code")) || rest.len <= name || !strchr(" \t\r\n>", rest.ptr[name]))
        return false;
    size_t tag = *searched < MAX_SEARCHED ? md_jsx_end(rest, 0, MD_MAX_RAW) : 0;
    *searched += MD_MAX_RAW + text.len;
    *out = (struct include_listing){.end = at + tag};
    str head = str_slice(rest, 0, tag),
        language = value_of(head, block ? STR("language") : STR("lang"));
    if (read_words(language, &ignored, &end, NULL))
        out->language = ignored;
    if (!tag)
        return false;
    if (!block)
        return str_ends(head, STR("/>")) && read_value(text, value_of(head, STR("code")), out, a);
    size_t last = str_search(rest, close);
    out->end = at + last + close.len;
    return last < rest.len && read_value(text, str_trim(str_slice(rest, tag, last)), out, a);
}

bool include_component(str text, size_t *searched, struct include_listing *out, arena *a)
{
    size_t at = str_starts(text, STR("---\n")) ? str_search(text, STR("\n---\n")) + 5 : text.len;
    while (at < text.len && strchr(" \t\r\n", text.ptr[at]))
        at++;
    return at < text.len && include_listing(text, at, searched, out, a) &&
           !str_trim(str_slice(text, out->end, text.len)).len;
}

bool include_partial(str text, size_t at, size_t *searched, str *path, size_t *end, arena *a)
{
    str rest = str_slice(text, at, text.len);
    size_t n = rest.len && rest.ptr[0] == '<' ? name_length(str_slice(rest, 1, rest.len)) : 0;
    str name = str_slice(rest, 1, 1 + n);
    if (!n || name.ptr[0] < 'A' || name.ptr[0] > 'Z' || *searched >= MAX_SEARCHED)
        return false;
    *searched += MD_MAX_RAW + text.len;
    size_t tag = md_jsx_end(rest, 0, MD_MAX_RAW);
    if (!tag || !imported(text, name, path, a) ||
        !(str_ends(*path, STR(".mdx")) || str_ends(*path, STR(".md")) ||
          str_ends(*path, STR(".astro"))))
        return false;
    if (str_ends(str_slice(rest, 0, tag), STR("/>")))
        return *end = at + tag, true;
    str close = str_slice(rest, tag, rest.len);  // <Part></Part>
    *end = at + tag + n + 3;
    return str_starts(close, STR("</")) && str_starts(str_slice(close, 2, close.len), name) &&
           close.len > n + 2 && close.ptr[n + 2] == '>';
}
