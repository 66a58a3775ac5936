// The blocks of a site's page: paragraphs, lists with tasks, quotes and GitHub's alerts; and the
// table of all functions.
#include <string.h>

#include "gen/text/escape.h"
#include "gen/text/markdown_render.h"

bool md_in_tight_list(const cmark_node *paragraph)
{
    const cmark_node *list = paragraph->parent ? paragraph->parent->parent : NULL;
    return list && list->type == CMARK_NODE_LIST && list->as.list.tight;
}

static void leaf_enter(struct md *r, cmark_node *n)
{
    r->leaf = n;
    r->cursor = r->code_cursor = 0;
}

// Says discreetly that the source of a translated block has changed. The class is for the whole
// block.
void md_stale_mark(struct md *r)
{
    if (!r->stale)
        return;
    str word = md_word(r, "stale.mark",
                       "The original of this paragraph has changed since it was translated");
    buf_lit(r->out, " <span class=\"stale-mark\" role=\"img\" aria-label=\"");
    escape_attribute(r->out, word);
    buf_lit(r->out, "\" title=\"");
    escape_attribute(r->out, word);
    buf_lit(r->out, "\"></span>");
    r->stale = false;
}

static uint8_t paragraph_kind(const cmark_node *n)
{
    if (n->parent->type == CMARK_NODE_ITEM)
        return 'i';
    bool quoted = n->parent->type == CMARK_NODE_BLOCK_QUOTE || n->parent->type == CMARK_NODE_CUSTOM_BLOCK;
    return quoted ? 'q' : 'p';
}

// A task's box is a picture with a name: a disabled checkbox would be skipped by the keyboard and
// has no label.
static void put_box(struct md *r, bool done)
{
    str word = done ? md_word(r, "task.done", "Done") : md_word(r, "task.open", "To do");
    buf_lit(r->out, "<span class=\"box\" role=\"img\" aria-label=\"");
    escape_attribute(r->out, word);
    if (done)
        buf_lit(r->out, "\">☑</span> ");
    else
        buf_lit(r->out, "\">☐</span> ");
}

// A paragraph that is nothing but a displayed formula is that formula's block.
static cmark_node *only_formula(cmark_node *paragraph)
{
    cmark_node *only = cmark_node_first_child(paragraph);
    if (!only || cmark_node_next(only) || cmark_node_get_type(only) != CMARK_NODE_CODE)
        return NULL;
    const struct md_formula *f = md_formula_of(only);
    return f && md_formula_displayed(f) && !md_in_tight_list(paragraph) ? only : NULL;
}

static void paragraph_enter(struct md *r, cmark_node *n)
{
    leaf_enter(r, n);
    cmark_node *formula = only_formula(n);
    if (formula) {
        str tex = str_c(cmark_node_get_literal(formula));
        md_formula_block(r, n, tex, md_literal_offset(r, tex));
        r->skip_children = true;
        return;
    }
    md_block_add(r, n, paragraph_kind(n), md_content(n), true);
    if (md_caption_enter(r, n))
        return;
    bool tight = md_in_tight_list(n);
    if (!tight)
        md_cr(r);
    if (!tight && r->stale)
        buf_lit(r->out, "<p class=\"stale\">");
    else if (!tight)
        buf_lit(r->out, "<p>");
    if (n->parent->extension && n->parent->type == CMARK_NODE_ITEM && !n->prev)
        put_box(r, n->parent->as.list.checked);
    r->first_paragraph_open =
        n->parent->type == CMARK_NODE_DOCUMENT && !r->result->first_paragraph.len;
    r->first_paragraph_html = r->out->len;
}

static void first_paragraph_done(struct md *r)
{
    str html = str_slice(buf_view(r->out), r->first_paragraph_html, r->out->len);
    r->first_paragraph_open = false;
    r->result->first_paragraph = md_html_plain(r, md_html_unlinked(r, html));
}

// A paragraph that is nothing but a cell whose HTML is a block (a chart, a section) becomes that
// block: its own tag goes.
static bool leave_block_cell(struct md *r, const cmark_node *n)
{
    str html = str_slice(buf_view(r->out), r->first_paragraph_html, r->out->len);
    bool block = str_starts(html, STR("<figure")) || str_starts(html, STR("<section"));
    const cmark_node *only = n->first_child;
    if (!block || !only || only->next || only->type != CMARK_NODE_CODE || md_in_tight_list(n))
        return false;
    size_t tag = str_rfind(str_slice(buf_view(r->out), 0, r->first_paragraph_html), '<');
    memmove(r->out->ptr + tag, html.ptr, html.len + 1);
    r->out->len = tag + html.len;
    r->first_paragraph_open = r->stale = false;
    return true;
}

static void paragraph_leave(struct md *r, cmark_node *n)
{
    if (only_formula(n) || md_caption_leave(r, n) || leave_block_cell(r, n))
        return;
    if (r->first_paragraph_open)
        first_paragraph_done(r);
    md_stale_mark(r);
    if (md_in_tight_list(n))
        return;
    if (n->parent->type == CMARK_NODE_FOOTNOTE_DEFINITION && !n->next)
        md_footnote_backlinks(r, n->parent);
    buf_lit(r->out, "</p>\n");
}

static bool has_tasks(const cmark_node *list)
{
    return list->first_child && list->first_child->extension;
}

static void list_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    if (n->as.list.list_type == CMARK_BULLET_LIST)
        buf_lit(r->out, "<ul");
    else
        buf_lit(r->out, "<ol");
    if (n->as.list.list_type != CMARK_BULLET_LIST && n->as.list.start != 1)
        buf_printf(r->out, " start=\"%d\"", n->as.list.start);
    if (has_tasks(n))
        buf_lit(r->out, " class=\"tasks\"");
    buf_lit(r->out, ">\n");
}

