// What vaults of Obsidian have besides GitHub's Markdown: wiki links, %%comments%%, ==marked==
// words and ^names of blocks. Source: help.obsidian.md, "Basic formatting syntax", "Internal
// links", "Embed files".
#include "gen/text/markdown_wiki.h"

#include <string.h>

#include "gen/base/path.h"
#include "gen/text/markdown_foreign_hide.h"
#include "gen/text/markdown_foreign_show.h"

enum { LONGEST = 1000 };  // a wiki link is no longer

// [[1]](address) is a link of Markdown, and [[ ]] is nothing.
static bool is_link(str s, size_t from, size_t to)
{
    bool markdown = to + 2 < s.len && s.ptr[to + 2] == '(';
    return s.ptr[to + 1] == ']' && !markdown && str_trim(str_slice(s, from, to)).len;
}

size_t wiki_end(str s, size_t at)
{
    size_t from = at + (s.ptr[at] == '!') + 2;
    if (!str_starts(str_slice(s, from - 2, s.len), STR("[[")))
        return 0;
    for (size_t i = from; i + 1 < s.len && i < from + LONGEST; i++) {
        char c = s.ptr[i];
        if (c == '\n' || c == '[')
            return 0;
        if (c == ']')
            return is_link(s, from, i) ? i + 2 : 0;
    }
    return 0;
}

static bool is_picture(str target)
{
    static const str endings[] = {STR(".png"), STR(".jpg"),  STR(".jpeg"), STR(".gif"),
                                  STR(".svg"), STR(".webp"), STR(".avif"), STR(".bmp")};
    str ending = str_slice(target, str_rfind(target, '.'), target.len);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_eq_nocase(ending, endings[i]))
            return true;
    return false;
}

// "300" and "300x200" behind a bar are a picture's size.
static bool is_size(str words)
{
    size_t digits = 0;
    for (size_t i = 0; i < words.len; i++) {
        digits += ascii_is_digit(words.ptr[i]);
        if (!ascii_is_digit(words.ptr[i]) && words.ptr[i] != 'x')
            return false;
    }
    return digits > 0;
}

// What is shown for "Note#Heading#Part": "Note > Heading > Part"; of a block's name nothing but
// where it is all.
static str words_of(str target, arena *a)
{
    buf b = BUF_INIT;
    str part, rest = target;
    while (str_cut(&rest, '#', &part)) {
        part = str_trim(str_slice(part, 0, str_find(part, '^')));
        if (b.len && part.len)
            buf_lit(&b, " > ");
        buf_str(&b, part);
    }
    str out = b.len ? arena_str(a, buf_view(&b)) : target;
    buf_free(&b);
    return out;
}

struct wiki_link wiki_parse(str tag, arena *a)
{
    size_t from = 2 + (tag.ptr[0] == '!');
    str inside = str_slice(tag, from, tag.len - 2);
    size_t bar = str_find(inside, '|');
    str words = str_trim(str_slice(inside, bar + 1, inside.len)),
        target = str_slice(inside, 0, bar);
    if (bar < inside.len && str_ends(target, STR("\\")))  // in a table
        target.len--;
    target = str_trim(target);
    struct wiki_link w = {.target = target, .is_picture = from == 3 && is_picture(target)};
    if (w.is_picture && is_size(words))
        words = STR_NONE;
    if (words.len)
        w.words = words;
    else if (w.is_picture)
        w.words = str_slice(path_name(target), 0, str_rfind(path_name(target), '.'));
    else
        w.words = words_of(target, a);
    return w;
}

str wiki_block_id(str name, arena *a)
{
    return arena_join(a, STR("block-"), str_slice(name, 1, name.len), STR_NONE);
}

