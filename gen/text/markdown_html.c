// Raw HTML in Markdown: an allow-list of harmless tags, closed where they must be; everything else
// is shown as text.
#include "gen/base/escape.h"
#include "gen/text/html_names.h"
#include "gen/text/markdown_foreign.h"
#include "gen/text/markdown_html.h"
#include "gen/text/markdown_render.h"

enum { MAX_OPEN_TAGS = 64 };

enum tag_kind { NOT_ALLOWED, VOID, INLINE, BLOCK, BLOCK_VOID };

static const struct allowed {
    str name;
    enum tag_kind kind;
    str shown;
} allowed_tags[] = {
#define X(name, kind, shown) {STR(#name), kind, STR(#shown)},
#include "gen/text/markdown_tags.def"
#undef X
};

// A tag as it is in raw HTML.
struct raw_tag {
    str name, attributes, rest;  // rest: what is behind it
    bool closing;
    size_t length;  // of the whole, from < to >
};

static bool is_name_byte(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == ':';
}

// Offset of the > that ends a tag, quotes heeded; s.len when there is none.
static size_t tag_end(str s, size_t i)
{
    char quote = 0;
    for (; i < s.len; i++) {
        char c = s.ptr[i];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>' || c == '<')
            return c == '>' ? i : s.len;
    }
    return s.len;
}

static bool read_tag(str s, struct raw_tag *tag)
{
    size_t i = 1;
    tag->closing = i < s.len && s.ptr[i] == '/';
    i += tag->closing;
    size_t name = i;
    while (i < s.len && is_name_byte(s.ptr[i]))
        i++;
    size_t end = tag_end(s, i);
    if (i == name || end == s.len)
        return false;
    tag->name = str_slice(s, name, i);
    tag->attributes = str_slice(s, i, end);
    tag->length = end + 1;
    tag->rest = str_slice(s, end + 1, s.len);
    return true;
}

static const struct allowed *allowed(str name)
{
    for (size_t i = 0; i < sizeof allowed_tags / sizeof *allowed_tags; i++)
        if (str_eq_nocase(name, allowed_tags[i].name))
            return &allowed_tags[i];
    return NULL;
}

static bool is_block(enum tag_kind kind)
{
    return kind == BLOCK || kind == BLOCK_VOID;
}

static bool is_void(enum tag_kind kind)
{
    return kind == VOID || kind == BLOCK_VOID;
}

// Entities are decoded before the text is made safe again.
static void put_decoded(struct md *r, str s, void (*escape)(buf *out, str s))
{
    if (str_find(s, '&') == s.len) {
        escape(r->out, s);
        return;
    }
    buf decoded = BUF_INIT;
    html_unescape(s, &decoded);
    escape(r->out, buf_view(&decoded));
    buf_free(&decoded);
}

static void put_end(struct md *r)
{
    str name = r->tags[--r->tag_count].name;
    r->links_open -= str_eq(name, STR("a"));
    buf_lit(r->out, "</");
    buf_str(r->out, name);
    buf_char(r->out, '>');
    if (str_eq(name, STR("table")))
        md_region_close(r);
}

void md_tags_close(struct md *r, cmark_node *parent)
{
    while (r->tag_count && r->tags[r->tag_count - 1].parent == parent)
        put_end(r);
}

// The number of elements that are open when the innermost of this name in the same node begins, and
// it; 0: none is.
static size_t find_open(const struct md *r, cmark_node *parent, str name)
{
    size_t i = r->tag_count;
    while (i && r->tags[i - 1].parent == parent && !str_eq(r->tags[i - 1].written, name))
        i--;
    return i && r->tags[i - 1].parent == parent ? i : 0;
}

// An end tag ends the innermost open element of its name in the same node, and what is open within
// it.
static bool close_tag(struct md *r, cmark_node *parent, str name)
{
    size_t i = find_open(r, parent, name);
    if (!i)
        return false;
    while (r->tag_count >= i)
        put_end(r);
    return true;
}

