// An SVG read tag by tag and written again: a browser that opens one by itself runs its scripts in
// the name of the site. What is not understood to the last byte is not passed on.
#include "gen/text/svg_clean.h"

#include <string.h>

struct cleaner {
    str svg;
    size_t at;
    buf *out;
    size_t place;      // of the first thing left out; svg.len for none
    unsigned dropped;  // elements that are open and left out, with all in them
    bool unreadable;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_byte(char c)
{
    return ascii_is_alnum(c) || strchr(":_-.", c) || c & 0x80;
}

static str take_name(struct cleaner *c)
{
    size_t from = c->at;
    while (c->at < c->svg.len && c->svg.ptr[c->at] && is_name_byte(c->svg.ptr[c->at]))
        c->at++;
    return str_slice(c->svg, from, c->at);
}

static void skip_space(struct cleaner *c)
{
    while (c->at < c->svg.len && is_space(c->svg.ptr[c->at]))
        c->at++;
}

static bool take(struct cleaner *c, str what)
{
    bool there = str_starts(str_slice(c->svg, c->at, c->svg.len), what);
    c->at += there ? what.len : 0;
    return there;
}

// A name without its prefix, which the file itself may bind to any namespace.
static str local_name(str name)
{
    size_t colon = str_rfind(name, ':');
    return colon < name.len ? str_slice(name, colon + 1, name.len) : name;
}

static bool is_one_of(str name, const str *names)
{
    for (; names->len; names++)
        if (str_eq_nocase(name, *names))
            return true;
    return false;
}

static bool element_runs(str name)
{
    static const str names[] = {
        STR("script"), STR("handler"), STR("listener"), STR("foreignObject"), STR("iframe"),
        STR("frame"),  STR("object"),  STR("embed"),    STR("applet"),        STR("html"),
        STR("body"),   STR("form"),    STR("input"),    STR("button"),        STR("meta"),
        STR("base"),   STR("link"),    STR("audio"),    STR("video"),         STR_NONE};
    return is_one_of(local_name(name), names);
}

// A character reference at s, decimal or hexadecimal: its code point, and its length in *n; 0 for
// none.
static uint32_t reference(str s, size_t *n)
{
    bool hex = s.len > 3 && (s.ptr[2] | 32) == 'x';
    uint32_t value = 0;
    size_t i = hex ? 3 : 2;
    if (!str_starts(s, STR("&#")))
        return 0;
    for (; i < s.len && s.ptr[i] != ';' && value < 0x110000; i++) {
        int digit = ascii_hex(s.ptr[i]);
        if (digit < 0 || (!hex && digit > 9))
            return 0;
        value = value * (hex ? 16 : 10) + (uint32_t)digit;
    }
    *n = i + 1;
    return value;
}

// The five references that XML itself has.
static bool is_plain_entity(str s)
{
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(s, str_c(names[i])))
            return true;
    return false;
}

// The scheme of an address as a browser reads it, references decoded and white space passed over,
// in lower case; empty when the address has none.
static void put_scheme(str value, buf *out)
{
    for (size_t i = 0, n; i < value.len && out->len < 32; i += n) {
        uint32_t c = reference(str_slice(value, i, value.len), &n);
        if (!c && value.ptr[i] == '&' && !is_plain_entity(str_slice(value, i, value.len))) {
            buf_clear(out);
            buf_lit(out, "entity");  // of the file's own: it may stand for any scheme
            return;
        }
        if (!c) {
            c = (unsigned char)value.ptr[i];
            n = 1;
        }
        if (c <= ' ')
            continue;
        if (c == '/' || c == '?' || c == '#')
            break;
        if (c == ':')
            return;
        buf_char(out, c < 128 ? ascii_lower((char)c) : '?');
    }
    buf_clear(out);
}

// Addresses lead to the web, to the site, to a place of the picture, or hold a picture that cannot
// run anything.
static bool address_runs(str value)
{
    static const str schemes[] = {STR("http"), STR("https"), STR("mailto"), STR_NONE};
    static const char *const pictures[] = {"data:image/png", "data:image/jpeg", "data:image/gif",
                                           "data:image/webp"};
    buf scheme = BUF_INIT;
    put_scheme(value, &scheme);
    bool runs = scheme.len && !is_one_of(buf_view(&scheme), schemes);
    if (runs && str_eq(buf_view(&scheme), STR("data")))
        for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
            runs = runs && !str_starts(str_trim(value), str_c(pictures[i]));
    buf_free(&scheme);
    return runs;
}

