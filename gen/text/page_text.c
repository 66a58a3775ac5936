// Text and headings of a page's body, in one pass over its HTML.
#include "gen/text/page_text.h"

#include <string.h>

#include "gen/base/bytes16.h"
#include "gen/text/html_names.h"

// Elements that begin a line of their own. A cell is divided from the one before it.
enum tag_kind { INLINE, BLOCK, CELL, HEADING, HIDDEN };

struct kind {
    str name;
    enum tag_kind kind;
};

// By the first letter; names of other elements are in the line.
static const struct kind kinds[26][8] = {
    ['a' - 'a'] = {{STR("annotation"), HIDDEN}, {STR("article"), BLOCK}, {STR("aside"), BLOCK}},
    ['b' - 'a'] = {{STR("blockquote"), BLOCK}, {STR("br"), BLOCK}},
    ['c' - 'a'] = {{STR("caption"), BLOCK}, {STR("center"), BLOCK}},
    ['d' - 'a'] = {{STR("dd"), BLOCK},
                   {STR("details"), BLOCK},
                   {STR("div"), BLOCK},
                   {STR("dl"), BLOCK},
                   {STR("dt"), BLOCK}},
    ['f' - 'a'] = {{STR("figcaption"), BLOCK}, {STR("figure"), BLOCK}},
    ['h' - 'a'] = {{STR("h1"), HEADING},
                   {STR("h2"), HEADING},
                   {STR("h3"), HEADING},
                   {STR("h4"), HEADING},
                   {STR("h5"), HEADING},
                   {STR("h6"), HEADING},
                   {STR("hr"), BLOCK}},
    ['l' - 'a'] = {{STR("li"), BLOCK}},
    ['o' - 'a'] = {{STR("ol"), BLOCK}},
    ['p' - 'a'] = {{STR("p"), BLOCK}, {STR("pre"), BLOCK}},
    ['s' - 'a'] = {{STR("script"), HIDDEN},
                   {STR("section"), BLOCK},
                   {STR("style"), HIDDEN},
                   {STR("summary"), BLOCK},
                   {STR("svg"), HIDDEN}},
    ['t' - 'a'] = {{STR("table"), BLOCK}, {STR("td"), CELL}, {STR("th"), CELL}, {STR("tr"), BLOCK}},
    ['u' - 'a'] = {{STR("ul"), BLOCK}},
};

// Offsets in text.
struct place {
    size_t anchor, anchor_end, heading, heading_end, text;
};

struct reading {
    str html;
    size_t at;
    buf *text;
    bool in_pre, in_heading;
    struct place *places;
    size_t count, cap;
    arena *a;
};

static enum tag_kind kind_of(str name)
{
    if (!name.len || !ascii_is_lower(name.ptr[0]))
        return INLINE;
    for (const struct kind *k = kinds[name.ptr[0] - 'a']; k->name.len; k++)
        if (k->name.len == name.len && !memcmp(k->name.ptr, name.ptr, name.len))
            return k->kind;
    return INLINE;
}

static char last_of(const struct reading *r)
{
    size_t from = r->places[r->count - 1].text;
    return r->text->len > from ? r->text->ptr[r->text->len - 1] : '\n';
}

static void end_line(struct reading *r)
{
    while (last_of(r) == ' ')
        r->text->len--;
    if (last_of(r) != '\n')
        buf_char(r->text, '\n');
}

static void put_space(struct reading *r)
{
    char last = last_of(r);
    if (last != ' ' && last != '\n')
        buf_char(r->text, ' ');
}

// Of one byte, or of each of 16: what ends a word.
#define ENDS_WORD(v) (((v) <= ' ') | ((v) == '&') | ((v) == '<'))

// Which of 16 bytes at p are not plain: tags, entities, white space but for single spaces before
// words, of which the byte behind them is looked at, too.
static inline bytes16 ends_at(const char *p)
{
    bytes16 v = bytes16_at(p), next = bytes16_at(p + 1);
    return (bytes16)ENDS_WORD(v) & ~((bytes16)(v == ' ') & ~(bytes16)ENDS_WORD(next));
}

// The end of what is copied as it is: neither a tag, nor an entity, nor white space but for single
// spaces between words. The first byte is of a word.
static size_t plain_end(str html, size_t at)
{
    const char *p = html.ptr;
    for (unsigned plain = 16; at + 17 <= html.len; at += plain)
        if ((plain = bytes16_first(ends_at(p + at))) < 16)
            return at + plain;
    for (; at < html.len; at++) {
        unsigned char c = (unsigned char)p[at];
        bool between = c == ' ' && at + 1 < html.len && !ENDS_WORD((unsigned char)p[at + 1]);
        if (ENDS_WORD(c) && !between)
            break;
    }
    return at;
}

// An entity at the head of s, whose length is returned. Ours are nearly all of these four.
static size_t put_entity(str s, buf *out)
{
    static const struct {
        str name;
        char c;
    } common[] = {
        {STR("&lt;"), '<'},
        {STR("&gt;"), '>'},
        {STR("&quot;"), '"'},
        {STR("&amp;"), '&'},
    };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        if (s.len < common[i].name.len || memcmp(s.ptr, common[i].name.ptr, common[i].name.len))
            continue;
        buf_char(out, common[i].c);
        return common[i].name.len;
    }
    uint32_t code_point = '&';
    size_t n = html_entity(s, &code_point);
    buf_utf8(out, code_point);
    return n ? n : 1;
}