// As in HTML, a paragraph ends where an element on its own begins.
static void end_paragraph(struct md *r, cmark_node *parent)
{
    size_t i = r->tag_count;
    while (i && r->tags[i - 1].parent == parent && !str_eq(r->tags[i - 1].name, STR("p")))
        i--;
    if (i && r->tags[i - 1].parent == parent)
        while (r->tag_count >= i)
            put_end(r);
}

// The first tag of this name in raw HTML: 1 for an end, -1 for a beginning, 0: there is none.
static int first_tag(str s, str name)
{
    for (size_t at = str_find(s, '<'); at < s.len;
         at += 1 + str_find(str_slice(s, at + 1, s.len), '<')) {
        struct raw_tag tag;
        if (read_tag(str_slice(s, at, s.len), &tag) && str_eq_nocase(tag.name, name))
            return tag.closing ? 1 : -1;
    }
    return 0;
}

// The same for the pieces of raw HTML that follow n in its parent.
static int first_tag_behind(cmark_node *n, str name)
{
    int tag = 0;
    while (!tag && (n = cmark_node_next(n)))
        tag = md_is(n, CMARK_NODE_HTML_BLOCK) ? first_tag(md_literal(n), name) : 0;
    return tag;
}

// Whether raw HTML has an element that is on its own, before the end tag of this name if it has
// one.
static bool has_block_before_end(str s, str name)
{
    for (size_t at = str_find(s, '<'); at < s.len;
         at += 1 + str_find(str_slice(s, at + 1, s.len), '<')) {
        struct raw_tag tag;
        const struct allowed *as =
            read_tag(str_slice(s, at, s.len), &tag) ? allowed(tag.name) : NULL;
        if (as && tag.closing && str_eq_nocase(tag.name, name))
            return false;
        if (as && is_block(as->kind))
            return true;
    }
    return false;
}

// A paragraph or a heading that a later piece ends has Markdown's own paragraphs within, as
// <p align="center"> around a picture; a heading may have raw ones, too: neither holds blocks. A
// heading that nothing ends would be around all that follows.
static bool is_around_blocks(cmark_node *node, const struct raw_tag *tag)
{
    str name = tag->name;
    bool heading =
        name.len == 2 && (name.ptr[0] | 32) == 'h' && name.ptr[1] >= '1' && name.ptr[1] <= '6';
    if (!heading && !str_eq_nocase(name, STR("p")))
        return false;
    if (!first_tag(tag->rest, name))
        return heading || first_tag_behind(node, name) > 0;
    return heading && has_block_before_end(tag->rest, name);
}

static void open_tag(struct md *r, cmark_node *node, cmark_node *parent, const struct raw_tag *tag,
                     str attributes)
{
    const struct allowed *as = allowed(tag->name);
    str written = as->shown;
    if (is_block(as->kind))
        end_paragraph(r, parent);
    if (is_around_blocks(node, tag))
        as = allowed(STR("div"));
    bool is_link = md_html_is_link(as->name, attributes) && !r->links_open;
    if (str_eq(as->name, STR("a")) && !is_link)
        as = allowed(STR("span"));  // the place of an id
    if (str_eq(as->shown, STR("table")))
        md_region_open(r);
    r->links_open += is_link;
    buf_char(r->out, '<');
    buf_str(r->out, as->shown);
    md_html_attributes(r, node, as->name, attributes);
    buf_char(r->out, '>');
    if (is_void(as->kind))
        return;
    if (r->tag_count == r->tag_cap)
        r->tags =
            arena_grow(r->a, r->tags, r->tag_count, &r->tag_cap, r->tag_count + 1, sizeof *r->tags);
    r->tags[r->tag_count++] = (struct md_open_tag){parent, as->shown, written};
}

