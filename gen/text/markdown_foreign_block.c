// Blocks of HTML with tags of other generators in them: a tag in the text becomes an element there.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/markdown_foreign_show.h"

static void put_element(buf *out, const char *name, str href, str words)
{
    buf_printf(out, "<%s", name);
    if (href.len) {
        buf_lit(out, " href=\"");
        escape_attribute(out, href);
        buf_char(out, '"');
    }
    buf_char(out, '>');
    escape_text(out, words);
    buf_printf(out, "</%s>", name);
}

static void put_image(buf *out, str src, str words)
{
    buf_lit(out, "<img src=\"");
    escape_attribute(out, src);
    buf_lit(out, "\" alt=\"");
    escape_attribute(out, words);
    buf_lit(out, "\">");
}

// A tag in the text of a block of HTML becomes an element there.
static void put_tag_html(struct showing *s, buf *out, str tag)
{
    str words = STR_NONE, href = STR_NONE;
    enum shown_as as = AS_CODE;
    size_t name = 1 + (tag.len > 1 && tag.ptr[1] == '/');
    if (strchr("[!%", tag.ptr[0])) {  // in HTML no vault reads them
        escape_text(out, tag);
        return;
    }
    bool html = tag.ptr[0] == '<' && name < tag.len && ascii_is_lower(tag.ptr[name]);
    if (html)
        as = AS_NOTHING, buf_str(out, tag);
    else if (md_may_be_shortcode(s->r, tag))
        as = md_shortcode_as(s->r, tag, &words, &href);
    else if (tag.ptr[0] == '<')
        as = md_show_element_as(s, tag, &words, &href);
    else if (md_show_value(s, tag, &words))
        as = AS_NOTHING, escape_text(out, words);
    else if (tag.ptr[0] == ':' || str_starts(tag, STR("{/*")) || md_show_is_raw(tag))
        as = AS_NOTHING;
    if (tag.ptr[0] == ':')
        buf_str(out, md_show_emoji(s, tag));
    if (as == AS_LINK)
        put_element(out, "a", href, words);
    if (as == AS_OPENED && tag.ptr[0] == '<') {
        buf_lit(out, "<a href=\"");
        escape_attribute(out, href);
        buf_lit(out, "\">");
        s->opened = href;
    }
    if (as == AS_CLOSED && tag.ptr[0] == '<' && s->opened.len) {
        buf_lit(out, "</a>");
        s->opened = STR_NONE;
    }
    if (as == AS_LABEL)
        put_element(out, "strong", STR_NONE, words);
    if (as == AS_WORDS)
        escape_text(out, words);
    if (as == AS_IMAGE)
        put_image(out, href, words);
    if (as != AS_CODE)
        return;
    md_show_unread(s, tag);
    put_element(out, "code", STR_NONE, tag);
}

// Behind a tag or a comment of HTML at s[at]; at + 1 when it is a sign alone.
static size_t markup_end(str s, size_t at)
{
    str rest = str_slice(s, at, s.len);
    char quote = 0, next = rest.len > 1 ? rest.ptr[1] : 0;
    if (str_starts(rest, STR("<!--")))
        return at + str_search(rest, STR("-->"));
    if (next != '/' && !((next | 32) >= 'a' && (next | 32) <= 'z'))
        return at + 1;
    for (size_t i = 1; i < rest.len; i++) {
        char c = rest.ptr[i];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return at + i + 1;
    }
    return at + 1;
}

void md_show_html_block(struct showing *s, cmark_node *n)
{
    str text = md_literal(n);
    buf b = BUF_INIT;
    s->block = n;
    for (size_t at = 0, end; at < text.len; at = end) {
        char c = text.ptr[at];
        bool hidden = md_is_hidden_start(c);
        if (hidden)
            end = at + str_find(str_slice(text, at, text.len), MD_HIDDEN_END) + 1;
        else
            end = c == '<' ? markup_end(text, at) : at + 1;
        if (end > text.len)
            end = text.len;
        if (end == at + 1) {
            buf_char(&b, c);
            continue;
        }
        str piece = arena_str(s->r->a, str_slice(text, at, end));
        md_foreign_put_back((char *)piece.ptr, piece.len);
        if (hidden)
            put_tag_html(s, &b, piece);
        else
            buf_str(&b, piece);
    }
    cmark_node_set_literal(n, b.ptr);
    buf_free(&b);
}
