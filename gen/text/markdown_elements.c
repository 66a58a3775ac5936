// Elements on lines of their own as containers of Markdown: components of JSX, whose content may be
// indented as deeply as its author likes, HTML with markdown="1" (kramdown, md_in_html), and HTML
// that ends before more Markdown, with all that is in it: a block extension of cmark-gfm.
//
// The pre-pass has hidden the tags (markdown_foreign_hide.c), so that no block of HTML begins
// there. An element is a custom block whose first child, another, is its opening tag; both are gone
// once md_elements_unwrap has put what they hold in their place.
#include <string.h>

#include "gen/text/markdown_admonition.h"
#include "gen/text/markdown_foreign.h"

const char md_tag_mark[] = "tag";

struct element {
    struct md_admonition base;  // mark '<': no admonition takes it for its own
    str name;
    buf tag;        // with its lines; hidden
    bool in_tag;    // it has not ended yet
    bool measured;  // the first line of the content has said how deep the others are
    int indent;
    bool html;
    bool whole;  // all of it, to its end, is hidden as its tag
    struct md *r;
};

static struct element *element_of(cmark_node *n)
{
    struct md_admonition *m =
        n && cmark_node_get_type(n) == CMARK_NODE_CUSTOM_BLOCK ? cmark_node_get_user_data(n) : NULL;
    bool title = (const char *)m == md_tag_mark || (const char *)m == md_title_mark;
    return m && !title && m->mark == '<' ? (struct element *)(void *)m : NULL;
}

// A blank and a tab are hidden, too.
static str name_at(str s)
{
    size_t n = 0;
    while (n < s.len && !strchr(" \t\r\n/>\x13\x1e\x1f", s.ptr[n]))
        n++;
    return str_slice(s, 0, n);
}

static bool is_html(str name)
{
    return name.len && ascii_is_lower(name.ptr[0]);
}

// The tag that a line begins with, hidden: its name, and what is behind it on the line. False for
// none, for an end that is not all of a line of HTML, and for an element that is all in its tag.
static bool read_opening(str line, str *name, str *behind, bool *ended)
{
    if (!line.len || line.ptr[0] != MD_HIDDEN_TAG)
        return false;
    bool closes = line.len > 1 && line.ptr[1] == '/';
    *name = name_at(str_slice(line, 1 + closes, line.len));
    if (closes && (!is_html(*name) || line.ptr[line.len - 1] != MD_HIDDEN_END))
        return false;
    size_t end = str_find(line, MD_HIDDEN_END);
    *ended = end < line.len;
    *behind = str_trim(str_slice(line, *ended ? end + 1 : end, line.len));
    return !(*ended && end && line.ptr[end - 1] == '/') && name->len && !md_is_void_in_line(*name);
}

// Whether a line is the end tag of an element; of HTML it may be the end of a line, too.
static bool is_end(str line, str name, bool only)
{
    size_t from = str_rfind(line, MD_HIDDEN_TAG), n = line.len - from;
    return from < line.len && (!only || !from) && n == name.len + 3 && line.ptr[from + 1] == '/' &&
           line.ptr[line.len - 1] == MD_HIDDEN_END &&
           memcmp(line.ptr + from + 2, name.ptr, name.len) == 0;
}

// Each line goes through all that are open: more than these in each other are none.
static bool is_deep(cmark_node *n)
{
    enum { DEEPEST = 40 };
    int depth = 0;
    for (; n && depth < DEEPEST; n = cmark_node_parent(n))
        depth += element_of(n) != NULL;
    return depth == DEEPEST;
}

static cmark_node *open_block(cmark_syntax_extension *ext, int indented, cmark_parser *parser,
                              cmark_node *parent, unsigned char *input, int len)
{
    size_t at = (size_t)cmark_parser_get_first_nonspace(parser);
    str line = str_trim(str_slice((str){(const char *)input, (size_t)len}, at, (size_t)len));
    str name, behind;
    bool ended;
    if (indented || !read_opening(line, &name, &behind, &ended))
        return NULL;
    bool html = is_html(name);
    if ((behind.len && !html) || is_deep(parent))
        return NULL;  // a component in a line of words
    struct md *r = cmark_syntax_extension_get_private(ext);
    struct element *e = arena_new(r->a, struct element, 1);
    *e = (struct element){.base = {.mark = '<', .bare = true},
                          .name = arena_str(r->a, name),
                          .in_tag = !ended,
                          .html = html,
                          .r = r};
    str tag = str_slice(line, 0, ended ? str_find(line, MD_HIDDEN_END) + 1 : line.len);
    cmark_node *n = md_block_open(ext, parser, parent, e);
    cmark_node *title = md_block_open(ext, parser, n, (void *)md_tag_mark);
    cmark_node_set_string_content(title, arena_c(r->a, tag));
    e->whole = is_end(tag, e->name, false);
    e->base.ended = e->whole || (ended && behind.len && is_end(line, e->name, false));
    // What stands behind the tag is a block in it, to be read from there.
    md_line_take(parser, input, behind.len ? (int)(at + tag.len) + 1 : len);
    return behind.len ? n : title;
}

// A line of a tag that goes over several.
static void take_tag_line(struct element *e, cmark_node *n, str line)
{
    size_t end = str_find(line, MD_HIDDEN_END);
    cmark_node *title = cmark_node_first_child(n);
    str before = str_c(cmark_node_get_string_content(title)),
        more = str_slice(line, 0, end < line.len ? end + 1 : end);
    cmark_node_set_string_content(title, arena_join(e->r->a, before, STR("\n"), more).ptr);
    e->in_tag = end == line.len;
    e->whole = is_end(line, e->name, false);
    e->base.ended = e->whole || (!e->in_tag && end && line.ptr[end - 1] == '/');
}

