// Footnotes: marks in the text, the notes at the page's end, links back in the page's language.
#include "gen/text/escape.h"
#include "gen/text/markdown_render.h"

// Ids hold a colon, which no heading's id can.
static void put_id(struct md *r, const char *prefix, str number, int nth)
{
    size_t start = r->out->len;
    buf_str(r->out, str_c(prefix));
    buf_str(r->out, number);
    if (nth > 1) {
        buf_char(r->out, ':');
        buf_u64(r->out, (uint64_t)nth);
    }
    md_anchor_add(r, str_slice(buf_view(r->out), start, r->out->len));
}

// "Note {n}" with the number put in.
static void put_name(struct md *r, str word, str number)
{
    static const str place = STR("{n}");
    size_t at = str_search(word, place);
    escape_attribute(r->out, str_slice(word, 0, at));
    if (at < word.len)
        buf_str(r->out, number);
    escape_attribute(r->out, str_slice(word, at + place.len, word.len));
}

void md_footnote_ref(struct md *r, cmark_node *n)
{
    str number = md_chunk(&n->as.literal);
    if (r->links_open) {  // a link must not hold another: the mark is only a mark
        buf_lit(r->out, "<sup class=\"fnref\" id=\"");
        put_id(r, "fnref:", number, n->footnote.ref_ix);
        buf_lit(r->out, "\">");
        buf_str(r->out, number);
        buf_lit(r->out, "</sup>");
        return;
    }
    buf_lit(r->out, "<sup class=\"fnref\"><a href=\"#fn:");
    buf_str(r->out, number);
    buf_lit(r->out, "\" id=\"");
    put_id(r, "fnref:", number, n->footnote.ref_ix);
    buf_lit(r->out, "\" role=\"doc-noteref\" aria-label=\"");
    put_name(r, md_word(r, "footnotes.ref", "Note {n}"), number);
    buf_lit(r->out, "\">");
    buf_str(r->out, number);
    buf_lit(r->out, "</a></sup>");
}

static void section_open(struct md *r)
{
    buf_lit(r->out, "<section class=\"footnotes\" role=\"doc-endnotes\" aria-label=\"");
    escape_attribute(r->out, md_word(r, "footnotes.title", "Footnotes"));
    buf_lit(r->out, "\">\n<ol>\n");
}

void md_footnote_enter(struct md *r, cmark_node *n)
{
    char digits[24];
    size_t i = sizeof digits;
    if (!r->footnote++) {
        md_tags_close(r, n->parent);
        md_cr(r);
        section_open(r);
    }
    for (unsigned v = r->footnote; v; v /= 10)
        digits[--i] = (char)('0' + v % 10);
    buf_lit(r->out, "<li id=\"");
    put_id(r, "fn:", (str){digits + i, sizeof digits - i}, 1);
    buf_lit(r->out, "\">\n");
}

static void backlink(struct md *r, str back, int nth)
{
    buf_printf(r->out, " <a class=\"fnback\" role=\"doc-backlink\" href=\"#fnref:%u", r->footnote);
    if (nth > 1)
        buf_printf(r->out, ":%d", nth);
    buf_lit(r->out, "\" aria-label=\"");
    escape_attribute(r->out, back);
    buf_printf(r->out, " %u", r->footnote);
    if (nth > 1)
        buf_printf(r->out, ":%d\">↩<sup>%d</sup></a>", nth, nth);
    else
        buf_lit(r->out, "\">↩</a>");
}

// Once a note: at the end of its last paragraph, or of the note when that is no paragraph.
void md_footnote_backlinks(struct md *r, cmark_node *definition)
{
    if (r->backlinks_written == r->footnote)
        return;
    r->backlinks_written = r->footnote;
    str back = md_word(r, "footnotes.back", "Back to reference");
    for (int i = 1; i == 1 || i <= definition->footnote.def_count; i++)
        backlink(r, back, i);
}

void md_footnote_leave(struct md *r, cmark_node *n)
{
    md_footnote_backlinks(r, n);
    md_cr(r);
    buf_lit(r->out, "</li>\n");
}

void md_footnotes_end(struct md *r, cmark_node *document)
{
    (void)document;
    if (r->footnote)
        buf_lit(r->out, "</ol>\n</section>\n");
}
