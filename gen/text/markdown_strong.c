// Bold text in Chinese, Japanese and Korean, which is written without spaces: CommonMark takes "**"
// between a sign of punctuation and a letter for the wrong side of a pair, so that "**(a)**" next
// to such letters stays as it is written. Jekyll's and MkDocs's parsers, and whoever wrote it, mean
// bold. Source: spec.commonmark.org, "right-flanking delimiter run".
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "gen/base/bytes16.h"
#include "gen/text/markdown_render.h"

// A "**", as a text of its own, and which side of a pair it may be.
struct mark {
    cmark_node *node;
    bool opens, closes;
};

struct marks {
    struct mark *items;
    size_t count, cap;
};

static bool is_east_asian(UChar32 c)
{
    switch (u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH)) {
    case U_EA_WIDE:
    case U_EA_FULLWIDTH:
    case U_EA_HALFWIDTH: return u_isalnum(c);
    default: return false;
    }
}

static bool is_punctuation(UChar32 c)
{
    return u_ispunct(c) || (c < 128 && c > 32 && !u_isalnum(c));
}

// The character at one end of a text is unknown when something else is there: 0 for the end of a
// line, U+FFFC otherwise.
static UChar32 beside(struct md *r, cmark_node *other)
{
    enum md_kind kind = other ? md_kind(r, other) : K_NONE;
    return !other || kind == K_SOFTBREAK || kind == K_LINEBREAK ? 0 : 0xFFFC;
}

// Of the "**" at a place of n's text.
static struct mark mark_at(struct md *r, cmark_node *n, str text, size_t at)
{
    int32_t back = (int32_t)at, on = (int32_t)at + 2, length = (int32_t)text.len;
    UChar32 before, behind;
    if (at)
        U8_PREV(text.ptr, 0, back, before);
    else
        before = beside(r, cmark_node_previous(n));
    if (on < length)
        U8_NEXT(text.ptr, on, length, behind);
    else
        behind = beside(r, cmark_node_next(n));
    bool room_before = !before || u_isUWhiteSpace(before),
         room_behind = !behind || u_isUWhiteSpace(behind);
    bool sign_before = is_punctuation(before), sign_behind = is_punctuation(behind);
    // The rules for delimiter runs, with a letter of these languages as good as a space.
    return (struct mark){.opens = !room_behind && (!sign_behind || room_before || sign_before ||
                                                   is_east_asian(before)),
                         .closes = !room_before && (!sign_before || room_behind || sign_behind ||
                                                    is_east_asian(behind))};
}

static cmark_node *new_text(struct md *r, str s)
{
    cmark_node *n = cmark_node_new_with_mem(CMARK_NODE_TEXT, r->mem);
    cmark_node_set_literal(n, arena_c(r->a, s));
    return n;
}

static cmark_node *put_text(struct md *r, cmark_node *before, str s)
{
    cmark_node *n = new_text(r, s);
    cmark_node_insert_before(before, n);
    return n;
}

// The next "**" of a text from *at on, no part of a longer run; false at its end.
static bool next_mark(str text, size_t *at)
{
    for (size_t n;
         *at < text.len && (*at += str_find(str_slice(text, *at, text.len), '*')) + 1 < text.len;
         *at += n) {
        for (n = 1; *at + n < text.len && text.ptr[*at + n] == '*';)
            n++;
        if (n == 2)
            return true;
    }
    return false;
}

// Whether a "**" has no partner, or bold text is in bold text: marks were taken for the wrong side
// then.
static bool is_wrong(struct md *r, cmark_node *parent)
{
    for (cmark_node *n = cmark_node_first_child(parent); n; n = cmark_node_next(n)) {
        size_t at = 0;
        enum md_kind kind = md_kind(r, n);
        if (kind == K_TEXT && next_mark(md_literal(n), &at))
            return true;
        for (cmark_node *in = kind == K_STRONG ? cmark_node_first_child(n) : NULL; in;
             in = cmark_node_next(in))
            if (md_kind(r, in) == K_STRONG)
                return true;
    }
    return false;
}