// What is before the next tag. White space is one space, but for lines of code.
static void put_text(struct reading *r)
{
    while (r->at < r->html.len) {
        char c = r->html.ptr[r->at];
        if (c == '<') {
            return;
        } else if (c == '&') {
            r->at += put_entity(str_slice(r->html, r->at, r->html.len), r->text);
        } else if ((unsigned char)c <= ' ') {  // control characters, too
            if (c == '\n' && r->in_pre)
                end_line(r);
            else
                put_space(r);
            r->at++;
        } else {
            size_t from = r->at;
            r->at = plain_end(r->html, r->at);
            buf_str(r->text, str_slice(r->html, from, r->at));
        }
    }
}

// Behind the element that begins at r->at, as there is no other of its name in it.
static void pass_over(struct reading *r, str name)
{
    char close[32];
    size_t n = name.len < sizeof close - 3 ? name.len : sizeof close - 3;
    memcpy(close, "</", 2);
    memcpy(close + 2, name.ptr, n);
    str rest = str_slice(r->html, r->at, r->html.len);
    size_t found = str_search(rest, (str){close, n + 2});
    r->at += found;
    r->at += str_find(str_slice(r->html, r->at, r->html.len), '>');
    r->at += r->at < r->html.len;
}

static struct place *begin_section(struct reading *r, str anchor)
{
    if (r->count)
        end_line(r);
    size_t at = r->text->len;
    html_unescape(anchor, r->text);
    r->places = arena_grow(r->a, r->places, r->count, &r->cap, r->count + 1, sizeof *r->places);
    struct place *p = &r->places[r->count++];
    *p = (struct place){at, r->text->len, r->text->len, r->text->len, r->text->len};
    return p;
}

static str id_of(str tag)
{
    size_t at = str_search(tag, STR(" id=\""));
    if (at == tag.len)
        return STR_NONE;
    str rest = str_slice(tag, at + 5, tag.len);
    return str_slice(rest, 0, str_find(rest, '"'));
}

// A heading without an anchor cannot be a hit: it is text of its section.
static void open_heading(struct reading *r, str tag)
{
    str id = id_of(tag);
    if (!id.len) {
        end_line(r);
        return;
    }
    begin_section(r, id);
    r->in_heading = true;
}

static void close_heading(struct reading *r)
{
    struct place *p = &r->places[r->count - 1];
    while (last_of(r) == ' ')
        r->text->len--;
    if (r->in_heading)
        p->heading_end = p->text = r->text->len;
    else
        end_line(r);
    r->in_heading = false;
}

// The link of a heading to itself: all that a page's own text has of what is hidden.
static bool is_hidden(str tag)
{
    return str_starts(tag, STR("<a class=\"anchor\""));
}

static bool is_of_name(char c)
{
    return ascii_is_lower(c) || ascii_is_digit(c);
}

// The tag at r->at, which is moved behind it, or behind what is left out.
static void read_tag(struct reading *r)
{
    str rest = str_slice(r->html, r->at, r->html.len);
    bool closes = rest.len > 1 && rest.ptr[1] == '/';
    size_t name_from = closes ? 2 : 1, name_to = name_from;
    while (name_to < rest.len && is_of_name(rest.ptr[name_to]))
        name_to++;
    str name = str_slice(rest, name_from, name_to);
    // Most tags end with their name.
    size_t len = name_to < rest.len && rest.ptr[name_to] == '>' ? name_to : str_find(rest, '>');
    str tag = str_slice(rest, 0, len + 1);
    enum tag_kind kind = kind_of(name);
    if (!closes && (kind == HIDDEN || (str_eq(name, STR("a")) && is_hidden(tag)))) {
        pass_over(r, name);
        return;
    }
    r->at += tag.len;
    if (str_eq(name, STR("pre")))
        r->in_pre = !closes;
    if (kind == HEADING && !closes)
        open_heading(r, tag);
    else if (kind == HEADING)
        close_heading(r);
    else if (kind == BLOCK && !r->in_heading)
        end_line(r);
    else if (kind == BLOCK)
        put_space(r);
    else if (kind == CELL && !closes && last_of(r) != '\n')
        buf_lit(r->text, " · ");
}

struct text_section *page_text_sections(str html, arena *a, buf *text, size_t *count)
{
    struct reading r = {.html = html, .text = text, .a = a};
    begin_section(&r, STR_NONE);
    while (r.at < html.len) {
        put_text(&r);
        if (r.at < html.len)
            read_tag(&r);
    }
    end_line(&r);
    struct text_section *out = arena_new(a, struct text_section, r.count);
    for (size_t i = 0; i < r.count; i++) {
        const struct place *p = &r.places[i];
        size_t end = i + 1 < r.count ? r.places[i + 1].anchor : text->len;
        str all = buf_view(text);
        out[i] = (struct text_section){str_slice(all, p->anchor, p->anchor_end),
                                       str_slice(all, p->heading, p->heading_end),
                                       str_trim(str_slice(all, p->text, end))};
    }
    *count = r.count;
    return out;
}
