// Rules of a specification: r[items.fn.async] on a line of its own names what follows, as the Rust
// Reference's preprocessor mdbook-spec has it. The line becomes the anchor r-items.fn.async.
#include "gen/text/markdown_render.h"

static bool is_break(cmark_node *n)
{
    return md_is(n, CMARK_NODE_SOFTBREAK) || md_is(n, CMARK_NODE_LINEBREAK);
}

static void drop(cmark_node *n)
{
    cmark_node_unlink(n);
    cmark_node_free(n);
}

// The name of the rule that a text is; "" for any other.
static str rule_of(str s)
{
    str name = str_slice(s, 2, s.len - 1);
    if (s.len < 4 || !str_starts(s, STR("r[")) || s.ptr[s.len - 1] != ']')
        return STR_NONE;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool word = ascii_is_alnum(c);
        if (!word && c != '.' && c != '-' && c != '_')
            return STR_NONE;
    }
    return name;
}

// The rule that n begins, and its last node: "r" and a link where the page has a definition for the
// name in brackets.
static str rule_at(struct md *r, cmark_node *n, cmark_node **last)
{
    cmark_node *link = cmark_node_next(n),
               *words = md_is(link, CMARK_NODE_LINK) ? cmark_node_first_child(link) : NULL;
    str text = arena_str(r->a, str_trim(md_literal(n)));
    *last = n;
    if (!str_eq(text, STR("r")) || !md_is(words, CMARK_NODE_TEXT))
        return rule_of(text);
    *last = link;
    return rule_of(arena_join(r->a, STR("r["), md_literal(words), STR("]")));
}

// The anchor of a rule whose line has nothing behind it: in front of the block that it names.
static void put_block(struct md *r, cmark_node *paragraph, str id)
{
    cmark_node *anchor = cmark_node_new_with_mem(CMARK_NODE_HTML_BLOCK, r->mem);
    cmark_node_set_literal(anchor,
                           arena_printf(r->a, "<div id=\"%.*s\"></div>\n", STR_ARG(id)).ptr);
    if (!cmark_node_insert_before(paragraph, anchor))
        cmark_node_free(anchor);
}

// Takes the rules away that a paragraph begins with.
static void take_rules(struct md *r, cmark_node *paragraph)
{
    for (cmark_node *n = cmark_node_first_child(paragraph), *next; md_is(n, CMARK_NODE_TEXT);
         n = next) {
        cmark_node *last;
        str name = rule_at(r, n, &last), id = arena_join(r->a, STR("r-"), name, STR_NONE);
        cmark_node *end = cmark_node_next(last);
        if (!name.len || (end && !is_break(end)))
            break;
        if (last != n)
            drop(last);
        next = end ? cmark_node_next(end) : NULL;
        if (next)
            md_anchor_put(r, next, id);
        else
            put_block(r, paragraph, id);
        drop(n);
        if (end)
            drop(end);
    }
    if (!cmark_node_first_child(paragraph))
        drop(paragraph);
}

void md_rules_make(struct md *r, cmark_node *root)
{
    for (cmark_node *n = root, *next; n; n = next) {
        next = md_is(n, CMARK_NODE_PARAGRAPH) ? md_behind_node(n, root) : md_next_node(n, root);
        if (md_is(n, CMARK_NODE_PARAGRAPH))
            take_rules(r, n);
    }
}