// Whether an element of the same name is open in n.
static bool inner_is_open(cmark_node *n, str name)
{
    for (cmark_node *in = cmark_node_last_child(n); in; in = cmark_node_last_child(in)) {
        const struct element *e = element_of(in);
        if (e && !e->base.ended && str_eq(e->name, name))
            return true;
    }
    return false;
}

static int match_block(cmark_syntax_extension *ext, cmark_parser *parser, unsigned char *input,
                       int len, cmark_node *n)
{
    struct element *e = element_of(n);
    size_t at = (size_t)cmark_parser_get_first_nonspace(parser);
    str line = str_trim(str_slice((str){(const char *)input, (size_t)len}, at, (size_t)len));
    int indent = cmark_parser_get_indent(parser);
    (void)ext;
    if (!e || e->base.ended)
        return 0;
    if (e->in_tag) {
        take_tag_line(e, n, line);
        md_line_take(parser, input, len);
        return 1;
    }
    if (!line.len)
        return 1;
    if (is_end(line, e->name, true) && !inner_is_open(n, e->name)) {
        e->base.ended = true;
        md_line_take(parser, input, len);
        return 1;
    }
    if (!e->measured)
        e->measured = true, e->indent = indent;
    int depth = indent < e->indent ? indent : e->indent;
    if (depth > 0)
        cmark_parser_advance_offset(parser, (const char *)input, depth, 1);
    return 1;
}

cmark_syntax_extension *md_elements_extension(struct md *r)
{
    return md_block_extension(r, "vramdoc-elements", open_block, match_block);
}

// <div class="x" markdown="1"> without the attribute that is not HTML's.
static str without_markdown(char *tag)
{
    size_t len = strlen(tag), at = 0;
    while (at + 9 < len && !(strchr(" \t\n", tag[at]) && !memcmp(tag + at + 1, "markdown", 8)))
        at++;
    size_t end = at + 9;
    if (end >= len)
        return (str){tag, len};  // it has none
    if (tag[end] == '=') {
        char quote = tag[end + 1];
        const char *close = quote == '"' || quote == '\'' ? strchr(tag + end + 2, quote)
                                                          : strpbrk(tag + end, " \t\n>");
        end = close ? (size_t)(close - tag) + (quote == '"' || quote == '\'') : len;
    }
    for (size_t i = at; i < end && i + 1 < len; i++)
        tag[i] = ' ';
    return (str){tag, len};
}

static cmark_node *html_block(struct md *r, str literal)
{
    cmark_node *n = cmark_node_new_with_mem(CMARK_NODE_HTML_BLOCK, r->mem);
    cmark_node_set_literal(n, arena_c(r->a, literal));
    return n;
}

static void put_before(cmark_node *place, cmark_node *n)
{
    if (!cmark_node_insert_before(place, n))
        cmark_node_free(n);
}

static cmark_node *text_node(struct md *r, str literal)
{
    cmark_node *n = cmark_node_new_with_mem(CMARK_NODE_TEXT, r->mem);
    cmark_node_set_literal(n, arena_c(r->a, literal));
    return n;
}

// The tags of a component that is a link round its only paragraph go into that. False for others.
static bool put_link(struct md *r, cmark_node *title, const struct element *e)
{
    cmark_node *words = cmark_node_next(title);
    if (!md_component_is_link(e->name) || !md_is(words, CMARK_NODE_PARAGRAPH) ||
        cmark_node_next(words))
        return false;
    str tag = arena_str(r->a, str_c(cmark_node_get_string_content(title)));
    char start[3] = {MD_HIDDEN_TAG, '/', 0}, close[2] = {MD_HIDDEN_END, 0};
    cmark_node_prepend_child(words, text_node(r, tag));
    cmark_node_append_child(words,
                            text_node(r, arena_join(r->a, str_c(start), e->name, str_c(close))));
    cmark_node_unlink(title);
    cmark_node_free(title);
    return true;
}

// Puts what an element holds in its place, behind its tag: a paragraph, or a block of HTML.
static void unwrap(struct md *r, cmark_node *n, struct element *e)
{
    cmark_node *title = cmark_node_first_child(n);
    bool words = e->html && !e->whole && str_eq(e->name, STR("p"));  // it is its paragraphs
    if (e->html) {
        char *tag = arena_c(r->a, str_c(cmark_node_get_string_content(title)));
        md_foreign_put_back(tag, strlen(tag));
        if (!words)
            put_before(n, html_block(r, e->whole ? str_c(tag) : without_markdown(tag)));
        cmark_node_unlink(title);
        cmark_node_free(title);
    } else if (!put_link(r, title, e)) {
        cmark_node_set_user_data(title, NULL);
        cmark_node_set_syntax_extension(title, NULL);
        cmark_node_set_type(title, CMARK_NODE_PARAGRAPH);
    }
    for (cmark_node *in; (in = cmark_node_first_child(n));)
        put_before(n, in);
    if (e->html && !e->whole && !words)
        put_before(n, html_block(r, arena_printf(r->a, "</%.*s>", STR_ARG(e->name))));
    cmark_node_unlink(n);
    cmark_node_free(n);
}

void md_elements_unwrap(struct md *r, cmark_node *parent)
{
    for (cmark_node *n = cmark_node_first_child(parent), *next; n; n = next) {
        struct element *e = element_of(n);
        md_elements_unwrap(r, n);
        next = cmark_node_next(n);
        if (e)
            unwrap(r, n, e);
    }
}
