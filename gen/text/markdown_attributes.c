// Attributes behind links and blocks, as kramdown, Python-Markdown and Hugo read them: never shown
// as text. An id stays; of classes those that name an alert, and where a paragraph's lines are set.
#include <string.h>

#include "gen/text/markdown_extension.h"
#include "gen/text/markdown_foreign.h"

static void drop(cmark_node *n)
{
    cmark_node_unlink(n);
    cmark_node_free(n);
}

static bool is_break(struct md *r, cmark_node *n)
{
    return n && (md_kind(r, n) == K_SOFTBREAK || md_kind(r, n) == K_LINEBREAK);
}

void md_anchor_put(struct md *r, cmark_node *place, str id)
{
    if (!id.len)
        return;
    cmark_node *open = cmark_node_new_with_mem(CMARK_NODE_HTML_INLINE, r->mem);
    cmark_node *close = cmark_node_new_with_mem(CMARK_NODE_HTML_INLINE, r->mem);
    cmark_node_set_literal(open, arena_printf(r->a, "<a id=\"%.*s\">", STR_ARG(id)).ptr);
    cmark_node_set_literal(close, "</a>");
    if (!cmark_node_insert_before(place, open))
        cmark_node_free(open);
    if (!cmark_node_insert_before(place, close))
        cmark_node_free(close);
}

// What attributes may be behind: {: .class } behind a link, a picture, code, emphasis.
static bool takes_attributes(struct md *r, cmark_node *n)
{
    if (!n)
        return false;
    enum md_kind kind = md_kind(r, n);
    return kind == K_LINK || kind == K_IMAGE || kind == K_CODE || kind == K_EMPH ||
           kind == K_STRONG || kind == K_HTML_INLINE;
}

// kramdown's list that becomes the page's contents: "* TOC" and {:toc}.
static bool is_contents(str attributes)
{
    return str_has(attributes, STR(":toc"));
}

static cmark_node *list_of(cmark_node *n)
{
    while (n && !md_is(n, CMARK_NODE_LIST))
        n = cmark_node_parent(n);
    return n;
}

// Whether n begins on the line behind the last of before: nothing is between them.
static bool adjoins(cmark_node *before, cmark_node *n)
{
    return before && n && cmark_node_get_start_line(n) == cmark_node_get_end_line(before) + 1;
}

// What the attributes of a paragraph that holds nothing else are of: the block before it, or else
// the one behind it.
static cmark_node *block_of(cmark_node *paragraph)
{
    cmark_node *before = cmark_node_previous(paragraph), *behind = cmark_node_next(paragraph);
    if (adjoins(before, paragraph))
        return before;
    return adjoins(paragraph, behind) ? behind : NULL;
}

static void apply_class(struct md *r, cmark_node *block, str class)
{
    static const char *const places[] = {"center", "left", "right"};
    cmark_node *parent = block ? cmark_node_parent(block) : NULL;
    bool quoted = md_is(parent, CMARK_NODE_BLOCK_QUOTE) &&
                  cmark_node_first_child(parent) == cmark_node_last_child(parent);
    if (quoted)
        block = parent;  // whose last line they are written behind
    enum md_kind kind = block ? md_kind(r, block) : K_NONE;
    if (!class.len || (kind != K_PARAGRAPH && kind != K_QUOTE && kind != K_LIST) ||
        md_admonition_wrap(r, block, class))
        return;
    for (size_t i = 0; kind == K_PARAGRAPH && i < sizeof places / sizeof *places; i++)
        if (str_eq(class, str_c(places[i])))
            cmark_node_set_user_data(block, (void *)places[i]);
}

