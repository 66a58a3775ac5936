// Puts what was hidden from the parser back into its tree: a tag in text becomes a node of its own,
// shown as code; what encloses text is left away, and what it encloses shown; attributes go to
// headings, links and blocks, or away.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/emoji.h"
#include "gen/text/html_names.h"
#include "gen/text/markdown_extension.h"
#include "gen/text/markdown_foreign_show.h"

static const char shown_mark[] = "shown";  // of a node that stands for a tag

static enum md_kind kind_of(struct showing *s, cmark_node *n)
{
    return md_kind(s->r, n);
}

static cmark_node *node_new(struct md *r, cmark_node_type type, str literal)
{
    cmark_node *n = cmark_node_new_with_mem(type, r->mem);
    if (literal.len)
        cmark_node_set_literal(n, arena_c(r->a, literal));
    return n;
}

static void put_before(cmark_node *place, cmark_node *n)
{
    if (!cmark_node_insert_before(place, n))
        cmark_node_free(n);
}

static void put_text(struct showing *s, cmark_node *place, str text)
{
    if (text.len)
        put_before(place, node_new(s->r, CMARK_NODE_TEXT, text));
}

void md_show_unread(struct showing *s, str tag)
{
    size_t at = md_block_offset(s->r, s->block);
    if (!s->count++ || at < s->first_at)
        s->first = arena_str(s->r->a, tag), s->first_at = at;
}

static void put_code(struct showing *s, cmark_node *place, str tag)
{
    md_show_unread(s, tag);
    cmark_node *n =
        node_new(s->r, CMARK_NODE_HTML_INLINE, tag);  // which cells of tables may hold, too
    cmark_node_set_user_data(n, md_show_own());
    put_before(place, n);
}

static void put_label(struct showing *s, cmark_node *place, cmark_node_type type, str label,
                      str href)
{
    cmark_node *n = node_new(s->r, type, STR_NONE);
    cmark_node_set_user_data(n, md_show_own());
    if (type == CMARK_NODE_LINK)
        cmark_node_set_url(n, arena_c(s->r->a, href));
    cmark_node_append_child(n, node_new(s->r, CMARK_NODE_TEXT, label));
    put_before(place, n);
}

static void show_element(struct showing *s, cmark_node *place, str tag)
{
    str words, href;
    enum shown_as as = md_show_element_as(s, tag, &words, &href);
    if (as == AS_LINK)
        put_label(s, place, CMARK_NODE_LINK, words, href);
    if (as == AS_LABEL)
        put_label(s, place, CMARK_NODE_STRONG, words, STR_NONE);
    if (as == AS_OPENED)
        md_show_open(s, place, tag);
    if (as == AS_CLOSED)
        md_show_enclose(s, place, md_tag_attribute(s->opened, STR("href")), false),
            s->opened = STR_NONE;
    words = as == AS_LINK ? md_tag_attribute(tag, STR("description")) : STR_NONE;
    if (words.len)  // of a card
        put_text(s, place, arena_join(s->r->a, STR(": "), words, STR_NONE));
    if (as == AS_CODE)
        put_code(s, place, tag);
}

bool md_show_is_raw(str tag)
{
    str s = str_slice(tag, 2, tag.len - 2);
    while (s.len && strchr(" -", s.ptr[0]))
        s = str_slice(s, 1, s.len);
    while (s.len && strchr(" -", s.ptr[s.len - 1]))
        s.len--;
    return str_eq(s, STR("raw")) || str_eq(s, STR("endraw"));
}

str md_show_emoji(struct showing *s, str tag)
{
    size_t end;
    str shown = STR_NONE;
    emoji_at(tag, 0, &end, &shown);
    if (!shown.len)
        s->icon = arena_str(s->r->a, str_slice(tag, 1, tag.len - 1));
    return shown;
}

// The words of a string of JavaScript, its quotes included; false for one that is not known without
// running it.
static bool read_string(struct md *r, str s, str *words)
{
    static const char escapes[] = "\"'`\\/nt", meant[] = "\"'`\\/\n\t";
    buf b = BUF_INIT;
    bool ok = false;
    for (size_t i = 1; i < s.len; i++) {
        char c = s.ptr[i];
        if ((ok = c == s.ptr[0]))
            break;
        const char *known = c == '\\' && i + 1 < s.len ? strchr(escapes, s.ptr[i + 1]) : NULL;
        if ((c == '\\' && !known) || (c == '$' && i + 1 < s.len && s.ptr[i + 1] == '{'))
            break;
        buf_char(&b, known ? meant[known - escapes] : c);
        i += known != NULL;
    }
    *words = arena_str(r->a, buf_view(&b));
    buf_free(&b);
    return ok;
}

