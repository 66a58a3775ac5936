// Hides the tags of other generators from the parser: each byte that Markdown would act on is
// replaced by one that it does not know, so that the text keeps its length, its lines and its
// places, and what was hidden can be put back.
#include "gen/text/markdown_foreign_hide.h"

#include <string.h>

#include "gen/text/code_span.h"
#include "gen/text/emoji.h"

// What is replaced inside a tag, and by what. The bytes are control characters that no text has.
static const char plain[] = "<>*_[]&!\\\"|~$ @:{}`#().-=\t";
static const char hidden[] = "\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16"
                             "\x17\x7f\x18\x19\x1a\x1b\x1c\x1d\x1e";
_Static_assert(sizeof plain == sizeof hidden, "each byte has its other");

// How far the line of text[from] is indented by the lists and containers that it is in.
static size_t depth_at(const char *text, size_t from)
{
    size_t start = from, blanks = 0;
    while (start && text[start - 1] != '\n')
        start--;
    while (start + blanks < from && text[start + blanks] == ' ')
        blanks++;
    bool marks = strspn(text + start, " \t-*+>.)0123456789") >= from - start;
    return marks ? from - start : blanks;
}

// Blanks that keep a line in its container are not hidden.
void md_hide(char *text, size_t from, size_t to)
{
    size_t left = 0, depth = memchr(text + from, '\n', to - from) ? depth_at(text, from) : 0;
    text[to - 1] = MD_HIDDEN_END;
    for (size_t i = from; i + 1 < to; i++) {
        if (text[i] == ' ' && left) {
            left--;
            continue;
        }
        left = text[i] == '\n' ? depth : 0;
        const char *at = text[i] ? strchr(plain, text[i]) : NULL;
        if (at)
            text[i] = hidden[at - plain];
    }
}

void md_hide_blank(char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (text[i] != '\n' && text[i] != '\r')
            text[i] = ' ';
}

size_t md_end_of_line(str s, size_t at)
{
    return at + str_find(str_slice(s, at, s.len), '\n');
}

str md_rest_of_line(str s, size_t at)
{
    return str_slice(s, at, md_end_of_line(s, at));
}

bool md_is_one_piece(str s, size_t from, size_t to, bool ticks)
{
    if (to - from > (ticks ? MD_MAX_RAW : MD_MAX_TAG))
        return false;
    for (size_t i = from; i < to; i++) {
        if (s.ptr[i] == '`' && !ticks)
            return false;
        if (s.ptr[i] != '\n')
            continue;
        if (!str_trim(md_rest_of_line(s, i + 1)).len && md_end_of_line(s, i + 1) < to)
            return false;
    }
    return true;
}

static size_t next_of(struct md_ahead *x, str s, size_t from, str sought)
{
    if (!x->asked || x->at < from || x->from > from)
        *x = (struct md_ahead){from, from + str_search(str_slice(s, from, s.len), sought), true};
    return x->at;
}

// Whether there is nothing but blanks beside [from, to) on its lines.
static bool is_alone(str s, size_t from, size_t to)
{
    while (from && s.ptr[from - 1] != '\n' && strchr(" \t\r\v\f", s.ptr[from - 1]))
        from--;
    while (to < s.len && s.ptr[to] != '\n' && strchr(" \t\r\v\f", s.ptr[to]))
        to++;
    return (!from || s.ptr[from - 1] == '\n') && (to == s.len || s.ptr[to] == '\n');
}

// The end of "{* ../../src/x.py hl[3] *}", alone in its line: a listing that a preprocessor of
// FastAPI's documentation puts in. Source: tiangolo/markdown-include-variants, README.
static size_t listing_end(str s, size_t from)
{
    str line = md_rest_of_line(s, from);
    size_t end = from + str_trim(line).len;
    bool whole = str_ends(str_trim(line), STR(" *}")) && is_alone(s, from, end);
    return whole ? end : 0;
}