// Pairs that were found beside a mark without one may be the wrong ones: they become text again.
static void unwrap(struct md *r, cmark_node *parent)
{
    for (cmark_node *n = cmark_node_first_child(parent), *next; n; n = next) {
        next = cmark_node_next(n);
        if (md_kind(r, n) != K_STRONG)
            continue;
        cmark_node *first = new_text(r, STR("**")), *last = first;
        cmark_node_insert_before(n, first);
        for (cmark_node *child; (child = cmark_node_first_child(n)); last = child)
            cmark_node_insert_after(last, child);
        cmark_node_insert_after(last, new_text(r, STR("**")));
        cmark_node_unlink(n);
        next = cmark_node_next(first);
    }
    cmark_consolidate_text_nodes(parent);
}

// Takes a text apart: each mark that may be a side of a pair becomes a text of its own.
static void split(struct md *r, cmark_node *n, struct marks *marks)
{
    str text = arena_str(r->a, md_literal(n));
    size_t done = 0;
    for (size_t at = 0; next_mark(text, &at); at += 2) {
        struct mark m = mark_at(r, n, text, at);
        if (!m.opens && !m.closes)
            continue;
        put_text(r, n, str_slice(text, done, at));
        m.node = put_text(r, n, STR("**"));
        marks->items = arena_grow(r->a, marks->items, marks->count, &marks->cap, marks->count + 1,
                                  sizeof *marks->items);
        marks->items[marks->count++] = m;
        done = at + 2;
    }
    if (done)
        cmark_node_set_literal(n, arena_c(r->a, str_slice(text, done, text.len)));
}

static void drop(cmark_node *n)
{
    cmark_node_unlink(n);
    cmark_node_free(n);
}

// Everything between two marks becomes bold.
static void wrap(struct md *r, cmark_node *open, cmark_node *close)
{
    cmark_node *strong = cmark_node_new_with_mem(CMARK_NODE_STRONG, r->mem);
    cmark_node_insert_before(open, strong);
    for (cmark_node *n = cmark_node_next(open), *next; n != close; n = next) {
        next = cmark_node_next(n);
        cmark_node_append_child(strong, n);
    }
    drop(open);
    drop(close);
}

static void pair(struct md *r, cmark_node *parent)
{
    struct marks marks = {0};
    struct mark open = {.node = NULL};
    for (cmark_node *n = cmark_node_first_child(parent); n; n = cmark_node_next(n))
        if (md_kind(r, n) == K_TEXT)
            split(r, n, &marks);
    for (size_t i = 0; i < marks.count; i++) {
        struct mark m = marks.items[i];
        if (open.node && m.closes) {
            wrap(r, open.node, m.node);
            open.node = NULL;
        } else if (m.opens) {
            open = m;
        }
    }
    cmark_consolidate_text_nodes(parent);
}

// Whether a text has "**" and a letter of these languages: UTF-8's E3 to ED begin their common
// ones.
static bool may_need(str body)
{
    size_t i = 0;
    if (!str_has(body, STR("**")))
        return false;
    for (bytes16 v; i + sizeof v <= body.len; i += sizeof v) {
        v = bytes16_at(body.ptr + i);
        if (bytes16_any((bytes16)(v >= 0xE3) & (bytes16)(v <= 0xED)))
            return true;
    }
    for (; i < body.len; i++)
        if ((unsigned char)body.ptr[i] >= 0xE3 && (unsigned char)body.ptr[i] <= 0xED)
            return true;
    return false;
}

void md_strong_repair(struct md *r, cmark_node *root)
{
    // A plain fragment is what cmark-gfm makes of it.
    bool needed = !r->o->plain && may_need(str_slice(r->text, r->from, r->text.len));
    for (cmark_node *n = needed ? root : NULL; n; n = md_next_node(n, root)) {
        if (!is_wrong(r, n))
            continue;
        unwrap(r, n);
        pair(r, n);
    }
}
