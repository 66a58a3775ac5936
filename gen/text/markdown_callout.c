// Quotes that begin with [!TYPE], a sign that they fold, and a title, as Obsidian, mdBook and
// themes of Hugo have them: alerts. GitHub's own, five types alone on their line, are those of
// markdown_site.c. Source: help.obsidian.md/callouts.
#include <string.h>

#include "gen/text/markdown_admonition.h"

static bool is_break(cmark_node *n)
{
    return md_is(n, CMARK_NODE_SOFTBREAK) || md_is(n, CMARK_NODE_LINEBREAK);
}

static bool is_word_byte(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_';
}

// "[!TYPE]" with "+" or "-" behind it: the type, and the words of the title.
static bool read_mark(str s, str *type, char *fold, str *title)
{
    size_t n = 2;
    while (n < s.len && is_word_byte(s.ptr[n]))
        n++;
    *type = str_slice(s, 2, n);
    str rest = str_slice(s, n + 1, s.len);
    if (!str_starts(s, STR("[!")) || !type->len || n == s.len || s.ptr[n] != ']')
        return false;
    *fold = rest.len && strchr("+-", rest.ptr[0]) ? rest.ptr[0] : 0;
    rest = str_slice(rest, *fold != 0, rest.len);
    *title = str_slice(rest, rest.len > 0, rest.len);
    return !rest.len || rest.ptr[0] == ' ';
}

static void drop(cmark_node *n)
{
    cmark_node_unlink(n);
    cmark_node_free(n);
}

// Moves what is on the first line of a paragraph to the title, the mark's text aside.
static void move_line(struct md *r, cmark_node *first, str words, cmark_node *title)
{
    cmark_node *paragraph = cmark_node_parent(first), *n = cmark_node_next(first), *next;
    cmark_node_set_literal(first, arena_c(r->a, words));
    cmark_node_append_child(title, first);
    for (; n && !is_break(n); n = next) {
        next = cmark_node_next(n);
        cmark_node_append_child(title, n);
    }
    if (n)
        drop(n);
    if (!cmark_node_first_child(paragraph))
        drop(paragraph);
}

// Makes an alert of a quote; false for any other quote.
static bool make_alert(struct md *r, cmark_node *quote)
{
    cmark_node *p = cmark_node_first_child(quote),
               *t = md_is(p, CMARK_NODE_PARAGRAPH) ? cmark_node_first_child(p) : NULL;
    str mark = md_is(t, CMARK_NODE_TEXT) ? arena_str(r->a, md_literal(t)) : STR_NONE, type, words;
    char fold;
    if (!read_mark(mark, &type, &fold, &words) || md_is_alert(quote))
        return false;
    bool titled = words.len || (cmark_node_next(t) && !is_break(cmark_node_next(t)));
    struct md_admonition m = {.folds = fold != 0, .open = fold == '+'};
    md_admonition_type(r, &m, type);
    if (titled)
        m.word = NULL, m.title = arena_c(r->a, words);
    cmark_node *title = md_admonition_put(r, quote, &m);
    if (!title)
        return false;
    move_line(r, t, titled ? words : m.word ? str_c(m.word) : STR_NONE, title);
    return true;
}

void md_callouts_make(struct md *r, cmark_node *root)
{
    for (cmark_node *n = root, *next; n; n = next) {
        cmark_node *before = cmark_node_previous(n), *parent = cmark_node_parent(n);
        next = md_next_node(n, root);
        if (!md_is(n, CMARK_NODE_BLOCK_QUOTE) || !make_alert(r, n))
            continue;
        next = before ? cmark_node_next(before) : cmark_node_first_child(parent);
        next = md_next_node(next, root);  // its title
    }
}