// The end of the tag in braces at from: {{ ... }}, {% ... %}; 0 for none.
static size_t braces_end(struct hiding *h, size_t from)
{
    str s = h->body, rest = str_slice(s, from, s.len);
    bool open = str_starts(rest, STR("{{")) || str_starts(rest, STR("{%"));
    if (str_starts(rest, STR("{* ")))
        return listing_end(s, from);
    if (!open || (from && s.ptr[from - 1] == '$'))
        return 0;  // ${{ ... }} is of workflows
    // A shortcode, a tag of GitBook and an include are taken out before Markdown is read, so that a
    // code span may be in one of their values.
    bool shortcode = str_starts(rest, STR("{{<")) || str_starts(rest, STR("{{%")) ||
                     (h->foreign & MD_FOREIGN_GITBOOK && rest.ptr[1] == '%') ||
                     (h->foreign & MD_FOREIGN_LIQUID && str_starts(rest, STR("{% include")));
    size_t end = rest.ptr[1] == '%' ? next_of(&h->statements, s, from, STR("%}"))
                                    : next_of(&h->braces, s, from, STR("}}"));
    if (end == s.len || end == from + 1)
        return 0;
    end += 2;
    return md_is_one_piece(s, from, end, shortcode) ? end : 0;
}

static str inside_of(str tag)
{
    str s = str_trim(str_slice(tag, 2, tag.len - 2));
    while (s.len && strchr("<%-", s.ptr[0]))
        s = str_trim(str_slice(s, 1, s.len));
    while (s.len && strchr(">%-", s.ptr[s.len - 1]))
        s = str_trim(str_slice(s, 0, s.len - 1));
    return s;
}

static bool is_called(str inside, str name)
{
    return str_starts(inside, name) && (inside.len == name.len || inside.ptr[name.len] == ' ');
}

// {% highlight ruby %} and its end become a fence and its language, when they are on lines of their
// own; {% raw %} and its end are gone from there, so that code behind them is code.
static bool make_fence(struct hiding *h, size_t from, size_t to)
{
    str inside = inside_of(str_slice(h->body, from, to)), fence = STR("~~~");
    bool opens = is_called(inside, STR("highlight")),
         closes = str_eq(inside, STR("endhighlight")) || str_eq(inside, STR("/highlight"));
    bool raw = str_eq(inside, STR("raw")) || str_eq(inside, STR("endraw"));
    if ((!opens && !closes && !raw) || !is_alone(h->body, from, to))
        return false;
    if (raw) {
        md_hide_blank(h->text, from, to);
        return true;
    }
    str rest = str_trim(str_slice(inside, 9, inside.len)),
        language = opens ? str_slice(rest, 0, str_find(rest, ' ')) : STR_NONE;
    md_hide_blank(h->text, from, to);
    memcpy(h->text + from, fence.ptr, fence.len);
    if (language.len && 3 + language.len <= to - from && str_find(language, '"') == language.len)
        memcpy(h->text + from + 3, language.ptr, language.len);
    return true;
}

static size_t hide_braces(struct hiding *h, size_t at)
{
    size_t end = braces_end(h, at);
    if (!end)
        return 0;
    h->changed = true;
    str inside = inside_of(str_slice(h->body, at, end));
    if (is_called(inside, STR("comment"))) {
        size_t close = next_of(&h->comments, h->body, end, STR("endcomment"));
        size_t last = close + str_find(str_slice(h->body, close, h->body.len), '}') + 1;
        if (last <= h->body.len) {
            md_hide_blank(h->text, at, last);
            return last;
        }
    }
    if (!make_fence(h, at, end))
        md_hide(h->text, at, end);
    return end;
}

static size_t hide_emoji(struct hiding *h, size_t at)
{
    size_t end, name = at + 1;
    str shown;
    if (!emoji_at(h->body, at, &end, &shown))
        return 0;
    md_hide(h->text, at, name + str_find(str_slice(h->body, name, end), ':') + 1);
    name += str_find(str_slice(h->body, name, end), ':') + 1;
    md_hide_blank(h->text, name, end);
    h->changed = true;
    return end;
}

// A fence's mark at the head of a line: its byte and length; 0 for none.
static size_t fence_at(str line, char *mark)
{
    size_t i = 0, n = 0;
    while (i < line.len && (line.ptr[i] == ' ' || line.ptr[i] == '\t' || line.ptr[i] == '>'))
        i++;
    if (i >= line.len || (line.ptr[i] != '`' && line.ptr[i] != '~'))
        return 0;
    *mark = line.ptr[i];
    while (i + n < line.len && line.ptr[i + n] == *mark)
        n++;
    return n >= 3 && (*mark == '~' ||
                      str_find(str_slice(line, i + n, line.len), '`') == line.len - i - n)
               ? n
               : 0;
}