bool md_show_value(struct showing *s, str tag, str *words)
{
    str name = str_slice(tag, 1, tag.len - 1);
    if (tag.ptr[0] == '{' && name.len > 1 && strchr("'\"", name.ptr[0]))
        return read_string(s->r, name, words);
    bool one = tag.ptr[0] == '{' && name.len && !strchr("{%/", name.ptr[0]);
    return one && md_exported_text(&s->exports, s->r->text, name, words, s->r->a);
}

static bool is_block_html(str html)
{
    static const str names[] = {STR("<pre"), STR("<div"), STR("<p>"),   STR("<p "),
                                STR("<ul"),  STR("<ol"),  STR("<table")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(html, names[i]))
            return true;
    return false;
}

// The HTML that set:html of Astro's Fragment gives as words: a block in place of the paragraph that
// has nothing else, or each tag for itself, so that only what may stand in a page does.
static bool put_html(struct showing *s, cmark_node *place, str tag)
{
    str mark = STR("set:html="), html,
        rest = str_slice(tag, str_search(tag, mark) + mark.len, tag.len);
    if (str_starts(rest, STR("{")))
        rest = str_trim(str_slice(rest, 1, rest.len));
    if (!rest.len || !strchr("\"'`", rest.ptr[0]) || !read_string(s->r, rest, &html))
        return false;
    if (s->alone && is_block_html(html)) {
        put_before(s->block, node_new(s->r, CMARK_NODE_HTML_BLOCK, html));
        return true;
    }
    buf words = BUF_INIT;
    for (size_t n; html.len; html = str_slice(html, n, html.len)) {
        n = html.ptr[0] == '<' ? str_find(html, '>') + 1 : str_find(html, '<');
        str piece = str_slice(html, 0, n);
        if (piece.ptr[0] == '<' && piece.ptr[piece.len - 1] == '>')
            put_before(place, node_new(s->r, CMARK_NODE_HTML_INLINE, piece));
        else
            buf_clear(&words), html_unescape(piece, &words), put_text(s, place, buf_view(&words));
    }
    buf_free(&words);
    return true;
}

static void show_tag(struct showing *s, cmark_node *place, str tag)
{
    str words;
    cmark_node *picture = md_component_picture(s, tag);
    if (picture) {
        put_before(place, picture);
        return;
    }
    if (str_starts(tag, STR("<Fragment")) && put_html(s, place, tag))
        return;
    if (str_starts(tag, STR("<img")) || str_starts(tag, STR("<br"))) {
        put_before(place, node_new(s->r, CMARK_NODE_HTML_INLINE, tag));
        return;
    }
    if (tag.ptr[0] == '%')  // a comment of a vault
        return;
    if (strchr("[!", tag.ptr[0]))
        md_wiki_show(s->r, place, tag);
    else if (tag.ptr[0] == '<')
        show_element(s, place, tag);
    else if (md_may_be_shortcode(s->r, tag) && md_shortcode_show(s, place, tag))
        return;
    else if (md_show_value(s, tag, &words))
        put_text(s, place, words);
    else if (tag.ptr[0] == ':')
        put_text(s, place, md_show_emoji(s, tag));
    else if (str_starts(tag, STR("{/*")))
        return;
    else if (!md_show_is_raw(tag))
        put_code(s, place, tag);
}

// Puts back what was hidden in a literal, or in a link's address.
static void put_back(struct showing *s, cmark_node *n)
{
    enum md_kind kind = kind_of(s, n);
    bool link = kind == K_LINK || kind == K_IMAGE;
    if (!link && kind != K_CODE && kind != K_CODE_BLOCK && kind != K_HTML_BLOCK &&
        kind != K_HTML_INLINE)
        return;
    str now = link ? md_url(n) : md_literal(n);
    if (str_find(now, MD_HIDDEN_END) == now.len)
        return;
    if (kind == K_HTML_BLOCK) {
        md_show_html_block(s, n);
        return;
    }
    char *text = arena_c(s->r->a, now);
    md_foreign_put_back(text, now.len);
    if (link)
        cmark_node_set_url(n, text);
    else
        cmark_node_set_literal(n, text);
}

