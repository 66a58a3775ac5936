// Inline nodes of a site's page: text, code and Lua cells, formulas, links, images; and what a
// plain fragment shares.
#include "gen/text/cells.h"
#include "gen/base/escape.h"
#include "gen/text/markdown_render.h"
#include "gen/text/math.h"

#include <string.h>

enum { LONG = 18, PIECE = 6 };  // what may break, and its shortest piece

void md_emph_enter(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "<em>");
}

void md_emph_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "</em>");
}

void md_strong_enter(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "<strong>");
}

void md_strong_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "</strong>");
}

void md_strike_enter(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "<del>");
}

void md_strike_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "</del>");
}

void md_softbreak(struct md *r, cmark_node *n)
{
    if (r->o->foreign & MD_FOREIGN_BREAKS)
        md_linebreak(r, n);
    else
        buf_char(r->out, '\n');
}

void md_link_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "</a>");
}

static void alt_node(struct md *r, cmark_node *n)
{
    switch (md_kind(r, n)) {
    case K_TEXT:
    case K_CODE:
    case K_HTML_INLINE: escape_quoted(r->out, md_literal(n)); break;
    case K_LINEBREAK:
    case K_SOFTBREAK: buf_char(r->out, ' '); break;
    default: break;
    }
}

// The text below an image, as an attribute's value.
void md_alt_text(struct md *r, cmark_node *image)
{
    for (cmark_node *n = image; (n = md_next_node(n, image));)
        alt_node(r, n);
}

bool md_is_formula_span(cmark_node *n)
{
    if (!md_is(n, CMARK_NODE_CODE))
        return false;
    cmark_node *before = cmark_node_previous(n), *after = cmark_node_next(n);
    return md_is(before, CMARK_NODE_TEXT) && str_ends(md_literal(before), STR("$")) &&
           md_is(after, CMARK_NODE_TEXT) && str_starts(md_literal(after), STR("$"));
}

void md_text(struct md *r, cmark_node *n)
{
    str s = md_literal(n);
    if (r->trim_node == n) {
        s = str_slice(s, r->trim_bytes, s.len);
        r->trim_node = NULL;
    }
    if (s.len && s.ptr[s.len - 1] == '$' && md_is_formula_span(cmark_node_next(n))) {
        s.len--;
        r->math_node = cmark_node_next(n);
        r->trim_node = cmark_node_next(cmark_node_next(n));
        r->trim_bytes = 1;
    }
    escape_text(r->out, s);
    cmark_node_set_literal(n, NULL);  // the getter's copy: freed now, the next one gets its memory
}

void md_linebreak(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "<br>\n");
}

static void formula(struct md *r, str tex, bool display)
{
    struct diag_pos at = md_at(r, md_literal_offset(r, tex));
    r->result->has_math = true;
    if (r->scan)
        escape_text(r->out, tex);
    else
        math_render(r->o->math, tex, display, at, r->d, r->out);
}

// Takes the links out of what has been printed since start: a link must not hold another.
static void unlink_from(struct md *r, size_t start)
{
    str html = md_html_unlinked(r, str_slice(buf_view(r->out), start, r->out->len));
    r->out->len = start;
    buf_str(r->out, html);
    r->out->ptr[r->out->len] = 0;
}

static bool cell(struct md *r, cmark_node *n, str literal)
{
    str code;
    if (!cell_inline(literal, &code))
        return false;
    r->result->has_figures = true;
    const struct md_lua *given = md_cell_of(r, n);
    if (!given)
        return false;
    size_t start = r->out->len;
    buf_str(r->out, given->html);
    if (r->links_open)
        unlink_from(r, start);
    return true;
}

// Long code may break behind a sign, so that it need not in a word.
static void breakable(str code, buf *out)
{
    size_t from = 0;
    for (size_t i = PIECE; i + PIECE < code.len; i++)
        if (i - from >= PIECE && strchr("=(,./_:", code.ptr[i - 1]) &&
            code.ptr[i - 1] != code.ptr[i]) {
            escape_text(out, str_slice(code, from, i));
            buf_lit(out, "<wbr>");
            from = i;
        }
    escape_text(out, str_slice(code, from, code.len));
}

void md_code(struct md *r, cmark_node *n)
{
    str literal = md_literal(n);
    const struct md_formula *f = md_formula_of(n);
    if (f || r->math_node == n) {
        formula(r, literal, f && md_formula_displayed(f));
        return;
    }
    if (literal.len && literal.ptr[0] == '{' && cell(r, n, literal))
        return;
    buf_lit(r->out, "<code>");
    if (literal.len > LONG)
        breakable(literal, r->out);
    else
        escape_text(r->out, literal);
    buf_lit(r->out, "</code>");
}

void md_link_note(struct md *r, str url, size_t offset, bool is_image)
{
    struct md_result *res = r->result;
    res->links = arena_grow(r->a, res->links, res->link_count, &r->link_cap, res->link_count + 1,
                            sizeof *res->links);
    res->links[res->link_count++] =
        (struct md_link){.destination = url, .offset = offset, .is_image = is_image};
}

static void note(struct md *r, cmark_node *n, bool is_image)
{
    md_link_note(r, arena_str(r->a, md_url(n)), md_link_offset(r, n), is_image);
}

static void put_url(struct md *r, str url)
{
    if (r->o->gaps)
        md_gap_address(r);
    else if (r->o->unsafe)
        escape_href(r->out, url);
    else
        escape_url(r->out, url);
}

// A wiki link to a note that is not written yet has no address.
static void put_href(struct md *r, str url)
{
    if (r->o->gaps && str_starts(url, STR("[["))) {
        buf_lit(r->out, "<a");
        md_gap_href(r);
        return;
    }
    buf_lit(r->out, "<a href=\"");
    put_url(r, url);
    buf_char(r->out, '"');
}

void md_put_title(struct md *r, cmark_node *n)
{
    str title = md_title(n);
    if (!title.len)
        return;
    buf_lit(r->out, " title=\"");
    escape_quoted(r->out, title);
    buf_char(r->out, '"');
}

void md_link_enter(struct md *r, cmark_node *n)
{
    note(r, n, false);
    r->bare_links = r->bare_links << 1 | (r->links_open > 0);
    if (r->links_open)  // of raw HTML, or one around an address in <>
        return;
    r->links_open++;
    put_href(r, md_url(n));
    md_put_title(r, n);
    buf_char(r->out, '>');
}

void md_site_link_leave(struct md *r, cmark_node *n)
{
    bool bare = r->bare_links & 1;
    r->bare_links >>= 1;
    if (bare)
        return;
    r->links_open--;
    md_link_leave(r, n);
}

void md_image(struct md *r, cmark_node *n)
{
    note(r, n, true);
    buf_lit(r->out, "<img src=\"");
    put_url(r, md_url(n));
    buf_lit(r->out, "\" alt=\"");
    md_alt_text(r, n);
    buf_char(r->out, '"');
    md_put_title(r, n);
    if (r->o->gaps)
        md_gap_size(r);
    buf_lit(r->out, " loading=\"lazy\" decoding=\"async\">");
    r->skip_children = true;
}