static size_t hide_wiki_at(struct hiding *h, size_t at, char c, char next)
{
    if (c == '\\' && (next == '[' || next == '!' || next == '%'))
        return at + 2;
    if ((c == '[' || c == '!') && next == '[')
        return md_hide_wiki(h, at);
    return c == '%' && next == '%' && !h->uncommented ? md_hide_comment(h, at) : 0;
}

// Tags in one line's worth of text, from at on: where the walk goes on.
static size_t hide_at(struct hiding *h, size_t at)
{
    char c = h->body.ptr[at], next = at + 1 < h->body.len ? h->body.ptr[at + 1] : 0;
    size_t end = 0;
    if (c == '<' && at > 1 && h->body.ptr[at - 1] == '(' && h->body.ptr[at - 2] == ']')
        return at + 1;  // a link's address, [words](</>)
    bool mdx = h->foreign & MD_FOREIGN_JSX && !(h->foreign & MD_FOREIGN_BRACES);
    if (c == '\\' && ((next == '<' && h->foreign & MD_FOREIGN_JSX) || (next == '{' && mdx)))
        return at + 2;  // a sign of the text
    if (h->foreign & MD_FOREIGN_WIKI && next)
        end = hide_wiki_at(h, at, c, next);
    if (!end && c == '{' && h->foreign & MD_FOREIGN_BRACES)
        end = hide_braces(h, at);
    if (!end && c == '<' && next != '/' && h->foreign & MD_FOREIGN_ATTRIBUTES)
        end = md_hide_element(h, at);
    if (!end && c == '<' && (next == '/' || ((next | 32) >= 'a' && (next | 32) <= 'z')))
        end = md_hide_html(h, at);
    if (!end && (c == '<' || c == '{') && h->foreign & MD_FOREIGN_JSX)
        end = md_hide_jsx(h, at);
    if (!end && c == ':' && h->foreign & MD_FOREIGN_EMOJI)
        end = hide_emoji(h, at);
    return end ? end : at + 1;
}

// Whether a line of a fence is one that ends it, but for the signs of the quotes that it is in.
static bool is_all(str s, char mark)
{
    while (s.len && (s.ptr[0] == '>' || s.ptr[0] == ' '))
        s = str_slice(s, 1, s.len);
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] != mark)
            return false;
    return true;
}

static size_t indent_of(str line)
{
    size_t i = 0;
    while (i < line.len && line.ptr[i] == ' ')
        i++;
    return i;
}

// [TOC] of Python-Markdown and [[toc]] of VitePress: the page has its contents beside it.
static bool is_contents(const struct hiding *h, str line)
{
    line = str_trim(line);
    return h->foreign & MD_FOREIGN_BRACES &&
           (str_eq(line, STR("[TOC]")) || str_eq_nocase(line, STR("[[toc]]")));
}

static void walk(struct hiding *h)
{
    char mark = 0, other = 0;
    size_t fence = 0, indent = 0;
    for (size_t at = 0; at < h->body.len;) {
        size_t end = md_end_of_line(h->body, at);
        str line = str_slice(h->body, at, end);
        size_t n = fence_at(line, &other), own = indent_of(line);
        if (fence && indent >= 4 && own < 2 && str_trim(line).len)
            fence = 0;  // the list that it is in has ended
        bool closes = fence && n >= fence && other == mark && own < indent + 4 &&
                      is_all(str_trim(line), mark);
        if (n && !fence)
            indent = own;
        if (n && (!fence || closes))
            mark = other, fence = closes ? 0 : n, n = 1;
        else
            n = fence != 0;
        if (n) {
            at = end + 1;
            continue;
        }
        if (is_contents(h, line) || md_hide_abbreviation(h, line)) {
            md_hide_blank(h->text, at, end);
            h->changed = true;
            at = end + 1;
            continue;
        }
        size_t hidden_to = h->foreign & MD_FOREIGN_JSX ? md_hide_import(h, at) : 0;
        if (hidden_to) {
            at = hidden_to;
            continue;
        }
        while (at < end) {
            at = h->body.ptr[at] == '`' ? code_span_at(h->body, at).end : hide_at(h, at);
            if (at > end)
                end = md_end_of_line(h->body, at);
        }
        at = end + 1;
    }
}

