// A fragment with the very bytes that cmark-gfm's own HTML renderer prints: no ids, alerts,
// highlighting or formulas.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/markdown_render.h"

static void quote_enter(struct md *r, cmark_node *n)
{
    (void)n;
    md_cr(r);
    buf_lit(r->out, "<blockquote>\n");
}

static void quote_leave(struct md *r, cmark_node *n)
{
    (void)n;
    md_cr(r);
    buf_lit(r->out, "</blockquote>\n");
}

static void list_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    if (cmark_node_get_list_type(n) == CMARK_BULLET_LIST)
        buf_lit(r->out, "<ul>\n");
    else if (cmark_node_get_list_start(n) == 1)
        buf_lit(r->out, "<ol>\n");
    else
        buf_printf(r->out, "<ol start=\"%d\">\n", cmark_node_get_list_start(n));
}

static void item_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    buf_lit(r->out, "<li>");
    if (!md_is_task(n))
        return;
    if (cmark_gfm_extensions_get_tasklist_item_checked(n))
        buf_lit(r->out, "<input type=\"checkbox\" checked=\"\" disabled=\"\" /> ");
    else
        buf_lit(r->out, "<input type=\"checkbox\" disabled=\"\" /> ");
}

static void code_block(struct md *r, cmark_node *n)
{
    str info = str_c(cmark_node_get_fence_info(n));
    size_t word = 0;
    // To cmark neither a vertical tab nor a form feed is a space.
    while (word < info.len && !strchr(" \t\r\n", info.ptr[word]))
        word++;
    md_cr(r);
    if (info.len) {
        buf_lit(r->out, "<pre><code class=\"language-");
        escape_quoted(r->out, str_slice(info, 0, word));
        buf_lit(r->out, "\">");
    } else {
        buf_lit(r->out, "<pre><code>");
    }
    escape_quoted(r->out, md_literal(n));
    buf_lit(r->out, "</code></pre>\n");
}

static void paragraph_enter(struct md *r, cmark_node *n)
{
    if (md_in_tight_list(n))
        return;
    md_cr(r);
    buf_lit(r->out, "<p>");
}

static void backlink(struct md *r, cmark_node *definition, int nth)
{
    buf_lit(r->out, "<a href=\"#fnref-");
    escape_href(r->out, md_footnote_label(r, definition));
    if (nth > 1)
        buf_printf(r->out, "-%d", nth);
    buf_lit(r->out,
            "\" class=\"footnote-backref\" data-footnote-backref aria-label=\"Back to content\">↩");
    if (nth > 1)
        buf_printf(r->out, "<sup class=\"footnote-ref\">%d</sup>", nth);
    buf_lit(r->out, "</a>");
}

static bool backlinks(struct md *r, cmark_node *definition)
{
    if (r->backlinks_written >= r->footnote)
        return false;
    r->backlinks_written = r->footnote;
    backlink(r, definition, 1);
    for (int i = 2; i <= (int)md_footnote_uses(r); i++) {
        buf_char(r->out, ' ');
        backlink(r, definition, i);
    }
    return true;
}

static void paragraph_leave(struct md *r, cmark_node *n)
{
    if (md_in_tight_list(n))
        return;
    if (md_is(cmark_node_parent(n), CMARK_NODE_FOOTNOTE_DEFINITION) && !cmark_node_next(n)) {
        buf_char(r->out, ' ');
        backlinks(r, cmark_node_parent(n));
    }
    buf_lit(r->out, "</p>\n");
}

static void heading_enter(struct md *r, cmark_node *n)
{
    char tag[4] = {'<', 'h', (char)('0' + cmark_node_get_heading_level(n)), '>'};
    md_cr(r);
    buf_put(r->out, tag, sizeof tag);
}

static void heading_leave(struct md *r, cmark_node *n)
{
    char tag[6] = {'<', '/', 'h', (char)('0' + cmark_node_get_heading_level(n)), '>', '\n'};
    buf_put(r->out, tag, sizeof tag);
}

static void rule(struct md *r, cmark_node *n)
{
    (void)n;
    md_cr(r);
    buf_lit(r->out, "<hr />\n");
}

static void footnote_enter(struct md *r, cmark_node *n)
{
    if (!r->footnote++)
        buf_lit(r->out, "<section class=\"footnotes\" data-footnotes>\n<ol>\n");
    buf_lit(r->out, "<li id=\"fn-");
    escape_href(r->out, md_footnote_label(r, n));
    buf_lit(r->out, "\">\n");
}

static void footnote_leave(struct md *r, cmark_node *n)
{
    if (backlinks(r, n))
        buf_char(r->out, '\n');
    buf_lit(r->out, "</li>\n");
}