// parent: what the element is closed with at the latest.
static bool put_tag(struct md *r, cmark_node *node, cmark_node *parent, const struct raw_tag *tag,
                    bool in_line)
{
    const struct allowed *as = allowed(tag->name);
    if (!as || (in_line && is_block(as->kind)))
        return false;
    if (tag->closing)
        return !is_void(as->kind) && close_tag(r, parent, as->shown);
    if (r->tag_count >= MAX_OPEN_TAGS)
        return false;
    str attributes = str_trim(tag->attributes);
    bool slash = str_ends(attributes, STR("/"));
    attributes.len -= slash;
    open_tag(r, node, parent, tag, attributes);
    if (slash && r->o->foreign & MD_FOREIGN_JSX && !is_void(as->kind))
        put_end(r);  // <div /> is a whole element there
    return true;
}

static bool is_comment(str s)
{
    return str_starts(s, STR("<!--"));
}

// <?code-excerpt "a.java"?> in a tree of others, which browsers take for a comment up to the next
// >. Source: HTML, "13.2.5.6 Tag open state", bogus comment.
static bool is_instruction(const struct md *r, str s)
{
    return r->o->open_html && str_starts(s, STR("<?"));
}

// The tags of the tagfilter extension, which --unsafe with it still shows as text.
static bool is_filtered(str s)
{
    static const str names[] = {STR("title"),    STR("textarea"), STR("style"),
                                STR("xmp"),      STR("iframe"),   STR("noembed"),
                                STR("noframes"), STR("script"),   STR("plaintext")};
    size_t start = s.len > 1 && s.ptr[1] == '/' ? 2 : 1, end = start;
    while (end < s.len && is_name_byte(s.ptr[end]))
        end++;
    str name = str_slice(s, start, end);
    bool ended = end < s.len && (md_is_space(s.ptr[end]) || s.ptr[end] == '>' ||
                                 (s.ptr[end] == '/' && end + 1 < s.len && s.ptr[end + 1] == '>'));
    for (size_t i = 0; ended && i < sizeof names / sizeof *names; i++)
        if (str_eq_nocase(name, names[i]))
            return true;
    return false;
}

static void put_filtered(struct md *r, str tag)
{
    bool filtered = (r->o->extensions & MD_TAGFILTER) && is_filtered(tag);
    buf_str(r->out, filtered ? STR("&lt;") : STR("<"));
}

// Of a block each tag is filtered.
static void put_unsafe_block(struct md *r, str s)
{
    while (s.len) {
        size_t n = str_find(s, '<');
        buf_str(r->out, str_slice(s, 0, n));
        s = str_slice(s, n, s.len);
        if (s.len)
            put_filtered(r, s);
        s = str_slice(s, 1, s.len);
    }
}

// In a line, s is one tag, whose values may look like others.
static void put_unsafe_tag(struct md *r, str s)
{
    put_filtered(r, s);
    buf_str(r->out, str_slice(s, 1, s.len));
}

// An unknown tag: an end of something that was closed already, or never opened, says nothing to
// readers of other people's trees.
static void put_unknown(struct md *r, str s, bool closing)
{
    if (r->o->open_html && closing)
        return;
    if (r->o->open_html)
        buf_lit(r->out, "<code>");
    escape_text(r->out, s);
    if (r->o->open_html)
        buf_lit(r->out, "</code>");
}

// What a script or a style sheet of a tree of others holds is for its own site: passed over, with
// its tags.
static size_t passed_over(struct md *r, str s)
{
    static const str names[] = {STR("script"), STR("style"), STR("template"), STR("noscript"),
                                STR("svg")};
    struct raw_tag tag;
    if (!r->o->open_html || !read_tag(s, &tag) || tag.closing)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!str_eq_nocase(tag.name, names[i]))
            continue;
        str end = arena_printf(r->a, "</%.*s>", STR_ARG(names[i]));
        size_t at = str_search(s, end);
        return at < s.len ? at + end.len : s.len;
    }
    return 0;
}

