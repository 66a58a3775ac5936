// The blocks of a site's page: paragraphs, lists with tasks, quotes and GitHub's alerts; and the
// table of all functions.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/markdown_render.h"

bool md_in_tight_list(cmark_node *paragraph)
{
    cmark_node *list = cmark_node_parent(cmark_node_parent(paragraph));
    return md_is(list, CMARK_NODE_LIST) && cmark_node_get_list_tight(list);
}

void md_leaf_enter(struct md *r, cmark_node *n)
{
    r->leaf = n;
    r->leaf_content = md_content(n);
    r->cursor = r->code_cursor = 0;
}

// Says discreetly that the source of a translated block has changed. The class is for the whole
// block.
void md_stale_mark(struct md *r)
{
    if (!r->stale)
        return;
    str word = md_word(r, MD_STALE_MARK);
    buf_lit(r->out, " <span class=\"stale-mark\" role=\"img\" aria-label=\"");
    escape_attribute(r->out, word);
    buf_lit(r->out, "\" title=\"");
    escape_attribute(r->out, word);
    buf_lit(r->out, "\"></span>");
    r->stale = false;
}

static uint8_t paragraph_kind(cmark_node *n)
{
    if (md_is(cmark_node_parent(n), CMARK_NODE_ITEM))
        return 'i';
    bool quoted = md_is(cmark_node_parent(n), CMARK_NODE_BLOCK_QUOTE) ||
                  md_is(cmark_node_parent(n), CMARK_NODE_CUSTOM_BLOCK);
    return quoted ? 'q' : 'p';
}

// A task's box is a picture with a name: a disabled checkbox would be skipped by the keyboard and
// has no label.
static void put_box(struct md *r, bool done)
{
    str word = md_word(r, done ? MD_TASK_DONE : MD_TASK_OPEN);
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

// element: of a part of a list of definitions, NULL for none.
static void put_paragraph(struct md *r, cmark_node *n, const char *element)
{
    // Where its lines are set, NULL for where the language sets them.
    const char *place = element ? NULL : cmark_node_get_user_data(n);
    str id = element && !strcmp(element, "dt") ? md_term_id(r, n) : STR_NONE;
    md_cr(r);
    buf_char(r->out, '<');
    buf_str(r->out, element ? str_c(element) : STR("p"));
    if (id.len) {
        buf_lit(r->out, " id=\"");
        escape_attribute(r->out, id);
        buf_char(r->out, '"');
    }
    if (r->stale || place)
        buf_printf(r->out, " class=\"%s%s%s\"", r->stale ? "stale" : "",
                   r->stale && place ? " " : "", place ? place : "");
    buf_char(r->out, '>');
}

static void paragraph_enter(struct md *r, cmark_node *n)
{
    const char *element = md_definition_element(n);
    if (!element)  // the leaf of a definition is the paragraph that it was in
        md_leaf_enter(r, n);
    if (md_definition_source(n)) {
        md_block_add(r, n, paragraph_kind(n), r->leaf_content, true);
        return;
    }
    cmark_node *formula = only_formula(n);
    if (formula) {
        str tex = md_literal(formula);
        md_formula_block(r, n, tex, md_literal_offset(r, tex));
        r->skip_children = true;
        return;
    }
    if (!element)
        md_block_add(r, n, paragraph_kind(n), r->leaf_content, true);
    if (md_caption_enter(r, n))
        return;
    if (!md_in_tight_list(n))
        put_paragraph(r, n, element);
    cmark_node *parent = cmark_node_parent(n);
    if (md_is_task(parent) && !cmark_node_previous(n))
        put_box(r, cmark_gfm_extensions_get_tasklist_item_checked(parent));
    r->first_paragraph_open = md_is(parent, CMARK_NODE_DOCUMENT) && !r->result->first_paragraph.len;
    r->first_paragraph_html = r->out->len;
}

static void first_paragraph_done(struct md *r)
{
    str html = str_slice(buf_view(r->out), r->first_paragraph_html, r->out->len);
    r->first_paragraph_open = false;
    bool unread = str_starts(html, STR("<code class=\"unread\">")) &&
                  str_search(html, STR("</code>")) + 7 == html.len;
    if (!unread)  // a tag alone describes no page
        r->result->first_paragraph = md_html_plain(r, md_html_unlinked(r, html));
}

// A paragraph that is nothing but a cell whose HTML is a block (a chart, a section) becomes that
// block: its own tag goes.
static bool leave_block_cell(struct md *r, cmark_node *n)
{
    str html = str_slice(buf_view(r->out), r->first_paragraph_html, r->out->len);
    bool block = str_starts(html, STR("<figure")) || str_starts(html, STR("<div class=\"block\""));
    cmark_node *only = cmark_node_first_child(n);
    if (!block || cmark_node_next(only) || !md_is(only, CMARK_NODE_CODE) || md_in_tight_list(n))
        return false;
    size_t tag = str_rfind(str_slice(buf_view(r->out), 0, r->first_paragraph_html), '<');
    memmove(r->out->ptr + tag, html.ptr, html.len + 1);
    r->out->len = tag + html.len;
    r->first_paragraph_open = r->stale = false;
    return true;
}

static void paragraph_leave(struct md *r, cmark_node *n)
{
    if (md_definition_source(n) || only_formula(n) || md_caption_leave(r, n) ||
        leave_block_cell(r, n))
        return;
    if (r->first_paragraph_open)
        first_paragraph_done(r);
    md_stale_mark(r);
    if (md_in_tight_list(n))
        return;
    if (md_is(cmark_node_parent(n), CMARK_NODE_FOOTNOTE_DEFINITION) && !cmark_node_next(n))
        md_footnote_backlinks(r);
    const char *element = md_definition_element(n);
    buf_lit(r->out, "</");
    buf_str(r->out, element ? str_c(element) : STR("p"));
    buf_lit(r->out, ">\n");
}

static bool has_tasks(cmark_node *list)
{
    return md_is_task(cmark_node_first_child(list));
}

static void list_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    if (cmark_node_get_list_type(n) == CMARK_BULLET_LIST)
        buf_lit(r->out, "<ul");
    else
        buf_lit(r->out, "<ol");
    if (cmark_node_get_list_type(n) != CMARK_BULLET_LIST && cmark_node_get_list_start(n) != 1)
        buf_printf(r->out, " start=\"%d\"", cmark_node_get_list_start(n));
    if (has_tasks(n))
        buf_lit(r->out, " class=\"tasks\"");
    buf_lit(r->out, ">\n");
}