// The text from a node on, up to the end of the tag that begins in it at from: the tag may go over
// several lines.
static bool gather(struct showing *s, cmark_node *n, size_t from, buf *tag, cmark_node **last,
                   size_t *to)
{
    buf_clear(tag);
    for (cmark_node *x = n; x; x = cmark_node_next(x), from = 0) {
        enum md_kind kind = kind_of(s, x);
        if (kind == K_SOFTBREAK || kind == K_LINEBREAK)
            buf_char(tag, '\n');
        if (kind != K_TEXT && kind != K_SOFTBREAK && kind != K_LINEBREAK)
            return false;
        str text = kind == K_TEXT ? md_literal(x) : STR_NONE,
            rest = str_slice(text, from, text.len);
        size_t end = str_find(rest, MD_HIDDEN_END);
        buf_str(tag, str_slice(rest, 0, end + 1));
        if (end < rest.len) {
            *last = x;
            *to = from + end + 1;
            return true;
        }
    }
    return false;
}

static size_t hidden_start(str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (md_is_hidden_start(text.ptr[i]))
            return i;
    return text.len;
}

static void drop(cmark_node *n)
{
    cmark_node_unlink(n);
    cmark_node_free(n);
}

// What is behind the tag that began in n and ended in last, at to of it: the node that the walk
// goes on with.
static cmark_node *go_on_in(struct showing *s, cmark_node *n, cmark_node *last, size_t to)
{
    str text = md_literal(last);
    for (cmark_node *next; n != last; n = next) {
        next = cmark_node_next(n);
        drop(n);
    }
    if (to < text.len) {
        cmark_node_set_literal(last, arena_c(s->r->a, str_slice(text, to, text.len)));
        return last;
    }
    n = cmark_node_next(last);
    drop(last);
    return n;
}

// What is left of a text behind its last whole tag. A tag that emphasis or a link cut in two stays
// text.
static cmark_node *keep_rest(struct showing *s, cmark_node *n, str text, size_t at)
{
    cmark_node *next = cmark_node_next(n);
    char *rest = arena_c(s->r->a, str_slice(text, at, text.len));
    md_foreign_put_back(rest, text.len - at);
    if (at && at == text.len)
        drop(n);
    else if (at || memcmp(rest, text.ptr, text.len))
        cmark_node_set_literal(n, rest);
    return next;
}

// Splits a text at its tags. The node that the walk goes on with.
static cmark_node *show_text(struct showing *s, cmark_node *n)
{
    buf tag = BUF_INIT;
    cmark_node *last = n;
    str text = arena_str(s->r->a, md_literal(n));
    size_t at = 0, to = 0;
    while (last == n) {
        size_t from = at + hidden_start(str_slice(text, at, text.len));
        if (from == text.len || !gather(s, n, from, &tag, &last, &to))
            break;
        put_text(s, n, str_slice(text, at, from));
        md_foreign_put_back(tag.ptr, tag.len);
        s->alone = to == md_literal(last).len && !cmark_node_previous(n) &&
                   !cmark_node_next(last) && md_is(s->block, CMARK_NODE_PARAGRAPH);
        show_tag(s, n, buf_view(&tag));
        at = to;
    }
    buf_free(&tag);
    return last == n ? keep_rest(s, n, text, at) : go_on_in(s, n, last, to);
}

static bool is_blank(struct showing *s, cmark_node *n)
{
    enum md_kind kind = kind_of(s, n);
    return kind == K_SOFTBREAK || kind == K_LINEBREAK ||
           (kind == K_TEXT && !str_trim(md_literal(n)).len);
}

// A link that holds nothing but an icon has its name as words: "brands github" of
// :fontawesome-brands-github:.
static void name_link(struct showing *s, cmark_node *link)
{
    for (cmark_node *n = cmark_node_first_child(link); n; n = cmark_node_next(n))
        if (!is_blank(s, n))
            return;
    char *words = arena_c(s->r->a, str_slice(s->icon, str_find(s->icon, '-') + 1, s->icon.len));
    for (char *p = words; (p = strchr(p, '-'));)
        *p = ' ';
    cmark_node *text = node_new(s->r, CMARK_NODE_TEXT, str_c(words));
    if (!cmark_node_append_child(link, text))
        cmark_node_free(text);
}

