// Footnotes: marks in the text, the notes at the page's end, links back in the page's language.
#include <stdlib.h>

#include "gen/base/escape.h"
#include "gen/text/markdown_render.h"

// cmark-gfm has no getter for what it knows of notes. It puts their definitions at the end of the
// document in the order of their numbers, and a mark's literal is its note's number; how often a
// note is referred to is counted here.
struct mark {
    cmark_node *node;
    int line;  // of the block that it is in
    size_t index;
};

// Marks are numbered as they are in the source, where definitions are between other blocks.
static int by_line(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static size_t number_of(cmark_node *mark)
{
    return (size_t)strtoul(md_literal(mark).ptr, NULL, 10);
}

static int line_of(cmark_node *n)
{
    while (n && (cmark_node_get_type(n) & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_INLINE)
        n = cmark_node_parent(n);
    return cmark_node_get_start_line(n);
}

static void count_marks(struct md *r, struct mark *marks, size_t count)
{
    if (count)
        qsort(marks, count, sizeof *marks, by_line);
    for (size_t i = 0; i < count; i++) {
        size_t number = number_of(marks[i].node);
        if (number - 1 < r->note_count)
            cmark_node_set_user_data(marks[i].node, (void *)(uintptr_t)++r->notes[number - 1].uses);
    }
}

void md_footnotes_prepare(struct md *r, cmark_node *root)
{
    struct mark *marks = NULL;
    size_t count = 0, cap = 0;
    cmark_node *n = cmark_node_last_child(root);
    for (r->note_count = 0; md_is(n, CMARK_NODE_FOOTNOTE_DEFINITION); n = cmark_node_previous(n))
        r->note_count++;
    if (!r->note_count)
        return;
    r->notes = arena_new(r->a, struct md_note, r->note_count);
    n = cmark_node_last_child(root);
    for (size_t i = r->note_count; i-- > 0; n = cmark_node_previous(n))
        r->notes[i].definition = n;
    cmark_iter *all = cmark_iter_new(root);
    for (cmark_event_type event; (event = cmark_iter_next(all)) != CMARK_EVENT_DONE;) {
        n = cmark_iter_get_node(all);
        if (event != CMARK_EVENT_ENTER || !md_is(n, CMARK_NODE_FOOTNOTE_REFERENCE))
            continue;
        marks = arena_grow(r->a, marks, count, &cap, count + 1, sizeof *marks);
        marks[count] = (struct mark){n, line_of(n), count};
        count++;
    }
    cmark_iter_free(all);
    count_marks(r, marks, count);
}

str md_footnote_label_of(struct md *r, cmark_node *mark)
{
    size_t number = number_of(mark);
    if (number - 1 >= r->note_count)
        return STR_NONE;
    return md_footnote_label(r, r->notes[number - 1].definition);
}

unsigned md_footnote_nth(cmark_node *mark)
{
    return (unsigned)(uintptr_t)cmark_node_get_user_data(mark);
}

unsigned md_footnote_uses(const struct md *r)
{
    return r->footnote - 1 < r->note_count ? r->notes[r->footnote - 1].uses : 0;
}

// Ids hold a colon, which no heading's id can.
static void put_id(struct md *r, const char *prefix, str number, unsigned nth)
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
    str number = md_literal(n);
    if (r->links_open) {  // a link must not hold another: the mark is only a mark
        buf_lit(r->out, "<sup class=\"fnref\" id=\"");
        put_id(r, "fnref:", number, md_footnote_nth(n));
        buf_lit(r->out, "\">");
        buf_str(r->out, number);
        buf_lit(r->out, "</sup>");
        return;
    }
    buf_lit(r->out, "<sup class=\"fnref\"><a href=\"#fn:");
    buf_str(r->out, number);
    buf_lit(r->out, "\" id=\"");
    put_id(r, "fnref:", number, md_footnote_nth(n));
    buf_lit(r->out, "\" role=\"doc-noteref\" aria-label=\"");
    put_name(r, md_word(r, MD_FOOTNOTES_REF), number);
    buf_lit(r->out, "\">");
    buf_str(r->out, number);
    buf_lit(r->out, "</a></sup>");
}

static void section_open(struct md *r)
{
    buf_lit(r->out, "<section class=\"footnotes\" role=\"doc-endnotes\" aria-label=\"");
    escape_attribute(r->out, md_word(r, MD_FOOTNOTES_TITLE));
    buf_lit(r->out, "\">\n<ol>\n");
}

void md_footnote_enter(struct md *r, cmark_node *n)
{
    char digits[24];
    size_t i = sizeof digits;
    if (!r->footnote++) {
        md_tags_close(r, cmark_node_parent(n));
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
void md_footnote_backlinks(struct md *r)
{
    if (r->backlinks_written == r->footnote)
        return;
    r->backlinks_written = r->footnote;
    str back = md_word(r, MD_FOOTNOTES_BACK);
    for (int i = 1; i == 1 || i <= (int)md_footnote_uses(r); i++)
        backlink(r, back, i);
}

void md_footnote_leave(struct md *r, cmark_node *n)
{
    (void)n;
    md_footnote_backlinks(r);
    md_cr(r);
    buf_lit(r->out, "</li>\n");
}

void md_footnotes_end(struct md *r, cmark_node *document)
{
    (void)document;
    if (r->footnote)
        buf_lit(r->out, "</ol>\n</section>\n");
}
