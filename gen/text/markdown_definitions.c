// Definition lists, "Term" with ": what it is" on the next line or behind an empty one, as
// kramdown, PHP Markdown Extra and MkDocs's def_list have them. A definition is one paragraph here:
// what is indented below it comes behind the list.
#include <string.h>

#include "gen/text/markdown_render.h"

static const char list_mark[] = "dl", term_mark[] = "dt", definition_mark[] = "dd";
// Of the paragraph that parts were made of: it stays in front of them, empty, since it knows its
// lines in the source.
static const char source_mark[] = "source";

const char *md_definition_element(cmark_node *n)
{
    const void *mark = n ? cmark_node_get_user_data(n) : NULL;
    return mark == list_mark || mark == term_mark || mark == definition_mark ? mark : NULL;
}

bool md_definition_source(cmark_node *n)
{
    return n && cmark_node_get_user_data(n) == source_mark;
}

static bool is_list(cmark_node *n)
{
    return md_is(n, CMARK_NODE_CUSTOM_BLOCK) && cmark_node_get_user_data(n) == list_mark;
}

// A text that begins with a colon and a space.
static bool begins_definition(struct md *r, cmark_node *n)
{
    str s = n && md_kind(r, n) == K_TEXT ? md_literal(n) : STR_NONE;
    return s.len > 2 && s.ptr[0] == ':' && (s.ptr[1] == ' ' || s.ptr[1] == '\t');
}

static bool is_break(struct md *r, cmark_node *n)
{
    return n && (md_kind(r, n) == K_SOFTBREAK || md_kind(r, n) == K_LINEBREAK);
}

static bool holds_definition(struct md *r, cmark_node *paragraph)
{
    for (cmark_node *n = cmark_node_first_child(paragraph); n; n = cmark_node_next(n))
        if (is_break(r, n) && begins_definition(r, cmark_node_next(n)))
            return true;
    return false;
}

static void cut_colon(struct md *r, cmark_node *text)
{
    str s = md_literal(text);
    size_t blanks = 1;
    while (blanks < s.len && (s.ptr[blanks] == ' ' || s.ptr[blanks] == '\t'))
        blanks++;
    cmark_node_set_literal(text, arena_c(r->a, str_slice(s, blanks, s.len)));
}

static cmark_node *new_part(struct md *r, cmark_node *list, const char *mark)
{
    cmark_node *part = cmark_node_new_with_mem(CMARK_NODE_PARAGRAPH, r->mem);
    cmark_node_set_user_data(part, (void *)mark);
    cmark_node_append_child(list, part);
    return part;
}

// Moves the lines of a paragraph to a list: terms, each a line, up to the first definition.
static void take(struct md *r, cmark_node *list, cmark_node *paragraph)
{
    cmark_node *part = NULL;
    bool defined = false;
    cmark_node_append_child(list, paragraph);
    cmark_node_set_user_data(paragraph, (void *)source_mark);
    for (cmark_node *n = cmark_node_first_child(paragraph), *next; n; n = next) {
        next = cmark_node_next(n);
        if (is_break(r, n) && (!defined || begins_definition(r, next))) {
            cmark_node_unlink(n);
            cmark_node_free(n);
            part = NULL;
            continue;
        }
        if (!part) {
            bool definition = begins_definition(r, n);
            if (definition)
                cut_colon(r, n);
            defined = defined || definition;
            part = new_part(r, list, definition ? definition_mark : term_mark);
        }
        cmark_node_append_child(part, n);
    }
}

static cmark_node *list_before(struct md *r, cmark_node *block)
{
    cmark_node *before = cmark_node_previous(block);
    if (is_list(before))
        return before;
    cmark_node *list = cmark_node_new_with_mem(CMARK_NODE_CUSTOM_BLOCK, r->mem);
    cmark_node_set_user_data(list, (void *)list_mark);
    cmark_node_insert_before(block, list);
    return list;
}

static void make_below(struct md *r, cmark_node *parent)
{
    for (cmark_node *n = cmark_node_first_child(parent), *next; n; n = next) {
        cmark_node *before = cmark_node_previous(n);
        next = cmark_node_next(n);
        if (!md_is(n, CMARK_NODE_PARAGRAPH))
            continue;
        bool first = begins_definition(r, cmark_node_first_child(n)),
             after_term = first && md_is(before, CMARK_NODE_PARAGRAPH);
        if (after_term)
            take(r, list_before(r, before), before);
        if (after_term || (first && is_list(before)) || (!first && holds_definition(r, n)))
            take(r, list_before(r, n), n);
    }
}

void md_definitions_make(struct md *r, cmark_node *root)
{
    for (cmark_node *n = root; n; n = md_next_node(n, root)) {
        enum md_kind kind = md_kind(r, n);
        bool holds_blocks =
            kind == K_DOCUMENT || kind == K_QUOTE || kind == K_ITEM || kind == K_CUSTOM_BLOCK;
        if (holds_blocks && !is_list(n))
            make_below(r, n);
    }
}