static void show_inlines(struct showing *s, cmark_node *parent)
{
    for (cmark_node *n = cmark_node_first_child(parent); n;) {
        s->icon = STR_NONE;
        if (cmark_node_first_child(n))
            show_inlines(s, n);
        if (s->icon.len && kind_of(s, n) == K_LINK)
            name_link(s, n);
        n = kind_of(s, n) == K_TEXT ? show_text(s, n) : cmark_node_next(n);
    }
}

// Takes away breaks that a tag left at the ends, and a paragraph that held nothing else.
static void tidy(struct showing *s, cmark_node *block)
{
    for (cmark_node *n; (n = cmark_node_first_child(block)) && is_blank(s, n);)
        drop(n);
    for (cmark_node *n; (n = cmark_node_last_child(block)) && is_blank(s, n);)
        drop(n);
    if (!cmark_node_first_child(block))
        drop(block);
}

static cmark_node *next_node(cmark_node *n, const cmark_node *root)
{
    if (cmark_node_first_child(n))
        return cmark_node_first_child(n);
    while (n != root && !cmark_node_next(n))
        n = cmark_node_parent(n);
    return n == root ? NULL : cmark_node_next(n);
}

// Names of all elements that the page closes.
static void note_closed(struct md *r, struct map *closed)
{
    enum { LONGEST = 80 };
    for (size_t at = r->from; at + 2 < r->text.len; at++) {
        if (r->text.ptr[at] != '<' || r->text.ptr[at + 1] != '/')
            continue;
        str name = str_slice(r->text, at + 2, at + LONGEST + 1);
        size_t end = str_find(name, '>');
        if (end < name.len)
            map_put(closed, r->a, str_trim(str_slice(name, 0, end)), NULL);
    }
}

void md_foreign_show(struct md *r, cmark_node *root)
{
    struct showing s = {
        .r = r, .first = r->unread, .first_at = r->from + r->unread_at, .count = r->unread.len > 0};
    size_t count = 0, cap = 0;
    cmark_node **blocks = NULL;
    note_closed(r, &s.closed);
    for (cmark_node *n = root; n; n = next_node(n, root)) {
        enum md_kind kind = md_kind(r, n);
        put_back(&s, n);
        if (kind == K_CODE_BLOCK && cmark_node_get_user_data(n) == md_unread_mark)
            s.block = n, md_show_unread(&s, md_literal(n));
        if (kind == K_CODE_BLOCK && r->o->foreign & MD_FOREIGN_LIQUID)
            md_raw_lines_drop(n);
        if (r->o->foreign & MD_FOREIGN_SHORTCODES && (kind == K_CODE_BLOCK || kind == K_CODE))
            md_shortcode_unescape(r, n);
        if (kind != K_PARAGRAPH && kind != K_HEADING && kind != K_CELL)
            continue;
        blocks = arena_grow(r->a, blocks, count, &cap, count + 1, sizeof *blocks);
        blocks[count++] = n;
    }
    for (size_t i = 0; i < count; i++) {
        s.block = blocks[i];
        show_inlines(&s, blocks[i]);
        if (md_is(blocks[i], CMARK_NODE_PARAGRAPH))
            tidy(&s, blocks[i]);
    }
    if (s.count)
        r->result->unread = true;
    if (!s.count || r->scan)
        return;
    str line = str_slice(s.first, 0, str_find(s.first, '\n'));
    if (line.len > 60)
        line.len = 60;
    while (line.len && ((unsigned char)line.ptr[line.len - 1] & 0xC0) == 0x80)
        line.len--;
    diag_add(r->d, D_SYNTAX_UNREAD, md_at(r, s.first_at), "%.*s%s, %zu in this page", STR_ARG(line),
             line.len < s.first.len ? "..." : "", s.count);
}

void *md_show_own(void)
{
    return (void *)(uintptr_t)shown_mark;
}

bool md_foreign_is(cmark_node *n)
{
    return cmark_node_get_user_data(n) == md_show_own();
}

void md_foreign_inline(struct md *r, cmark_node *n)
{
    buf_lit(r->out, "<code class=\"unread\">");
    escape_text(r->out, md_literal(n));
    buf_lit(r->out, "</code>");
}