static void footnote_ref(struct md *r, cmark_node *n)
{
    str label = md_footnote_label_of(r, n);
    buf_lit(r->out, "<sup class=\"footnote-ref\"><a href=\"#fn-");
    escape_href(r->out, label);
    buf_lit(r->out, "\" id=\"fnref-");
    escape_href(r->out, label);
    if (md_footnote_nth(n) > 1)
        buf_printf(r->out, "-%u", md_footnote_nth(n));
    buf_lit(r->out, "\" data-footnote-ref>");
    escape_href(r->out, md_literal(n));
    buf_lit(r->out, "</a></sup>");
}

static void document_leave(struct md *r, cmark_node *n)
{
    (void)n;
    if (r->footnote)
        buf_lit(r->out, "</ol>\n</section>\n");
}

static void table_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    buf_lit(r->out, "<table>");
    r->table = (struct md_table_state){.alignments = cmark_gfm_extensions_get_table_alignments(n),
                                       .columns = cmark_gfm_extensions_get_table_columns(n)};
}

static void table_leave(struct md *r, cmark_node *n)
{
    (void)n;
    md_cr(r);
    if (r->table.body)
        buf_lit(r->out, "</tbody>\n");
    buf_lit(r->out, "</table>\n");
}

static void row_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    r->table.column = 0;
    r->table.header = cmark_gfm_extensions_get_table_row_is_header(n);
    if (r->table.header) {
        buf_lit(r->out, "<thead>\n");
    } else if (!r->table.body) {
        buf_lit(r->out, "<tbody>\n");
        r->table.body = true;
    }
    buf_lit(r->out, "<tr>");
}

static void row_leave(struct md *r, cmark_node *n)
{
    (void)n;
    md_cr(r);
    buf_lit(r->out, "</tr>");
    if (r->table.header)
        buf_lit(r->out, "\n</thead>");
}

static void cell_enter(struct md *r, cmark_node *n)
{
    (void)n;
    uint8_t align = r->table.column < r->table.columns ? r->table.alignments[r->table.column] : 0;
    r->table.column++;
    md_cr(r);
    buf_put(r->out, r->table.header ? "<th" : "<td", 3);
    if (align == 'l')
        buf_lit(r->out, " align=\"left\"");
    else if (align == 'c')
        buf_lit(r->out, " align=\"center\"");
    else if (align == 'r')
        buf_lit(r->out, " align=\"right\"");
    buf_char(r->out, '>');
}

static void cell_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_put(r->out, r->table.header ? "</th>" : "</td>", 5);
}

static void text(struct md *r, cmark_node *n)
{
    escape_quoted(r->out, md_literal(n));
}

static void linebreak(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "<br />\n");
}

static void code(struct md *r, cmark_node *n)
{
    buf_lit(r->out, "<code>");
    escape_quoted(r->out, md_literal(n));
    buf_lit(r->out, "</code>");
}

static void put_address(struct md *r, str url)
{
    if (r->o->unsafe || url_is_safe(url))
        escape_href(r->out, url);
}

static void link_enter(struct md *r, cmark_node *n)
{
    buf_lit(r->out, "<a href=\"");
    put_address(r, md_url(n));
    buf_char(r->out, '"');
    md_put_title(r, n);
    buf_char(r->out, '>');
}

static void image(struct md *r, cmark_node *n)
{
    buf_lit(r->out, "<img src=\"");
    put_address(r, md_url(n));
    buf_lit(r->out, "\" alt=\"");
    md_alt_text(r, n);
    buf_char(r->out, '"');
    md_put_title(r, n);
    buf_lit(r->out, " />");
    r->skip_children = true;
}

const struct md_handler md_plain_handlers[K_COUNT] = {
    [K_DOCUMENT] = {NULL, document_leave},
    [K_QUOTE] = {quote_enter, quote_leave},
    [K_LIST] = {list_enter, md_list_leave},
    [K_ITEM] = {item_enter, md_item_leave},
    [K_CODE_BLOCK] = {code_block, NULL},
    [K_HTML_BLOCK] = {md_html_block, NULL},
    [K_PARAGRAPH] = {paragraph_enter, paragraph_leave},
    [K_HEADING] = {heading_enter, heading_leave},
    [K_RULE] = {rule, NULL},
    [K_FOOTNOTE] = {footnote_enter, footnote_leave},
    [K_TABLE] = {table_enter, table_leave},
    [K_ROW] = {row_enter, row_leave},
    [K_CELL] = {cell_enter, cell_leave},
    [K_TEXT] = {text, NULL},
    [K_SOFTBREAK] = {md_softbreak, NULL},
    [K_LINEBREAK] = {linebreak, NULL},
    [K_CODE] = {code, NULL},
    [K_HTML_INLINE] = {md_html_inline, NULL},
    [K_EMPH] = {md_emph_enter, md_emph_leave},
    [K_STRONG] = {md_strong_enter, md_strong_leave},
    [K_LINK] = {link_enter, md_link_leave},
    [K_IMAGE] = {image, NULL},
    [K_FOOTNOTE_REF] = {footnote_ref, NULL},
    [K_STRIKE] = {md_strike_enter, md_strike_leave},
};
