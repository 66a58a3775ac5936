// Bold text in Chinese, Japanese and Korean, which is written without spaces: CommonMark takes "**"
// between a sign of punctuation and a letter for the wrong side of a pair, so that "**(a)**" next
// to such letters stays as it is written. Jekyll's and MkDocs's parsers, and whoever wrote it, mean
// bold. Source: spec.commonmark.org, "right-flanking delimiter run".
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "gen/base/bytes16.h"
#include "gen/text/markdown_render.h"

// A "**" in a text, and which side of a pair it may be.
struct mark {
    cmark_node *node;
    size_t at;
    bool opens, closes;
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
    return (struct mark){.node = n,
                         .at = at,
                         .opens = !room_behind && (!sign_behind || room_before || sign_before ||
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

// Everything between two marks becomes bold. The text behind the second, to go on with.
static cmark_node *wrap(struct md *r, struct mark open, struct mark close)
{
    cmark_node *strong = cmark_node_new_with_mem(CMARK_NODE_STRONG, r->mem), *behind = close.node;
    str first = arena_str(r->a, md_literal(open.node)),
        last = arena_str(r->a, md_literal(close.node));
    cmark_node_insert_after(open.node, strong);
    cmark_node_set_literal(open.node, arena_c(r->a, str_slice(first, 0, open.at)));
    if (open.node == close.node) {
        cmark_node_append_child(strong, new_text(r, str_slice(first, open.at + 2, close.at)));
        cmark_node_insert_after(strong,
                                behind = new_text(r, str_slice(last, close.at + 2, last.len)));
        return behind;
    }
    cmark_node_append_child(strong, new_text(r, str_slice(first, open.at + 2, first.len)));
    for (cmark_node *n = cmark_node_next(strong), *next; n != close.node; n = next) {
        next = cmark_node_next(n);
        cmark_node_append_child(strong, n);
    }
    cmark_node_append_child(strong, new_text(r, str_slice(last, 0, close.at)));
    cmark_node_set_literal(close.node, arena_c(r->a, str_slice(last, close.at + 2, last.len)));
    return behind;
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

// A pair costs a copy of the text that it is in, so that a text has to be short.
enum { MAX_TEXT = 16384 };

// Whether a "**" has no partner, or bold text is in bold text: marks were taken for the wrong side
// then.
static bool is_wrong(struct md *r, cmark_node *parent)
{
    size_t length = 0;
    bool wrong = false;
    for (cmark_node *n = cmark_node_first_child(parent); n && length <= MAX_TEXT;
         n = cmark_node_next(n)) {
        size_t at = 0;
        bool text = md_kind(r, n) == K_TEXT;
        length += text ? md_literal(n).len : 4;
        wrong = wrong || (text && next_mark(md_literal(n), &at));
        for (cmark_node *in = md_kind(r, n) == K_STRONG ? cmark_node_first_child(n) : NULL; in;
             in = cmark_node_next(in)) {
            length += md_kind(r, in) == K_TEXT ? md_literal(in).len : 4;
            wrong = wrong || md_kind(r, in) == K_STRONG;
        }
    }
    return wrong && length <= MAX_TEXT;
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

static void pair(struct md *r, cmark_node *parent)
{
    struct mark open = {.node = NULL};
    for (cmark_node *n = cmark_node_first_child(parent); n; n = cmark_node_next(n)) {
        for (size_t at = 0; md_kind(r, n) == K_TEXT && next_mark(md_literal(n), &at);) {
            struct mark m = mark_at(r, n, md_literal(n), at);
            at += 2;
            if (open.node && m.closes) {
                n = wrap(r, open, m);
                at = 0;
                open.node = NULL;
            } else if (m.opens) {
                open = m;
            }
        }
    }
}

// Whether a text has "**" and a letter of these languages: UTF-8's E3 to ED begin their common
// ones.
static bool may_need(str body)
{
    size_t i = 0;
    if (str_search(body, STR("**")) == body.len)
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