static bool attribute_runs(str name, str value)
{
    static const str addresses[] = {STR("href"), STR("src"), STR("action"), STR("formaction"),
                                    STR("data"), STR("to"),  STR("from"),   STR("values"),
                                    STR("by"),   STR_NONE};
    str local = local_name(name);
    if (local.len > 1 && (local.ptr[0] | 32) == 'o' && (local.ptr[1] | 32) == 'n')
        return true;
    if (str_eq_nocase(local,
                      STR("attributeName")))  // an animation that makes an address or an event
        return str_eq_nocase(local_name(str_trim(value)), STR("href")) ||
               str_starts(str_trim(value), STR("on")) || str_find(value, '&') < value.len;
    return (is_one_of(local, addresses) && address_runs(value)) ||
           str_eq_nocase(local, STR("srcdoc"));
}

static void note(struct cleaner *c, size_t at)
{
    if (c->place == c->svg.len)
        c->place = at;
}

static void fail(struct cleaner *c)
{
    c->unreadable = true;
    c->place = c->at;
}

// name="value" behind white space; what runs is left out.
static void clean_attribute(struct cleaner *c, buf *tag)
{
    size_t from = c->at;
    str name = take_name(c);
    skip_space(c);
    bool equals = take(c, STR("="));
    skip_space(c);
    char quote = c->at < c->svg.len ? c->svg.ptr[c->at] : 0;
    size_t end =
        c->at + 1 + str_find(str_slice(c->svg, c->at + 1, c->svg.len), quote ? quote : '"');
    str value = str_slice(c->svg, c->at + 1, end);
    if (!name.len || !equals || (quote != '"' && quote != '\'') || end >= c->svg.len ||
        str_find(value, '<') < value.len) {
        fail(c);
        return;
    }
    c->at = end + 1;
    if (attribute_runs(name, value))
        note(c, from);
    else
        buf_str(tag, str_slice(c->svg, from, c->at));
}

// <name attributes> or <name attributes/>, the < taken.
static void clean_start(struct cleaner *c, size_t from)
{
    buf tag = BUF_INIT;
    buf_char(&tag, '<');
    str name = take_name(c);
    buf_str(&tag, name);
    while (name.len && !c->unreadable) {
        size_t space = c->at;
        skip_space(c);
        str blank = str_slice(c->svg, space, c->at);
        bool empty = take(c, STR("/>")), ends = empty || take(c, STR(">"));
        if (ends) {
            buf_str(&tag, blank);
            buf_str(&tag, empty ? STR("/>") : STR(">"));
            if (element_runs(name))
                note(c, from);
            if (c->dropped || element_runs(name))
                c->dropped += !empty;
            else
                buf_str(c->out, buf_view(&tag));
            break;
        }
        size_t before = tag.len;
        if (!blank.len) {
            fail(c);
            break;
        }
        buf_str(&tag, blank);
        size_t written = tag.len;
        clean_attribute(c, &tag);
        if (tag.len == written)
            tag.len = before;
    }
    if (!name.len)
        fail(c);
    buf_free(&tag);
}

static void clean_end(struct cleaner *c, size_t from)
{
    str name = take_name(c);
    skip_space(c);
    if (!name.len || !take(c, STR(">")))
        fail(c);
    else if (c->dropped)
        c->dropped--;
    else
        buf_str(c->out, str_slice(c->svg, from, c->at));
}

// One <!ENTITY name "text"> of a document type, whose text brings no tag and no other reference in.
static bool take_entity(struct cleaner *c)
{
    if (!take(c, STR("<!ENTITY")))
        return false;
    skip_space(c);
    bool named = take_name(c).len > 0;
    skip_space(c);
    char quote = c->at < c->svg.len ? c->svg.ptr[c->at] : 0;
    str value = str_slice(c->svg, c->at + 1, c->svg.len);
    value = str_slice(value, 0, str_find(value, quote ? quote : '"'));
    c->at += value.len + 2;
    skip_space(c);
    bool plain = true;
    for (size_t i = 0; i < value.len; i++)
        plain = plain && !strchr("<&%", value.ptr[i]);
    return named && plain && (quote == '"' || quote == '\'') && c->at < c->svg.len &&
           take(c, STR(">"));
}

