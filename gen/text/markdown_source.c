// Where the tree's nodes are in the source, and what a translation follows: blocks with hashes of
// their text.
//
// cmark-gfm's own columns are wrong on lazy continuation lines and in footnotes, so only its line
// numbers of blocks are trusted; lines of a block's content are found as the tails of source lines,
// and inlines by their text in the content.
#include "gen/base/bytes16.h"
#include "gen/text/cells.h"
#include "gen/text/markdown_foreign.h"

#include <string.h>

enum {
    // How far below a block's first line its content may begin: link definitions come before it.
    LINES_SEARCHED = 400,
    // How far behind the last link the next is looked for, and how many places there are tried: a
    // bound for hostile pages.
    SEARCHED = 16384,
    TRIES = 64,
};

static void line_add(struct md *r, size_t *cap, size_t start)
{
    if (r->line_count == *cap)
        r->lines =
            arena_grow(r->a, r->lines, r->line_count, cap, r->line_count + 1, sizeof *r->lines);
    r->lines[r->line_count++] = start;
}

static const char *line_end(const char *p, const char *end)
{
    while (p < end && *p != '\n' && *p != '\r')
        p++;
    return p;
}

// CommonMark ends a line with LF, CR, or both.
void md_lines(struct md *r)
{
    const char *base = r->text.ptr + r->from, *end = r->text.ptr + r->text.len;
    size_t n = r->text.len - r->from, cap = n / 48 + 16;
    bool has_cr = n && memchr(base, '\r', n);
    r->lines = arena_new(r->a, size_t, cap);
    r->line_count = 0;
    line_add(r, &cap, 0);
    for (const char *p = base; p < end;) {
        size_t left = (size_t)(end - p);
        const char *stop = has_cr ? line_end(p, end) : memchr(p, '\n', left);
        if (!stop || stop == end)
            break;
        p = stop + 1;
        if (*stop == '\r' && p < end && *p == '\n')
            p++;
        line_add(r, &cap, (size_t)(p - base));
    }
}

str md_line_behind(const struct md *r, size_t at)
{
    str rest = str_slice(r->text, r->from + at, r->text.len);
    return str_trim(str_slice(rest, 0, str_find(rest, '\n')));
}

str md_line_at(const struct md *r, size_t number)
{
    if (!number || number > r->line_count)
        return STR_NONE;
    size_t start = r->lines[number - 1];
    size_t end = number < r->line_count ? r->lines[number] : r->text.len - r->from;
    return str_slice(r->text, r->from + start, r->from + end);
}

// A node's line, from 1, and its column, from 0, as far as cmark-gfm knows them.
static size_t start_line(cmark_node *n)
{
    int line = cmark_node_get_start_line(n);
    return line > 0 ? (size_t)line : 1;
}

static size_t start_column(cmark_node *n)
{
    int column = cmark_node_get_start_column(n);
    return column > 0 ? (size_t)column - 1 : 0;
}

size_t md_block_offset(struct md *r, cmark_node *n)
{
    while (n && cmark_node_get_start_line(n) <= 0)
        n = cmark_node_next(n) ? cmark_node_next(n) : cmark_node_parent(n);
    str s = md_line_at(r, start_line(n));
    size_t column = start_column(n);
    if (!s.ptr)
        return r->from;
    return (size_t)(s.ptr - r->text.ptr) + (column < s.len ? column : 0);
}

struct diag_pos md_at(const struct md *r, size_t offset)
{
    return DIAG_AT(r->file, r->text, offset);
}