// One text. False when its block has gone.
static bool apply_text(struct md *r, cmark_node *n, cmark_node *block)
{
    str id, classes, text = arena_str(r->a, md_literal(n));
    cmark_node *before = cmark_node_previous(n), *behind = cmark_node_next(n);
    size_t length = md_attributes(text, &id, &classes);
    bool colon = length > 1 && text.ptr[1] == ':';
    if (!(r->o->foreign & MD_FOREIGN_ATTRIBUTES) && !colon)
        return true;  // in trees of no kind only kramdown's own, with their colon
    bool heading = md_is(block, CMARK_NODE_HEADING), last = length == text.len && !behind;
    if (heading && (last || !length))
        return true;  // the heading's own, which are read with its id
    if (length && takes_attributes(r, before)) {
        do {  // {:style="width:5em"}{:.border}
            md_anchor_put(r, n, id);
            text = str_slice(text, length, text.len);
        } while ((length = md_attributes(text, &id, &classes)));
        cmark_node_set_literal(n, arena_c(r->a, text));
        return true;
    }
    if (heading)
        return true;
    bool own_line = length && !str_trim(str_slice(text, length, text.len)).len &&
                    (!before || is_break(r, before));
    if (!own_line) {
        size_t end = md_attributes_at_end(text, &id, &classes);
        if (end < text.len && !behind &&
            (id.len || classes.len || text.ptr[end + (text.ptr[end] == ' ') + 1] == ':')) {
            md_anchor_put(r, n, id);
            cmark_node_set_literal(n, arena_c(r->a, str_slice(text, 0, end)));
        }
        return true;
    }
    if (is_contents(text) && list_of(block)) {
        drop(list_of(block));
        return false;
    }
    md_anchor_put(r, n, id);
    apply_class(r, before || behind ? block : block_of(block), classes);
    if (before)
        drop(before);
    else if (is_break(r, behind))
        drop(behind);
    drop(n);
    return true;
}

// {: .icon
// width="70"}: the lines of one list of attributes become one text.
static void join_lines(struct md *r, cmark_node *n)
{
    str text = md_literal(n);
    if (!str_starts(text, STR("{:")) || str_find(text, '}') < text.len)
        return;
    buf b = BUF_INIT;
    buf_str(&b, text);
    cmark_node *last = NULL;
    for (cmark_node *x = cmark_node_next(n); x && (is_break(r, x) || md_kind(r, x) == K_TEXT);
         x = cmark_node_next(x)) {
        if (is_break(r, x))
            buf_char(&b, ' ');
        else
            buf_str(&b, md_literal(x));
        if (str_find(buf_view(&b), '}') == b.len)
            continue;
        last = x;
        break;
    }
    if (last)
        cmark_node_set_literal(n, b.ptr);
    while (last && last != n) {
        cmark_node *before = cmark_node_previous(last);
        drop(last);
        last = before;
    }
    buf_free(&b);
}

static bool apply_inlines(struct md *r, cmark_node *parent, cmark_node *block)
{
    for (cmark_node *n = cmark_node_first_child(parent), *next; n; n = next) {
        if (md_kind(r, n) == K_TEXT)
            join_lines(r, n);
        next = cmark_node_next(n);
        if (is_break(r, next))
            next = cmark_node_next(next);  // which may go with the text
        if (cmark_node_first_child(n) && !apply_inlines(r, n, block))
            return false;
        bool may = md_kind(r, n) == K_TEXT && strchr(cmark_node_get_literal(n), '{');
        if (may && !apply_text(r, n, block))
            return false;
    }
    return true;
}

cmark_node *md_behind_node(cmark_node *n, const cmark_node *root)
{
    while (n != root && !cmark_node_next(n))
        n = cmark_node_parent(n);
    return n == root ? NULL : cmark_node_next(n);
}

cmark_node *md_next_node(cmark_node *n, const cmark_node *root)
{
    return cmark_node_first_child(n) ? cmark_node_first_child(n) : md_behind_node(n, root);
}

void md_attributes_apply(struct md *r, cmark_node *root)
{
    size_t count = 0, cap = 0;
    cmark_node **blocks = NULL;
    for (cmark_node *n = root; n; n = md_next_node(n, root)) {
        enum md_kind kind = md_kind(r, n);
        if (kind != K_PARAGRAPH && kind != K_CELL && kind != K_HEADING)
            continue;
        blocks = arena_grow(r->a, blocks, count, &cap, count + 1, sizeof *blocks);
        blocks[count++] = n;
    }
    // From the last: a list that goes takes later blocks with it, never earlier ones.
    for (size_t i = count; i-- > 0;)
        if (apply_inlines(r, blocks[i], blocks[i]) && md_is(blocks[i], CMARK_NODE_PARAGRAPH) &&
            !cmark_node_first_child(blocks[i]))
            drop(blocks[i]);
}