// Drawing programs write names of name spaces as entities; anything else in a document type is not
// understood.
static void clean_doctype(struct cleaner *c, size_t from)
{
    str rest = str_slice(c->svg, from, c->svg.len);
    size_t head = 0;
    while (head < rest.len && rest.ptr[head] != '>' && rest.ptr[head] != '[')
        head++;
    c->at = from + head;
    bool subset = take(c, STR("["));
    skip_space(c);
    while (subset && !take(c, STR("]"))) {
        if (!take_entity(c)) {
            fail(c);
            return;
        }
        skip_space(c);
    }
    skip_space(c);
    if (!str_starts(rest, STR("<!DOCTYPE")) || !take(c, STR(">")))
        fail(c);
    else
        buf_str(c->out, str_slice(c->svg, from, c->at));
}

// <!-- -->, <![CDATA[ ]]> and <?xml ?> pass; other declarations and instructions could bring text
// or programs in.
static void clean_markup(struct cleaner *c, size_t from)
{
    static const struct {
        str open, end;
        bool passes;
    } kinds[] = {
        {STR("<!--"), STR("-->"), true},
        {STR("<![CDATA["), STR("]]>"), true},
        {STR("<?xml "), STR("?>"), true},
        {STR("<?"), STR("?>"), false},
    };
    str rest = str_slice(c->svg, from, c->svg.len);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!str_starts(rest, kinds[i].open))
            continue;
        size_t end = str_search(rest, kinds[i].end);
        if (end == rest.len) {
            fail(c);
            return;
        }
        c->at = from + end + kinds[i].end.len;
        if (!kinds[i].passes)
            note(c, from);
        else if (!c->dropped)
            buf_str(c->out, str_slice(c->svg, from, c->at));
        return;
    }
    clean_doctype(c, from);
}

static void clean_tag(struct cleaner *c)
{
    size_t from = c->at++;
    char next = c->at < c->svg.len ? c->svg.ptr[c->at] : 0;
    if (next == '!' || next == '?') {
        clean_markup(c, from);
    } else if (next == '/') {
        c->at++;
        clean_end(c, from);
    } else {
        clean_start(c, from);
    }
}

// Another encoding than UTF-8 could spell all of this in other bytes; those named here spell ASCII
// as it does, and what else they have is no UTF-8.
static bool says_utf8(str svg)
{
    static const str alike[] = {STR("utf-8"), STR("us-ascii"), STR("iso-8859-1"),
                                STR("iso-8859-15"), STR("windows-1252")};
    str head = str_slice(svg, 0, str_find(svg, '>'));
    size_t at = str_search(head, STR("encoding"));
    str name = str_trim(str_slice(head, at + 8, head.len));
    name = name.len && name.ptr[0] == '=' ? str_trim(str_slice(name, 1, name.len)) : name;
    bool known = !str_starts(head, STR("<?xml")) || at == head.len;
    name = str_slice(name, 1, name.len);
    name = str_slice(name, 0, str_find(name, str_find(name, '"') < name.len ? '"' : '\''));
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        known = known || str_eq_nocase(name, alike[i]);
    return known;
}

enum svg_clean svg_clean(str svg, buf *out, size_t *place)
{
    struct cleaner c = {.svg = svg, .out = out, .place = svg.len};
    size_t start = out->len;
    c.at = str_starts(svg, STR("\xEF\xBB\xBF")) ? 3 : 0;
    buf_str(out, str_slice(svg, 0, c.at));
    if (utf8_invalid(svg) < svg.len || !says_utf8(str_slice(svg, c.at, svg.len)))
        fail(&c);
    while (c.at < svg.len && !c.unreadable) {
        if (svg.ptr[c.at] == '<') {
            clean_tag(&c);
            continue;
        }
        size_t n = str_find(str_slice(svg, c.at, svg.len), '<');
        if (!c.dropped)
            buf_str(out, str_slice(svg, c.at, c.at + n));
        c.at += n;
    }
    *place = c.place;
    if (!c.unreadable)
        return c.place == svg.len ? SVG_SAME : SVG_CLEANED;
    out->len = start;
    buf_lit(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
    return SVG_UNREADABLE;
}