static str trim_tail(str s)
{
    while (s.len && md_is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

// Where part begins in a source line that ends with it, a heading's closing #s aside; line.len when
// it does not.
static size_t tail_place(str line, str part, bool heading)
{
    str s = trim_tail(line);
    if (str_ends(s, part))
        return s.len - part.len;
    while (heading && s.len && s.ptr[s.len - 1] == '#')
        s.len--;
    s = trim_tail(s);
    return heading && str_ends(s, part) ? s.len - part.len : line.len;
}

static str content_line(str content, size_t start)
{
    str rest = str_slice(content, start, content.len);
    return str_trim(str_slice(rest, 0, str_find(rest, '\n')));
}

// The source line that the content's first line is on: link definitions above it have left the
// content.
static size_t first_line(struct md *r, cmark_node *leaf)
{
    str first = content_line(r->leaf_content, 0);
    bool heading = md_kind(r, leaf) == K_HEADING;
    size_t start = start_line(leaf);
    for (size_t i = 0; i < LINES_SEARCHED && start + i <= r->line_count; i++) {
        str s = md_line_at(r, start + i);
        if (tail_place(s, first, heading) < s.len)
            return start + i;
    }
    return start;
}

// Moves the map to the content line that holds at. Lines are counted from where the map stood, so
// that a paragraph of a megabyte with many links costs one pass.
static void map_move(struct md_map *m, str content, size_t at)
{
    while (at < m->start) {
        const char *p = memrchr(content.ptr, '\n', m->start - 1);
        m->start = p ? (size_t)(p + 1 - content.ptr) : 0;
        m->end = m->start;
        m->number--;
        m->placed = false;
    }
    for (;;) {
        if (m->end <= m->start) {
            const char *p = memchr(content.ptr + m->start, '\n', content.len - m->start);
            m->end = p ? (size_t)(p + 1 - content.ptr) : content.len + 1;
        }
        if (at < m->end || m->end > content.len)
            return;
        m->start = m->end;
        m->number++;
        m->placed = false;
    }
}

static void map_place(struct md *r, cmark_node *leaf, str content)
{
    struct md_map *m = &r->map;
    str line = md_line_at(r, m->number), part = content_line(content, m->start);
    size_t place = tail_place(line, part, md_kind(r, leaf) == K_HEADING);
    m->placed = true;
    m->into = part.len ? (size_t)(part.ptr - content.ptr) - m->start : 0;
    m->line = line;
    m->place = place < line.len ? place : 0;
}

// Where a cell's content begins in the source; 0 when it is not found.
static size_t cell_start(struct md *r, cmark_node *cell)
{
    str content = r->leaf_content, plain = str_slice(content, 0, str_find(content, '|'));
    size_t hint = start_column(cell), line = start_line(cell);
    for (size_t i = 0; i < LINES_SEARCHED && line + i <= r->line_count; i++) {
        // The column is that of a row alone: a heading row below lines of a paragraph has another.
        str rest = str_slice(md_line_at(r, line + i), i ? 0 : hint, SIZE_MAX);
        size_t found = str_search(rest, plain);
        if (found < rest.len)
            return (size_t)(rest.ptr + found - r->text.ptr);
    }
    return 0;
}

// In a table's cell a | of the source is written \|, and the content has it without the backslash.
static size_t cell_offset(struct md *r, cmark_node *cell, size_t at)
{
    struct md_map *m = &r->map;
    str content = r->leaf_content;
    if (m->leaf != cell)
        *m = (struct md_map){.leaf = cell, .place = cell_start(r, cell)};
    if (!m->place)
        return md_block_offset(r, cell);
    if (at < m->start)
        *m = (struct md_map){.leaf = cell, .place = cell_start(r, cell)};
    for (; m->start < at && m->place + 1 < r->text.len; m->start++, m->place++)
        if (r->text.ptr[m->place] == '\\' && r->text.ptr[m->place + 1] == '|' &&
            content.ptr[m->start] == '|')
            m->place++;
    return m->place;
}

// Offset in the source of a place in a leaf's content.
size_t md_content_offset(struct md *r, size_t at)
{
    cmark_node *leaf = r->leaf;
    if (!leaf)
        return r->from;
    if (md_kind(r, leaf) == K_CELL)
        return cell_offset(r, leaf, at);
    struct md_map *m = &r->map;
    str content = r->leaf_content;
    if (m->leaf != leaf)
        *m = (struct md_map){.leaf = leaf, .number = first_line(r, leaf)};
    map_move(m, content, at);
    if (!m->placed)
        map_place(r, leaf, content);
    if (!m->line.ptr)
        return md_block_offset(r, leaf);
    size_t column = m->place + (at > m->start + m->into ? at - m->start - m->into : 0);
    return (size_t)(m->line.ptr - r->text.ptr) + (column < m->line.len ? column : 0);
}

// Place of needle in the next part of s; s.len when it is not there.
static size_t search_from(str s, size_t from, str needle)
{
    str rest = str_slice(s, from, from + SEARCHED);
    size_t found = str_search(rest, needle);
    return found == rest.len ? s.len : from + found;
}

// Whether the address at this place is a link's: behind "](" or "<".
static bool is_destination(str s, size_t at)
{
    size_t i = at;
    if (i && s.ptr[i - 1] == '<')
        return true;
    while (i && md_is_space(s.ptr[i - 1]))
        i--;
    return i > 1 && s.ptr[i - 1] == '(' && s.ptr[i - 2] == ']';
}

// What an autolink puts before its text to make it an address.
static bool is_scheme(str s)
{
    static const str schemes[] = {STR(""), STR("http://"), STR("mailto:"), STR("xmpp:")};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (str_eq(s, schemes[i]))
            return true;
    return false;
}

// An autolink's text is its address, but for a scheme that was put before it; no bracket stands
// before it.
static size_t bare_place(struct md *r, str content, cmark_node *link)
{
    cmark_node *child = cmark_node_first_child(link);
    str text =
        !cmark_node_next(child) && md_is(child, CMARK_NODE_TEXT) ? md_literal(child) : STR_NONE;
    str url = md_url(link);
    if (!text.len || !str_ends(url, text) || !is_scheme(str_slice(url, 0, url.len - text.len)))
        return content.len;
    size_t at = search_from(content, r->cursor, text);
    return at && at < content.len && content.ptr[at - 1] == '[' ? content.len : at;
}

static size_t destination_place(const struct md *r, str content, str url)
{
    size_t at = url.len ? search_from(content, r->cursor, url) : content.len;
    for (unsigned tries = 0; at < content.len && !is_destination(content, at); tries++)
        at = tries < TRIES ? search_from(content, at + 1, url) : content.len;
    return at;
}

// A reference begins with a bracket and its text.
static size_t reference_place(str content, size_t from, cmark_node *link)
{
    cmark_node *child = cmark_node_first_child(link);
    str text = md_is(child, CMARK_NODE_TEXT) ? md_literal(child) : STR_NONE;
    str window = str_slice(content, 0, from + SEARCHED);
    text = str_slice(text, 0, 4);
    for (size_t i = from; i < window.len; i++) {
        i += str_find(str_slice(window, i, window.len), '[');
        if (str_starts(str_slice(window, i + 1, window.len), text))
            return i;
    }
    return from;
}

static bool holds_image(cmark_node *link)
{
    for (cmark_node *n = cmark_node_first_child(link); n; n = cmark_node_next(n))
        if (md_is(n, CMARK_NODE_IMAGE))
            return md_is(link, CMARK_NODE_LINK);
    return false;
}

// The brackets of a wiki link, which are hidden in the content.
static size_t wiki_place(const struct md *r, str content, cmark_node *link)
{
    static const char brackets[] = {MD_HIDDEN_BRACKET, MD_HIDDEN_BRACKET};
    if (!str_starts(md_url(link), STR("[[")))
        return content.len;
    return search_from(content, r->cursor, (str){brackets, sizeof brackets});
}

// The link's destination where it is written; for a reference, the bracket that it begins with.
size_t md_link_offset(struct md *r, cmark_node *link)
{
    str content = r->leaf_content;
    size_t at = wiki_place(r, content, link);
    if (at == content.len)
        at = bare_place(r, content, link);
    if (at == content.len)
        at = destination_place(r, content, md_url(link));
    if (at == content.len)
        at = reference_place(content, r->cursor, link);
    if (!holds_image(link))
        r->cursor = at + 1;
    return md_content_offset(r, at);
}

// The code of an inline cell.
size_t md_cell_offset(struct md *r, str code)
{
    str content = r->leaf_content, found;
    size_t end, from = r->code_cursor;
    for (;;) {
        size_t at = cell_next(content, from, &found, &end);
        if (at == content.len)
            return md_content_offset(r, r->code_cursor);
        from = end;
        if (str_starts(code, str_slice(found, 0, str_find(found, '\n'))))
            break;
    }
    r->code_cursor = end;
    return md_content_offset(r, (size_t)(found.ptr - content.ptr));
}

// The text of a code span.
size_t md_literal_offset(struct md *r, str literal)
{
    str content = r->leaf_content;
    size_t at = search_from(content, r->code_cursor, literal);
    if (at == content.len)
        return md_content_offset(r, r->code_cursor);
    r->code_cursor = at + literal.len;
    return md_content_offset(r, at);
}

// "[^label]:" with its spaces at the head of s: the label, and how long all of it is.
static bool read_footnote(str s, str *label, size_t *length)
{
    size_t n = 2;
    if (!str_starts(s, STR("[^")))
        return false;
    while (n < s.len && s.ptr[n] != ']' && !md_is_space(s.ptr[n]))
        n++;
    *label = str_slice(s, 2, n);
    if (!label->len || !str_starts(str_slice(s, n, s.len), STR("]:")))
        return false;
    for (n += 2; n < s.len && (s.ptr[n] == ' ' || s.ptr[n] == '\t');)
        n++;
    *length = n;
    return true;
}

// The definition's column is where its text begins, behind its label.
str md_footnote_label(struct md *r, cmark_node *definition)
{
    str line = md_line_at(r, start_line(definition)), label, first = STR_NONE;
    if (str_starts(line, STR("\xef\xbb\xbf")))
        line = str_slice(line, 3, line.len);
    for (size_t i = 0, length; i < line.len; i++) {
        if (!read_footnote(str_slice(line, i, line.len), &label, &length))
            continue;
        if (i + length == start_column(definition))
            return label;
        if (!first.len)
            first = label;
    }
    return first;
}

// What white space a text has: single spaces only, single spaces and line ends, or more.
enum spacing { EVEN, WRAPPED, UNEVEN };

// Words by white space. Sixteen bytes at a time, each looked at beside the byte before it.
static size_t word_count(str s, enum spacing *spacing)
{
    size_t words = s.len && !md_is_space(s.ptr[0]), i = 1;
    bool wrapped = false, odd = s.len && (md_is_space(s.ptr[0]) || md_is_space(s.ptr[s.len - 1]));
    bytes16 lines = {0}, uneven = {0};
    for (; i + 16 <= s.len; i += 16) {
        bytes16 v = bytes16_at(s.ptr + i), b = bytes16_at(s.ptr + i - 1);
        bytes16 line = (bytes16)(v == '\n'), other = (bytes16)((v - '\t') < 5);
        bytes16 before = (bytes16)(b == ' ') | (bytes16)((b - '\t') < 5),
                space = (bytes16)(v == ' ') | other;
        words += bytes16_count(before & ~space);
        lines |= line;
        uneven |= (other & ~line) | (before & space);
    }
    for (; i < s.len; i++) {
        bool before = md_is_space(s.ptr[i - 1]), space = md_is_space(s.ptr[i]);
        words += before && !space;
        wrapped |= s.ptr[i] == '\n';
        odd |= (space && s.ptr[i] != ' ' && s.ptr[i] != '\n') || (before && space);
    }
    *spacing = odd || bytes16_any(uneven) ? UNEVEN : wrapped || bytes16_any(lines) ? WRAPPED : EVEN;
    return words;
}

// Line ends as spaces.
static str unwrapped(struct md *r, str s)
{
    buf_clear(&r->scratch);
    buf_str(&r->scratch, s);
    char *p = r->scratch.ptr, *end = p + s.len;
    while ((p = memchr(p, '\n', (size_t)(end - p))))
        *p++ = ' ';
    return buf_view(&r->scratch);
}

static str normalized(struct md *r, str s)
{
    str rest = str_trim(s);
    buf_clear(&r->scratch);
    while (rest.len) {
        size_t n = 0;
        while (n < rest.len && !md_is_space(rest.ptr[n]))
            n++;
        if (r->scratch.len)
            buf_char(&r->scratch, ' ');
        buf_str(&r->scratch, str_slice(rest, 0, n));
        while (n < rest.len && md_is_space(rest.ptr[n]))
            n++;
        rest = str_slice(rest, n, rest.len);
    }
    return buf_view(&r->scratch);
}

void md_block_add(struct md *r, cmark_node *n, uint8_t kind, str content, bool prose)
{
    struct md_result *res = r->result;
    enum spacing spacing = EVEN;
    content = md_block_as_written(r, content);
    str whole = content;
    content = str_trim(content);
    res->words += prose ? word_count(content, &spacing) : 0;
    if (r->o->no_blocks)
        return;
    if (spacing != EVEN)
        content = spacing == WRAPPED ? unwrapped(r, content) : normalized(r, content);
    uint64_t hash = str_hash(content);
    if (res->block_count == r->block_cap)
        res->blocks = arena_grow(r->a, res->blocks, res->block_count, &r->block_cap,
                                 res->block_count + 1, sizeof *res->blocks);
    struct md_block *block = &res->blocks[res->block_count];
    *block = (struct md_block){.hash = hash, .offset = md_block_offset(r, n), .kind = kind};
    if (r->o->keep_text)
        md_block_keep(r, n, whole, block);
    r->stale = res->block_count < r->o->stale_count && r->o->stale[res->block_count];
    res->block_count++;
}