void md_list_leave(struct md *r, cmark_node *n)
{
    if (cmark_node_get_list_type(n) == CMARK_BULLET_LIST)
        buf_lit(r->out, "</ul>\n");
    else
        buf_lit(r->out, "</ol>\n");
}

static void item_enter(struct md *r, cmark_node *n)
{
    md_cr(r);
    if (!md_is_task(n))
        buf_lit(r->out, "<li>");
    else if (cmark_gfm_extensions_get_tasklist_item_checked(n))
        buf_lit(r->out, "<li class=\"task done\">");
    else
        buf_lit(r->out, "<li class=\"task\">");
    if (md_is_task(n) && !md_is(cmark_node_first_child(n), CMARK_NODE_PARAGRAPH))
        put_box(r, cmark_gfm_extensions_get_tasklist_item_checked(n));
}

void md_item_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "</li>\n");
}

static const struct {
    str mark, class;
    enum md_word word;
} alerts[] = {
    {STR("[!NOTE]"), STR("note"), MD_NOTE},
    {STR("[!TIP]"), STR("tip"), MD_TIP},
    {STR("[!IMPORTANT]"), STR("important"), MD_IMPORTANT},
    {STR("[!WARNING]"), STR("warning"), MD_WARNING},
    {STR("[!CAUTION]"), STR("caution"), MD_CAUTION},
};
enum { ALERT_COUNT = sizeof alerts / sizeof *alerts };

str md_alert_class(size_t alert)
{
    return alerts[alert].class;
}

str md_alert_word(struct md *r, size_t alert)
{
    return md_word(r, alerts[alert].word);
}

// The index of the alert that a quote is, or ALERT_COUNT: its first line is the mark alone.
static size_t alert_of(cmark_node *quote)
{
    cmark_node *p = cmark_node_first_child(quote);
    cmark_node *t = md_is(p, CMARK_NODE_PARAGRAPH) ? cmark_node_first_child(p) : NULL;
    cmark_node *after = cmark_node_next(t);
    bool alone = !after || md_is(after, CMARK_NODE_SOFTBREAK) || md_is(after, CMARK_NODE_LINEBREAK);
    if (!md_is(t, CMARK_NODE_TEXT) || !alone)
        return ALERT_COUNT;
    size_t i = 0;
    while (i < ALERT_COUNT && !str_eq_nocase(str_trim(md_literal(t)), alerts[i].mark))
        i++;
    return i;
}

bool md_is_alert(cmark_node *quote)
{
    return alert_of(quote) < ALERT_COUNT;
}

// Takes the mark out of the tree; a paragraph that held nothing else goes with it.
static void drop_mark(cmark_node *quote)
{
    cmark_node *p = cmark_node_first_child(quote);
    cmark_node_free(cmark_node_first_child(p));
    if (cmark_node_first_child(p))
        cmark_node_free(cmark_node_first_child(p));
    if (!cmark_node_first_child(p))
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
    cmark_node_set_user_data(n, (void *)&alerts[alert]);
    buf_lit(r->out, "<div class=\"alert ");
    buf_str(r->out, alerts[alert].class);
    buf_lit(r->out, "\" role=\"note\">\n<p class=\"alert-title\">");
    escape_text(r->out, md_alert_word(r, alert));
    buf_lit(r->out, "</p>\n");
}

static void quote_leave(struct md *r, cmark_node *n)
{
    md_cr(r);
    if (cmark_node_get_user_data(n))
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
    md_leaf_enter(r, n);
    md_heading_enter(r, n);
}

static void cell_enter(struct md *r, cmark_node *n)
{
    md_leaf_enter(r, n);
    md_cell_enter(r, n);
}

static void custom_enter(struct md *r, cmark_node *n)
{
    if (!md_definition_element(n)) {
        md_admonition_enter(r, n);
        return;
    }
    md_cr(r);
    buf_lit(r->out, "<dl>\n");
}

static void custom_leave(struct md *r, cmark_node *n)
{
    if (md_definition_element(n))
        buf_lit(r->out, "</dl>\n");
    else
        md_admonition_leave(r, n);
}

const struct md_handler md_site_handlers[K_COUNT] = {
    [K_DOCUMENT] = {NULL, md_footnotes_end},
    [K_QUOTE] = {quote_enter, quote_leave},
    [K_LIST] = {list_enter, md_list_leave},
    [K_ITEM] = {item_enter, md_item_leave},
    [K_CODE_BLOCK] = {md_code_block, NULL},
    [K_HTML_BLOCK] = {md_html_block, NULL},
    [K_CUSTOM_BLOCK] = {custom_enter, custom_leave},
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