static void list_leave(struct md *r, cmark_node *n)
{
    if (n->as.list.list_type == CMARK_BULLET_LIST)
        buf_lit(r->out, "</ul>\n");
    else
        buf_lit(r->out, "</ol>\n");
}

static void item_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    if (!n->extension)
        buf_lit(r->out, "<li>");
    else if (n->as.list.checked)
        buf_lit(r->out, "<li class=\"task done\">");
    else
        buf_lit(r->out, "<li class=\"task\">");
    if (n->extension && (!n->first_child || n->first_child->type != CMARK_NODE_PARAGRAPH))
        put_box(r, n->as.list.checked);
}

static void item_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "</li>\n");
}

static const struct { str mark, class; const char *key, *english; } alerts[] = {
    {STR("[!NOTE]"), STR("note"), "alert.note", "Note"},
    {STR("[!TIP]"), STR("tip"), "alert.tip", "Tip"},
    {STR("[!IMPORTANT]"), STR("important"), "alert.important", "Important"},
    {STR("[!WARNING]"), STR("warning"), "alert.warning", "Warning"},
    {STR("[!CAUTION]"), STR("caution"), "alert.caution", "Caution"},
};
enum { ALERT_COUNT = sizeof alerts / sizeof *alerts };

str md_alert_class(size_t alert)
{
    return alerts[alert].class;
}

str md_alert_word(struct md *r, size_t alert)
{
    return md_word(r, alerts[alert].key, alerts[alert].english);
}

// The index of the alert that a quote is, or ALERT_COUNT: its first line is the mark alone.
static size_t alert_of(const cmark_node *quote)
{
    const cmark_node *p = quote->first_child;
    const cmark_node *t = p && p->type == CMARK_NODE_PARAGRAPH ? p->first_child : NULL;
    if (!t || t->type != CMARK_NODE_TEXT || (t->next && t->next->type != CMARK_NODE_SOFTBREAK
                                             && t->next->type != CMARK_NODE_LINEBREAK))
        return ALERT_COUNT;
    size_t i = 0;
    while (i < ALERT_COUNT && !str_eq_nocase(str_trim(md_chunk(&t->as.literal)), alerts[i].mark))
        i++;
    return i;
}

// Takes the mark out of the tree; a paragraph that held nothing else goes with it.
static void drop_mark(cmark_node *quote)
{
    cmark_node *p = quote->first_child;
    cmark_node_free(p->first_child);
    if (p->first_child)
        cmark_node_free(p->first_child);
    if (!p->first_child)
        cmark_node_free(p);
}

static void quote_enter(struct md *r, cmark_node *n)
{
    size_t alert = alert_of(n);
    md_cr(r);
    if (alert == ALERT_COUNT) {
        buf_lit(r->out, "<blockquote>\n");
        return;
    }
    drop_mark(n);
    n->user_data = (void *)&alerts[alert];
    buf_lit(r->out, "<div class=\"alert ");
    buf_str(r->out, alerts[alert].class);
    buf_lit(r->out, "\" role=\"note\">\n<p class=\"alert-title\">");
    escape_text(r->out, md_alert_word(r, alert));
    buf_lit(r->out, "</p>\n");
}

static void quote_leave(struct md *r, cmark_node *n)
{
    md_cr(r);
    if (n->user_data)
        buf_lit(r->out, "</div>\n");
    else
        buf_lit(r->out, "</blockquote>\n");
}

static void rule(struct md *r, cmark_node *n)
{
    (void)n;
    md_cr(r);
    buf_lit(r->out, "<hr>\n");
}

static void heading_enter(struct md *r, cmark_node *n)
{
    leaf_enter(r, n);
    md_heading_enter(r, n);
}

static void cell_enter(struct md *r, cmark_node *n)
{
    leaf_enter(r, n);
    md_cell_enter(r, n);
}

const struct md_handler md_site_handlers[K_COUNT] = {
    [K_DOCUMENT] = {NULL, md_footnotes_end},
    [K_QUOTE] = {quote_enter, quote_leave},
    [K_LIST] = {list_enter, list_leave},
    [K_ITEM] = {item_enter, item_leave},
    [K_CODE_BLOCK] = {md_code_block, NULL},
    [K_HTML_BLOCK] = {md_html_block, NULL},
    [K_CUSTOM_BLOCK] = {md_admonition_enter, md_admonition_leave},
    [K_PARAGRAPH] = {paragraph_enter, paragraph_leave},
    [K_HEADING] = {heading_enter, md_heading_leave},
    [K_RULE] = {rule, NULL},
    [K_FOOTNOTE] = {md_footnote_enter, md_footnote_leave},
    [K_TABLE] = {md_table_enter, md_table_leave},
    [K_ROW] = {md_row_enter, md_row_leave},
    [K_CELL] = {cell_enter, md_cell_leave},
    [K_TEXT] = {md_text, NULL},
    [K_SOFTBREAK] = {md_softbreak, NULL},
    [K_LINEBREAK] = {md_linebreak, NULL},
    [K_CODE] = {md_code, NULL},
    [K_HTML_INLINE] = {md_html_inline, NULL},
    [K_EMPH] = {md_emph_enter, md_emph_leave},
    [K_STRONG] = {md_strong_enter, md_strong_leave},
    [K_LINK] = {md_link_enter, md_site_link_leave},
    [K_IMAGE] = {md_image, NULL},
    [K_FOOTNOTE_REF] = {md_footnote_ref, NULL},
    [K_STRIKE] = {md_strike_enter, md_strike_leave},
};
