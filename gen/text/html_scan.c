// Reads HTML tag by tag in one pass over the bytes, without a tree; script and style are one text
// up to their end tag.
#include "gen/text/html_scan.h"

#include <string.h>

#include "gen/text/html_names.h"

enum { MAX_ATTRIBUTES = 64 };

struct html_scan {
    str html;
    size_t at;
    bool (*visit)(void *ctx, const struct html_token *t);
    void *ctx;
    struct html_attribute attributes[MAX_ATTRIBUTES];
};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

static size_t skip_space(str s, size_t i)
{
    while (i < s.len && is_space(s.ptr[i]))
        i++;
    return i;
}

static size_t name_end(str s, size_t i)
{
    while (i < s.len && !is_space(s.ptr[i]) && s.ptr[i] != '>' && s.ptr[i] != '/' &&
           s.ptr[i] != '=')
        i++;
    return i;
}

// A value behind =, and the offset behind it.
static size_t read_value(str s, size_t i, str *value)
{
    i = skip_space(s, i);
    char quote = i < s.len ? s.ptr[i] : 0;
    size_t start = i;
    if (quote == '"' || quote == '\'') {
        const char *end = memchr(s.ptr + i + 1, quote, s.len - i - 1);
        size_t stop = end ? (size_t)(end - s.ptr) : s.len;
        *value = str_slice(s, start + 1, stop);
        return stop < s.len ? stop + 1 : stop;
    }
    while (i < s.len && !is_space(s.ptr[i]) && s.ptr[i] != '>')
        i++;
    *value = str_slice(s, start, i);
    return i;
}

// Attributes from i up to the tag's >. Those above the limit are read over.
static size_t read_attributes(struct html_scan *scan, size_t i, struct html_token *t)
{
    str s = scan->html;
    t->attributes = scan->attributes;
    for (i = skip_space(s, i); i < s.len && s.ptr[i] != '>'; i = skip_space(s, i)) {
        if (s.ptr[i] == '/' || s.ptr[i] == '=') {
            t->self_closing = s.ptr[i] == '/' && i + 1 < s.len && s.ptr[i + 1] == '>';
            i++;
            continue;
        }
        struct html_attribute a = {.offset = i};
        size_t end = name_end(s, i), value = skip_space(s, end);
        a.name = str_slice(s, i, end);
        i = end;
        if (value < s.len && s.ptr[value] == '=')
            i = read_value(s, value + 1, &a.value);
        if (t->attribute_count < MAX_ATTRIBUTES)
            scan->attributes[t->attribute_count++] = a;
    }
    return i < s.len ? i + 1 : i;
}

static bool give_text(struct html_scan *scan, size_t from, size_t to)
{
    struct html_token t = {
        .event = HTML_TEXT, .text = str_slice(scan->html, from, to), .offset = from};
    return from == to || scan->visit(scan->ctx, &t);
}

static bool give_inside(struct html_scan *scan, enum html_event event, size_t from, size_t to)
{
    struct html_token t = {
        .event = event, .text = str_slice(scan->html, from, to), .offset = scan->at};
    return scan->visit(scan->ctx, &t);
}

static bool read_comment(struct html_scan *scan)
{
    size_t from = scan->at + 4;
    str rest = str_slice(scan->html, from, scan->html.len);
    size_t n = str_search(rest, STR("-->"));
    bool go_on = give_inside(scan, HTML_COMMENT, from, from + n);
    scan->at = n < rest.len ? from + n + 3 : scan->html.len;
    return go_on;
}

static bool read_declaration(struct html_scan *scan)
{
    size_t from = scan->at + 2;
    str rest = str_slice(scan->html, from, scan->html.len);
    size_t n = str_find(rest, '>');
    bool go_on = give_inside(scan, HTML_DOCTYPE, from, from + n);
    scan->at = n < rest.len ? from + n + 1 : scan->html.len;
    return go_on;
}

// Offset of the "</name" that ends a script's or style's text.
static size_t raw_text_end(str s, size_t from, str name)
{
    for (size_t i = from; i < s.len; i++) {
        const char *p = memchr(s.ptr + i, '<', s.len - i);
        if (!p)
            break;
        i = (size_t)(p - s.ptr);
        if (i + 2 + name.len <= s.len && s.ptr[i + 1] == '/' &&
            str_eq_nocase(str_slice(s, i + 2, i + 2 + name.len), name))
            return i;
    }
    return s.len;
}

static bool read_tag(struct html_scan *scan, bool closing)
{
    str s = scan->html;
    struct html_token t = {.event = closing ? HTML_CLOSE : HTML_OPEN, .offset = scan->at};
    size_t start = scan->at + 1 + closing, end = name_end(s, start);
    t.name = str_slice(s, start, end);
    scan->at = read_attributes(scan, end, &t);
    if (!scan->visit(scan->ctx, &t))
        return false;
    if (closing || t.self_closing || !(html_flags(t.name) & HTML_RAW))
        return true;
    size_t stop = raw_text_end(s, scan->at, t.name), from = scan->at;
    scan->at = stop;
    return give_text(scan, from, stop);
}

// What a < begins; a < that begins nothing is text.
static bool read_markup(struct html_scan *scan, bool *is_text)
{
    str rest = str_slice(scan->html, scan->at, scan->html.len);
    char next = rest.len > 1 ? rest.ptr[1] : 0;
    *is_text = false;
    if (ascii_is_letter(next))
        return read_tag(scan, false);
    if (next == '/' && rest.len > 2 && ascii_is_letter(rest.ptr[2]))
        return read_tag(scan, true);
    if (str_starts(rest, STR("<!--")))
        return read_comment(scan);
    if (next == '!' || next == '?')
        return read_declaration(scan);
    *is_text = true;
    return true;
}

void html_scan(str html, bool (*visit)(void *ctx, const struct html_token *t), void *ctx)
{
    struct html_scan scan;
    scan.html = html;
    scan.at = 0;
    scan.visit = visit;
    scan.ctx = ctx;
    size_t text = 0;  // where the text that has not been given begins
    while (scan.at < html.len) {
        const char *p = memchr(html.ptr + scan.at, '<', html.len - scan.at);
        size_t open = p ? (size_t)(p - html.ptr) : html.len;
        size_t next = open + 1 < html.len ? (uint8_t)html.ptr[open + 1] : 0;
        scan.at = open;
        if (open == html.len)
            break;
        if (!ascii_is_letter((char)next) && next != '/' && next != '!' && next != '?') {
            scan.at++;
            continue;
        }
        bool is_text;
        if (!give_text(&scan, text, open))
            return;
        text = open;
        if (!read_markup(&scan, &is_text))
            return;
        if (is_text)
            scan.at++;
        else
            text = scan.at;
    }
    give_text(&scan, text, html.len);
}
