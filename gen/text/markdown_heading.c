// Headings: levels shifted to fit the page, ids as GitHub makes them and unique, what a table of
// contents needs.
#include <string.h>
#include "gen/text/cells.h"
#include "gen/base/escape.h"
#include "gen/text/html_names.h"
#include "gen/text/markdown_foreign.h"
#include "gen/text/markdown_render.h"
#include "gen/text/slugs.h"

static bool is_block(cmark_node *n)
{
    return (cmark_node_get_type(n) & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_BLOCK;
}

static cmark_node *next_block(cmark_node *n, cmark_node *root)
{
    if (cmark_node_first_child(n) && is_block(cmark_node_first_child(n)))
        return cmark_node_first_child(n);
    while (n != root && !cmark_node_next(n))
        n = cmark_node_parent(n);
    return n == root ? NULL : cmark_node_next(n);
}

// Finds how far headings are moved, so that the highest is at options.top_heading.
void md_headings_prepare(struct md *r, cmark_node *root)
{
    int highest = 7;
    if (!r->o->top_heading)
        return;
    for (cmark_node *n = root; n; n = next_block(n, root))
        if (md_is(n, CMARK_NODE_HEADING) && cmark_node_get_heading_level(n) < highest)
            highest = cmark_node_get_heading_level(n);
    if (highest < 7)
        r->heading_shift = r->o->top_heading - highest;
}

static int shifted_level(const struct md *r, int level)
{
    int shifted = level + r->heading_shift;
    return shifted < 1 ? 1 : shifted > 6 ? 6 : shifted;
}

void md_anchor_add(struct md *r, str id)
{
    struct md_result *res = r->result;
    res->anchors = arena_grow(r->a, res->anchors, res->anchor_count, &r->anchor_cap,
                              res->anchor_count + 1, sizeof *res->anchors);
    res->anchors[res->anchor_count++] = arena_str(r->a, id);
}

// The slug of a heading's text. Values of cells are left out: an id must not change with a number.
void md_heading_slug(struct md *r, buf *out, cmark_node *heading)
{
    str code;
    buf text = BUF_INIT;
    bool cell = false;
    for (cmark_node *n = md_next_node(heading, heading), *next; n; n = next) {
        enum md_kind kind = md_kind(r, n);
        bool badge = kind == K_STRONG && md_foreign_is(n);  // its words are no part of an id
        next = badge ? md_behind_node(n, heading) : md_next_node(n, heading);
        cell = kind == K_CODE && cell_inline(md_literal(n), &code);
        if (kind == K_TEXT || (kind == K_CODE && !cell))
            buf_str(&text, md_literal(n));
        else if (kind == K_SOFTBREAK || kind == K_LINEBREAK)
            buf_char(&text, ' ');
    }
    slug_text(r->o->slugs, buf_view(&text), out);
    buf_free(&text);
    while (cell && out->len && out->ptr[out->len - 1] == '-')
        out->ptr[--out->len] = 0;
}

// Takes "{#id .class}" off the end of a heading's last text. Empty when there is no id.
static str take_explicit_id(struct md *r, cmark_node *heading)
{
    cmark_node *last = cmark_node_last_child(heading);
    str s = md_is(last, CMARK_NODE_TEXT) ? md_literal(last) : STR_NONE, id = STR_NONE, classes;
    size_t end = md_attributes_at_end(s, &id, &classes);
    bool others = r->o->foreign & MD_FOREIGN_ATTRIBUTES;  // { data-toc-label="words" }
    if (end == s.len || (!others && !id.len && !classes.len))
        return STR_NONE;
    id = arena_str(r->a, id);
    cmark_node_set_literal(last, arena_c(r->a, str_slice(s, 0, end)));
    return id;
}

// The id itself, or the first of id-1, id-2, ... that is free in ids; of one without letters "_1".
// The map remembers how far the numbers have come.
static str unique_in(struct md *r, struct map *ids, str id)
{
    bool is_new;
    void **place = map_put(ids, r->a, id, &is_new);
    is_new = is_new && id.len;
    while (!is_new) {
        size_t number = (size_t)(uintptr_t)*place + 1;
        *place = (void *)(uintptr_t)number;
        str numbered = arena_printf(r->a, r->o->slugs >= MD_SLUG_PYTHON ? "%.*s_%zu" : "%.*s-%zu",
                                    STR_ARG(id), number);
        void **other = map_put(ids, r->a, numbered, &is_new);
        if (is_new) {
            *other = NULL;
            return numbered;
        }
        place = map_put(ids, r->a, id, &is_new);
        is_new = false;
    }
    *place = NULL;
    return arena_str(r->a, id);
}

static str unique_id(struct md *r, str id)
{
    return unique_in(r, &r->ids, id);
}

// "<!-- md:setting config.lang -->" as a whole heading: a hook of the tree's own puts something
// there. Its last word is shown, and names the heading.
static str take_comment(struct md *r, cmark_node *heading)
{
    cmark_node *n = cmark_node_first_child(heading);
    str s = n && !cmark_node_next(n) && md_is(n, CMARK_NODE_HTML_INLINE) ? md_literal(n) : STR_NONE;
    if (!r->o->open_html || !str_starts(s, STR("<!--")) || s.len < 7)
        return STR_NONE;
    s = str_trim(str_slice(s, 4, s.len - 3));
    size_t space = str_rfind(s, ' ');
    str word = arena_str(r->a, space == s.len ? s : str_slice(s, space + 1, s.len));
    cmark_node *code = cmark_node_new_with_mem(CMARK_NODE_CODE, r->mem);
    cmark_node_set_literal(code, word.ptr);
    if (!word.len || !cmark_node_replace(n, code)) {
        cmark_node_free(code);
        return STR_NONE;
    }
    cmark_node_free(n);
    return word;
}

static str given_id(struct md *r, cmark_node *n)
{
    str id = take_explicit_id(r, n), comment = id.len ? STR_NONE : take_comment(r, n);
    r->heading_named = id.len > 0;
    if (comment.len)
        return comment;
    if (!id.len)
        return r->heading_index < r->o->id_count ? r->o->ids[r->heading_index] : STR_NONE;
    if (map_has(&r->ids, id))
        diag_add(r->d, D_ANCHOR_DUPLICATE, md_at(r, md_block_offset(r, n)), "%.*s", STR_ARG(id));
    return id;
}

static str heading_id(struct md *r, cmark_node *n)
{
    str id = given_id(r, n);
    if (id.len)
        return unique_id(r, id);
    buf_clear(&r->scratch);
    md_heading_slug(r, &r->scratch, n);
    bool named = r->scratch.len || r->o->slugs >= MD_SLUG_PYTHON;
    return unique_id(r, named ? buf_view(&r->scratch) : STR("section"));
}

str md_term_id(struct md *r, cmark_node *n)
{
    buf_clear(&r->scratch);
    if (r->o->extensions & MD_TERM_IDS)
        md_heading_slug(r, &r->scratch, n);
    str id = r->scratch.len ? unique_id(r, buf_view(&r->scratch)) : STR_NONE;
    if (id.len)
        md_anchor_add(r, id);
    return id;
}

static void put_title_anchor(struct md *r, str id)
{
    md_anchor_add(r, id);
    buf_lit(r->out, "<span id=\"");
    escape_attribute(r->out, id);
    buf_lit(r->out, "\"></span>\n");
}

void md_first_anchor(struct md *r)
{
    str own = r->o->first_id, source = r->o->source_title_id;
    if (own.len)
        put_title_anchor(r, r->result->title_id = unique_id(r, own));
    if (own.len && r->o->slugs >= MD_SLUG_PYTHON)  // a heading as others, to its generator
        map_put(&r->own_ids, r->a, own, NULL);
    if (source.len && !map_has(&r->ids, source))
        put_title_anchor(r, unique_id(r, source));
}

// The page's title where badges or imports come before it: its template shows it, and only its
// anchor stays.
void md_title_drop(struct md *r, cmark_node *root)
{
    cmark_node *n = cmark_node_first_child(root);
    while (n && !md_is(n, CMARK_NODE_HEADING))
        n = cmark_node_next(n);
    if (!n || cmark_node_get_heading_level(n) != 1)
        return;
    buf own = BUF_INIT, shown = BUF_INIT, title = BUF_INIT;
    cmark_node *last = cmark_node_last_child(n);
    str written = md_is(last, CMARK_NODE_TEXT) ? arena_str(r->a, md_literal(last)) : STR_NONE;
    str id = take_explicit_id(r, n);
    str words = md_heading_words(r, n, md_content(n));
    slug_text(r->o->slugs, r->o->title, &title);
    slug_text(r->o->slugs, words, &shown);
    md_heading_slug(r, &own, n);
    if (str_eq(buf_view(&own), buf_view(&title)) || str_eq(buf_view(&shown), buf_view(&title))) {
        struct md_options with = *r->o;
        const struct md_options *before = r->o;
        with.first_id = id.len ? id : arena_str(r->a, buf_view(&shown));
        r->o = &with;
        md_first_anchor(r);
        r->o = before;
        cmark_node_unlink(n);
        cmark_node_free(n);
    } else if (id.len) {
        cmark_node_set_literal(last, written.ptr);  // it is another heading's, and stays there
    }
    buf_free(&own), buf_free(&shown), buf_free(&title);
}

static bool is_source_id(struct md *r, str id)
{
    for (size_t i = 0; !r->source_ids.count && i < r->o->id_count; i++)
        map_put(&r->source_ids, r->a, r->o->ids[i], NULL);
    return map_has(&r->source_ids, id);
}

// A translation's heading has its source's id, and answers to the one that its own words make,
// with the number that it has among its like. In trees of others, whose links were written for
// their generator.
static str own_id(struct md *r, cmark_node *n, str id)
{
    if (!r->o->open_html || !r->o->id_count || r->heading_named)
        return STR_NONE;
    buf_clear(&r->scratch);
    md_heading_slug(r, &r->scratch, n);
    if (!r->scratch.len && r->o->slugs < MD_SLUG_PYTHON)
        return STR_NONE;
    str own = unique_in(r, &r->own_ids, arena_str(r->a, buf_view(&r->scratch)));
    bool taken = str_eq(own, id) || map_has(&r->ids, own) || is_source_id(r, own);
    return taken ? STR_NONE : unique_id(r, own);
}

void md_heading_enter(struct md *r, cmark_node *n)
{
    md_block_add(r, n, 'h', r->leaf_content, true);
    str id = heading_id(r, n);
    md_anchor_add(r, id);
    str own = own_id(r, n, id);
    r->heading_index++;
    r->heading_id = id;
    int level = shifted_level(r, cmark_node_get_heading_level(n));
    char tag[9] = {'<', 'h', (char)('0' + level), ' ', 'i', 'd', '=', '"', 0};
    md_cr(r);
    buf_put(r->out, tag, 8);
    escape_attribute(r->out, id);
    if (r->stale)
        buf_lit(r->out, "\" class=\"stale");
    buf_lit(r->out, "\">");
    if (own.len) {
        md_anchor_add(r, own);
        buf_lit(r->out, "<span id=\"");
        escape_attribute(r->out, own);
        buf_lit(r->out, "\"></span>");
    }
    r->heading_html = r->out->len;
}

static void note_heading(struct md *r, int level)
{
    struct md_result *res = r->result;
    str html = str_trim(str_slice(buf_view(r->out), r->heading_html, r->out->len));
    str unlinked = md_html_unlinked(r, html);
    res->headings = arena_grow(r->a, res->headings, res->heading_count, &r->heading_cap,
                               res->heading_count + 1, sizeof *res->headings);
    res->headings[res->heading_count++] = (struct md_heading){
        .level = level, .id = r->heading_id, .html = unlinked, .text = md_html_plain(r, unlinked)};
}

void md_heading_leave(struct md *r, cmark_node *n)
{
    int level = shifted_level(r, cmark_node_get_heading_level(n));
    note_heading(r, level);
    md_stale_mark(r);
    if (!r->links_open) {  // by raw HTML: a link holds no other
        buf_lit(r->out, "<a class=\"anchor\" href=\"#");
        escape_attribute(r->out, r->heading_id);
        buf_lit(r->out, "\" aria-hidden=\"true\" tabindex=\"-1\">#</a>");
    }
    char tag[6] = {'<', '/', 'h', (char)('0' + level), '>', '\n'};
    buf_put(r->out, tag, sizeof tag);
}

// Footnote marks go with what they hold, links only lose their tags.
str md_html_unlinked(struct md *r, str html)
{
    static const str mark = STR("<sup class=\"fnref\""), mark_end = STR("</sup>");
    if (!str_has(html, STR("<a ")) && !str_has(html, mark))
        return arena_str(r->a, html);
    buf_clear(&r->scratch);
    while (html.len) {
        size_t n = str_find(html, '<');
        buf_str(&r->scratch, str_slice(html, 0, n));
        html = str_slice(html, n, html.len);
        size_t tag = str_find(html, '>') + 1;
        if (str_starts(html, mark))
            tag = str_search(html, mark_end) + mark_end.len;
        else if (!str_starts(html, STR("<a ")) && !str_starts(html, STR("</a>")))
            buf_str(&r->scratch, str_slice(html, 0, tag));
        html = str_slice(html, tag, html.len);
    }
    return arena_str(r->a, buf_view(&r->scratch));
}

str md_html_plain(struct md *r, str html)
{
    if (str_find(html, '<') == html.len && str_find(html, '&') == html.len &&
        str_find(html, '\n') == html.len)
        return html;
    buf text = BUF_INIT;
    buf_clear(&r->scratch);
    while (html.len) {
        size_t n = str_find(html, '<');
        buf_str(&r->scratch, str_slice(html, 0, n));
        html = str_slice(html, n, html.len);
        html = str_slice(html, str_find(html, '>') + 1, html.len);
    }
    html_unescape(buf_view(&r->scratch), &text);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\n')
            text.ptr[i] = ' ';
    str plain = arena_str(r->a, str_trim(buf_view(&text)));
    buf_free(&text);
    return plain;
}