str wiki_plain(str s, arena *a)
{
    buf b = BUF_INIT;
    for (size_t at = 0, end; at < s.len; at = end) {
        end = at + str_search(str_slice(s, at, s.len), STR("[["));
        buf_str(&b, str_slice(s, at, end));
        at = end;
        end = at < s.len ? wiki_end(s, at) : at;
        if (end > at)
            buf_str(&b, wiki_parse(str_slice(s, at, end), a).words);
        else if (at < s.len)
            buf_char(&b, s.ptr[at]), end = at + 1;
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

size_t md_hide_wiki(struct hiding *h, size_t at)
{
    size_t end = wiki_end(h->body, at);
    if (!end)
        return 0;
    md_hide(h->text, at, end);
    h->changed = true;
    return end;
}

size_t md_hide_comment(struct hiding *h, size_t at)
{
    str rest = str_slice(h->body, at + 2, h->body.len);
    size_t end = at + 2 + str_search(rest, STR("%%")) + 2;
    if (end > h->body.len) {
        h->uncommented = true;  // no later one ends, either
        return 0;
    }
    h->changed = true;
    if (!md_is_one_piece(h->body, at, end, true)) {
        md_hide_blank(h->text, at, end);
        return end;
    }
    md_hide(h->text, at, end);  // blanks in front of a line's text would make code of it
    h->text[at] = MD_HIDDEN_BANG, h->text[at + 1] = MD_HIDDEN_PERCENT;
    return end;
}

static void put(cmark_node *parent, cmark_node *n)
{
    if (!cmark_node_append_child(parent, n))
        cmark_node_free(n);
}

void md_wiki_show(struct md *r, cmark_node *place, str tag)
{
    struct wiki_link w = wiki_parse(tag, r->a);
    cmark_node *n =
        cmark_node_new_with_mem(w.is_picture ? CMARK_NODE_IMAGE : CMARK_NODE_LINK, r->mem);
    cmark_node *text = cmark_node_new_with_mem(CMARK_NODE_TEXT, r->mem);
    str url = arena_join(r->a, STR("[["), w.target, STR("]]"));
    cmark_node_set_url(n, arena_c(r->a, url));
    cmark_node_set_literal(text, arena_c(r->a, w.words));
    put(n, text);
    if (!cmark_node_insert_before(place, n))
        cmark_node_free(n);
}

// "^name" at the end of a block's text names the block: the byte where it begins, text.len for
// none.
static size_t name_at(str text)
{
    size_t from = text.len;
    while (from && (ascii_is_alnum(text.ptr[from - 1]) || text.ptr[from - 1] == '-'))
        from--;
    bool named = from && from < text.len && text.ptr[from - 1] == '^' &&
                 (from == 1 || text.ptr[from - 2] == ' ');
    return named ? from - 1 : text.len;
}

// Takes the name away and leaves an anchor in front of the block's first words.
static void name_block(struct md *r, cmark_node *block)
{
    cmark_node *last = cmark_node_last_child(block);
    if (!md_is(last, CMARK_NODE_TEXT))
        return;
    str text = arena_str(r->a, md_literal(last));
    size_t at = name_at(text);
    if (at == text.len)
        return;
    str id = wiki_block_id(str_slice(text, at, text.len), r->a);
    md_anchor_put(r, cmark_node_first_child(block), id);
    cmark_node_set_literal(last, arena_c(r->a, str_trim(str_slice(text, 0, at))));
}

static void tag_before(struct md *r, cmark_node *place, const char *tag)
{
    cmark_node *n = cmark_node_new_with_mem(CMARK_NODE_HTML_INLINE, r->mem);
    cmark_node_set_literal(n, tag);
    if (!cmark_node_insert_before(place, n))
        cmark_node_free(n);
}

static void text_before(struct md *r, cmark_node *place, str text)
{
    cmark_node *n = cmark_node_new_with_mem(CMARK_NODE_TEXT, r->mem);
    cmark_node_set_literal(n, arena_c(r->a, text));
    if (!text.len || !cmark_node_insert_before(place, n))
        cmark_node_free(n);
}

// Whether "==" at at may begin marked words, or end them: no blank is beside it on that side.
static bool may_begin(str s, size_t at)
{
    return at + 2 == s.len || (!md_is_space(s.ptr[at + 2]) && s.ptr[at + 2] != '=');
}

static bool may_end(str s, size_t at)
{
    return !at || (!md_is_space(s.ptr[at - 1]) && s.ptr[at - 1] != '=');
}

// The next "==" from at on that may begin marked words, or end them; s.len for none.
static size_t next_mark(str s, size_t at, bool (*may)(str s, size_t at))
{
    for (; at < s.len; at++) {
        at += str_search(str_slice(s, at, s.len), STR("=="));
        if (at < s.len && may(s, at))
            return at;
    }
    return s.len;
}

// Where "==" begins or ends marked words; begins and ends take turns.
struct mark {
    cmark_node *text;
    size_t at;
};

struct marks {
    struct mark *items;
    size_t count, cap;
};

static void find_marks(struct md *r, cmark_node *n, struct marks *m)
{
    str s = md_literal(n);
    for (size_t at = 0;; at += 2) {
        bool begins = m->count % 2 == 0, follows = !begins && m->items[m->count - 1].text == n;
        at = next_mark(s, at + follows, begins ? may_begin : may_end);
        if (at == s.len)
            return;
        m->items = arena_grow(r->a, m->items, m->count, &m->cap, m->count + 1, sizeof *m->items);
        m->items[m->count++] = (struct mark){n, at};
    }
}

static void put_marks(struct md *r, const struct marks *m)
{
    size_t used = m->count - m->count % 2;  // one that nothing ends is text
    for (size_t i = 0; i < used;) {
        cmark_node *n = m->items[i].text;
        str s = md_literal(n);
        size_t from = 0;
        for (; i < used && m->items[i].text == n; i++) {
            text_before(r, n, str_slice(s, from, m->items[i].at));
            tag_before(r, n, i % 2 ? "</mark>" : "<mark>");
            from = m->items[i].at + 2;
        }
        cmark_node_set_literal(n, arena_c(r->a, str_slice(s, from, s.len)));
    }
}

static void mark_words(struct md *r, cmark_node *parent)
{
    struct marks m = {0};
    for (cmark_node *n = cmark_node_first_child(parent); n; n = cmark_node_next(n))
        if (md_is(n, CMARK_NODE_TEXT))
            find_marks(r, n, &m);
    put_marks(r, &m);
}

// ![words|300](picture.png), ![300](picture.png): the size is no part of the words.
static void cut_size(struct md *r, cmark_node *picture)
{
    cmark_node *last = cmark_node_last_child(picture);
    if (!md_is(last, CMARK_NODE_TEXT))
        return;
    str text = arena_str(r->a, md_literal(last));
    size_t bar = str_rfind(text, '|');
    bool alone = bar == text.len && last == cmark_node_first_child(picture);
    if (alone ? is_size(text) : is_size(str_slice(text, bar + 1, text.len)))
        cmark_node_set_literal(last, arena_c(r->a, str_trim(str_slice(text, 0, alone ? 0 : bar))));
}

void md_wiki_apply(struct md *r, cmark_node *root)
{
    for (cmark_node *n = root, *next; n; n = next) {
        next = md_next_node(n, root);
        if (md_is(n, CMARK_NODE_IMAGE))
            cut_size(r, n);
        if (md_is(n, CMARK_NODE_PARAGRAPH) || md_is(n, CMARK_NODE_HEADING))
            name_block(r, n);
        mark_words(r, n);
    }
}
