// Abbreviations: "*[HTML]: HyperText Markup Language" on a line of its own, as kramdown and
// MkDocs's abbr have it, says what each HTML of the page means. Source: python-markdown.github.io,
// "Abbreviations".
#include <string.h>
#include <unicode/uchar.h>

#include "gen/base/escape.h"
#include "gen/text/markdown_foreign_hide.h"

// What is abbreviated by more bytes is no word.
enum { LONGEST = 64 };

struct md_abbreviations {
    struct map meanings;        // word -> str *
    bool lengths[LONGEST + 1];  // that words have
    bool begins[256];           // bytes that words begin with
};

// "*[word]: meaning" behind at most three blanks.
static bool read_definition(str line, str *word, str *meaning)
{
    size_t indent = 0;
    while (indent < line.len && line.ptr[indent] == ' ')
        indent++;
    line = str_slice(line, indent, line.len);
    size_t close = str_find(line, ']');
    if (indent > 3 || !str_starts(line, STR("*[")) || close == line.len)
        return false;
    str behind = str_slice(line, close + 1, line.len);
    behind = str_starts(behind, STR(" ")) ? str_slice(behind, 1, behind.len) : behind;
    *word = str_trim(str_slice(line, 2, close));
    *meaning = str_trim(str_slice(behind, 1, behind.len));
    return str_starts(behind, STR(":")) && word->len && str_find(*word, '\\') == word->len;
}

bool md_hide_abbreviation(struct hiding *h, str line)
{
    str word, meaning;
    struct md *r = h->abbreviating;
    if (!r || !read_definition(line, &word, &meaning))
        return false;
    if (word.len > LONGEST || !meaning.len)
        return true;
    if (!r->abbreviations)
        r->abbreviations = arena_new(r->a, struct md_abbreviations, 1);
    struct md_abbreviations *all = r->abbreviations;
    str *kept = arena_new(r->a, str, 1);
    *kept = meaning;
    *map_put(&all->meanings, r->a, word, NULL) = kept;
    all->lengths[word.len] = true;
    all->begins[(unsigned char)word.ptr[0]] = true;
    return true;
}

// Whether a word may begin or end beside this: letters of scripts that set no blanks are no part of
// it.
static bool is_edge(uint32_t c)
{
    return c >= 0x2E80 || (c != '_' && !u_isalnum((UChar32)c));
}

static bool is_edge_before(str s, size_t at)
{
    size_t start = at, n;
    while (start && at - start < 4 && ((unsigned char)s.ptr[start - 1] & 0xC0) == 0x80)
        start--;
    return !at || is_edge(utf8_next(str_slice(s, start ? start - 1 : 0, at), &n));
}

static bool is_edge_behind(str s, size_t at)
{
    size_t n;
    return at >= s.len || is_edge(utf8_next(str_slice(s, at, s.len), &n));
}

// The longest abbreviation at s[at]; NULL for none.
static const str *abbreviated(const struct md_abbreviations *all, str s, size_t at, size_t *len)
{
    if (!all->begins[(unsigned char)s.ptr[at]] || !is_edge_before(s, at))
        return NULL;
    for (size_t n = s.len - at < LONGEST ? s.len - at : LONGEST; n; n--) {
        if (!all->lengths[n] || !is_edge_behind(s, at + n))
            continue;
        const str *meaning = map_get(&all->meanings, str_slice(s, at, at + n));
        *len = n;
        if (meaning)
            return meaning;
    }
    return NULL;
}

static void put_before(struct md *r, cmark_node *place, cmark_node_type type, str literal)
{
    cmark_node *n = cmark_node_new_with_mem(type, r->mem);
    cmark_node_set_literal(n, arena_c(r->a, literal));
    if (!literal.len || !cmark_node_insert_before(place, n))
        cmark_node_free(n);
}

static void put_abbreviation(struct md *r, cmark_node *place, str word, str meaning)
{
    buf tag = BUF_INIT;
    buf_lit(&tag, "<abbr title=\"");
    escape_attribute(&tag, meaning);
    buf_lit(&tag, "\">");
    put_before(r, place, CMARK_NODE_HTML_INLINE, buf_view(&tag));
    put_before(r, place, CMARK_NODE_TEXT, word);
    put_before(r, place, CMARK_NODE_HTML_INLINE, STR("</abbr>"));
    buf_free(&tag);
}

// Splits a text at each abbreviation in it.
static void mark_text(struct md *r, cmark_node *text)
{
    str s = arena_str(r->a, md_literal(text));
    size_t from = 0, len;
    for (size_t at = 0; at < s.len; at++) {
        const str *meaning = abbreviated(r->abbreviations, s, at, &len);
        if (!meaning)
            continue;
        put_before(r, text, CMARK_NODE_TEXT, str_slice(s, from, at));
        put_abbreviation(r, text, str_slice(s, at, at + len), *meaning);
        from = at + len, at = from - 1;
    }
    if (from)
        cmark_node_set_literal(text, arena_c(r->a, str_slice(s, from, s.len)));
}

void md_abbreviations_apply(struct md *r, cmark_node *root)
{
    for (cmark_node *n = r->abbreviations ? root : NULL, *next; n; n = next) {
        bool whole = md_is(n, CMARK_NODE_LINK) || md_is(n, CMARK_NODE_IMAGE);
        next = whole ? md_behind_node(n, root) : md_next_node(n, root);
        if (md_is(n, CMARK_NODE_TEXT))
            mark_text(r, n);
    }
}