// The place in hidden of a byte that stands for another; NULL of any other byte, as nearly all are.
static const char *hidden_at(char c)
{
    bool control = (c > 0 && c < ' ') || c == '\x7f';
    return control ? memchr(hidden, c, sizeof hidden - 1) : NULL;
}

// Control characters that a text has of its own, colours of a terminal say, are blanks: HTML may
// not hold them.
static bool blank_controls(char *text, size_t len)
{
    bool any = false;
    for (size_t i = 0; i < len; i++)
        if (text[i] == MD_HIDDEN_END || hidden_at(text[i]))
            text[i] = ' ', any = true;
    return any;
}

// What ends that which a byte begins.
static char closing(char open)
{
    switch (open) {
    case '<': return '>';
    case ':': return ':';
    case '[':
    case '!': return ']';
    case '%': return '%';
    default: return '}';
    }
}

void md_foreign_put_back(char *text, size_t len)
{
    char open = 0;
    for (size_t i = 0; i < len; i++) {
        const char *at = hidden_at(text[i]);
        bool comment =
            !open && text[i] == MD_HIDDEN_BANG && i + 1 < len && text[i + 1] == MD_HIDDEN_PERCENT;
        if (text[i] == MD_HIDDEN_END) {
            text[i] = closing(open);
            open = 0;
        } else if (comment) {
            text[i] = text[i + 1] = open = '%';
            i++;
        } else if (at) {
            text[i] = plain[at - hidden];
            if (!open)
                open = text[i];
        }
    }
}

// Colons are in most pages, short names in few.
static bool has_emoji(str body)
{
    size_t end;
    str shown;
    for (size_t at = str_find(body, ':'); at < body.len;
         at += 1 + str_find(str_slice(body, at + 1, body.len), ':'))
        if (emoji_at(body, at, &end, &shown))
            return true;
    return false;
}

str md_foreign_hide(struct md *r, str body)
{
    unsigned on = r->o->foreign;
    unsigned hides = MD_FOREIGN_BRACES | MD_FOREIGN_JSX | MD_FOREIGN_ATTRIBUTES | MD_FOREIGN_EMOJI |
                     MD_FOREIGN_HTML | MD_FOREIGN_WIKI;
    bool abbreviations =
        r->o->extensions & MD_ABBREVIATIONS && !r->o->plain && str_has(body, STR("*["));
    if (!(on & hides) && !abbreviations)
        return body;
    bool braces = str_find(body, '{') < body.len && on & (MD_FOREIGN_BRACES | MD_FOREIGN_JSX),
         tags = on & MD_FOREIGN_JSX &&
                (str_find(body, '<') < body.len || str_has(body, STR("import "))),
         elements = (on & MD_FOREIGN_ATTRIBUTES && str_has(body, STR(" markdown"))) ||
                    (on & MD_FOREIGN_HTML && str_has(body, STR("</")));
    bool contents =
        on & MD_FOREIGN_BRACES && (str_has(body, STR("[TOC]")) || str_has(body, STR("[[")));
    bool wiki = on & MD_FOREIGN_WIKI && (str_has(body, STR("[[")) || str_has(body, STR("%%")));
    bool emoji = on & MD_FOREIGN_EMOJI && has_emoji(body);
    if (!emoji)
        on &= ~(unsigned)MD_FOREIGN_EMOJI;
    if (!braces && !tags && !elements && !emoji && !contents && !abbreviations && !wiki)
        return body;
    struct hiding h = {.text = arena_c(r->a, body),
                       .foreign = on,
                       .mdx = str_ends(r->file, STR(".mdx")),
                       .abbreviating = abbreviations ? r : NULL,
                       .a = r->a};
    h.changed = blank_controls(h.text, body.len);
    h.body = h.changed ? arena_str(r->a, (str){h.text, body.len}) : body;
    walk(&h);
    r->unread = h.unread, r->unread_at = h.unread_at;
    return h.changed ? (str){h.text, body.len} : body;
}