void md_html_inline(struct md *r, cmark_node *n)
{
    str s = md_literal(n);
    struct raw_tag tag = {0};
    cmark_node *parent = cmark_node_parent(n);
    if (md_foreign_is(n))
        md_foreign_inline(r, n);
    else if (r->o->unsafe)
        put_unsafe_tag(r, s);
    else if (r->o->plain)
        buf_lit(r->out, "<!-- raw HTML omitted -->");
    else if (!is_comment(s) && !is_instruction(r, s) &&
             (!read_tag(s, &tag) || !put_tag(r, n, parent, &tag, true)))
        put_unknown(r, s, tag.closing);
}

// One < of an HTML block and what belongs to it. Returns how many bytes that was.
static size_t put_markup(struct md *r, cmark_node *node, cmark_node *parent, str s, bool in_line)
{
    struct raw_tag tag;
    size_t over = passed_over(r, s);
    if (over)
        return over;
    if (is_instruction(r, s)) {
        size_t end = str_find(s, '>');
        return end == s.len ? s.len : end + 1;
    }
    if (is_comment(s)) {
        size_t end = str_search(s, STR("-->"));
        return end == s.len ? s.len : end + 3;
    }
    if (!read_tag(s, &tag)) {
        buf_lit(r->out, "&lt;");
        return 1;
    }
    if (put_tag(r, node, parent, &tag, in_line))
        return tag.length;
    if (!r->o->open_html) {
        buf_lit(r->out, "&lt;");
        return 1;
    }
    put_unknown(r, str_slice(s, 0, tag.length), tag.closing);
    return tag.length;
}

static void put_block(struct md *r, cmark_node *node, cmark_node *parent, str s, bool in_line)
{
    while (s.len) {
        size_t n = str_find(s, '<');
        put_decoded(r, str_slice(s, 0, n), escape_text);
        s = str_slice(s, n, s.len);
        if (s.len)
            s = str_slice(s, put_markup(r, node, parent, s, in_line), s.len);
    }
}

// The end, on a line of its own, of what was opened beside this block.
static bool is_end_beside(const struct md *r, cmark_node *parent, str s)
{
    struct raw_tag tag;
    const struct allowed *as = s.len && read_tag(s, &tag) && tag.closing ? allowed(tag.name) : NULL;
    return as && find_open(r, parent, as->shown);
}

static bool has_link_end_behind(struct md *r, cmark_node *n)
{
    cmark_node *parent = cmark_node_parent(n);
    int tag = r->no_link_end == parent ? 0 : first_tag_behind(n, STR("a"));
    if (!tag)
        r->no_link_end = parent;
    return tag > 0;
}

// What is not an allowed block is in a paragraph of its own, and its elements end there.
static void put_site_block(struct md *r, cmark_node *n, str s)
{
    s = str_trim(s);
    size_t start = r->out->len;
    if (s.len && s.ptr[0] == '<' &&
        (has_block_before_end(s, STR_NONE) || is_end_beside(r, cmark_node_parent(n), s))) {
        put_block(r, n, cmark_node_parent(n), s, false);
        // A link that is never ended would be around all that follows, and make its links none.
        if (r->links_open && !has_link_end_behind(r, n))
            close_tag(r, cmark_node_parent(n), STR("a"));
        end_paragraph(r, cmark_node_parent(n));
        return;
    }
    buf_lit(r->out, "<p>");
    put_block(r, n, n, s, true);
    md_tags_close(r, n);
    if (r->out->len == start + 3)
        r->out->ptr[r->out->len = start] = 0;
    else
        buf_lit(r->out, "</p>");
}

void md_html_block(struct md *r, cmark_node *n)
{
    str s = md_literal(n);
    md_cr(r);
    if (r->o->unsafe)
        put_unsafe_block(r, s);
    else if (r->o->plain)
        buf_lit(r->out, "<!-- raw HTML omitted -->");
    else
        put_site_block(r, n, s);
    md_cr(r);
}
