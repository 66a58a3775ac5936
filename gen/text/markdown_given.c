// What a page gives to its Markdown: the HTML of its Lua cells, before it is printed, and the
// addresses of its links, after that.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/cells.h"
#include "gen/text/markdown_render.h"

// The inlines below such a node are looked for in its content.
static bool is_leaf(struct md *r, cmark_node *n)
{
    switch (md_kind(r, n)) {
    case K_HEADING:
    case K_CELL: return true;
    case K_PARAGRAPH: return !md_definition_element(n);
    case K_CUSTOM_BLOCK: return md_is_admonition_title(n);
    default: return false;
    }
}

static void add_cell(struct md *r, size_t *cap, cmark_node *n, struct md_lua cell)
{
    if (r->cell_count == *cap) {
        size_t nodes = *cap;
        r->cell_nodes = arena_grow(r->a, r->cell_nodes, r->cell_count, &nodes, r->cell_count + 1,
                                   sizeof *r->cell_nodes);
        r->cells =
            arena_grow(r->a, r->cells, r->cell_count, cap, r->cell_count + 1, sizeof *r->cells);
    }
    r->cell_nodes[r->cell_count] = n;
    r->cells[r->cell_count++] = cell;
}

static void find_cell(struct md *r, size_t *cap, cmark_node *n)
{
    str code;
    if (md_kind(r, n) == K_CODE && !md_formula_of(n) && cell_inline(md_literal(n), &code)) {
        code = arena_str(r->a, code);
        add_cell(r, cap, n, (struct md_lua){.code = code, .offset = md_cell_offset(r, code)});
    } else if (md_kind(r, n) == K_CODE_BLOCK && cell_fence(str_c(cmark_node_get_fence_info(n)))) {
        cmark_node *output = md_wanted_of(n);
        add_cell(r, cap, n,
                 (struct md_lua){.code = md_literal(n),
                                 .wanted = output ? md_literal(output) : STR_NONE,
                                 .is_example = true,
                                 .offset = md_code_offset(r, n)});
    }
}

struct md_lua *md_cells(struct md *r, size_t *count)
{
    size_t cap = 0;
    bool any = r->root && str_search(str_slice(r->text, r->from, r->text.len), STR("{lua}")) <
                              r->text.len - r->from;
    cmark_node *n = any ? r->root : NULL;
    while (n) {
        if (is_leaf(r, n))
            md_leaf_enter(r, n);
        find_cell(r, &cap, n);
        n = md_is(n, CMARK_NODE_IMAGE) ? md_behind_node(n, r->root) : md_next_node(n, r->root);
    }
    *count = r->cell_count;
    return r->cells;
}

const struct md_lua *md_cell_of(struct md *r, cmark_node *n)
{
    size_t i = r->next_cell;
    while (i < r->cell_count && r->cell_nodes[i] != n)
        i++;
    if (i == r->cell_count)
        return NULL;
    r->next_cell = i + 1;
    return &r->cells[i];
}

// A gap: a byte that UTF-8 does not have, and behind it a number in bytes that HTML does not use.
enum { GAP = 0xFF, DIGIT = 0x80, DIGIT_BITS = 6, DIGITS = 5, GAP_BYTES = 1 + DIGITS };

enum gap { GAP_ADDRESS, GAP_SIZE, GAP_HREF, GAP_KINDS };

static void put_gap(struct md *r, enum gap kind)
{
    uint64_t number = GAP_KINDS * (uint64_t)(r->result->link_count - 1) + kind;
    char bytes[GAP_BYTES] = {(char)GAP};
    for (size_t i = 0; i < DIGITS; i++)
        bytes[1 + i] = (char)(DIGIT | (number >> (DIGIT_BITS * i) & ((1 << DIGIT_BITS) - 1)));
    buf_put(r->out, bytes, sizeof bytes);
}

void md_gap_address(struct md *r)
{
    put_gap(r, GAP_ADDRESS);
}

void md_gap_size(struct md *r)
{
    put_gap(r, GAP_SIZE);
}

void md_gap_href(struct md *r)
{
    put_gap(r, GAP_HREF);
}

// The link whose gap is at the head of s, NULL when there is none: a cell may print any bytes.
static const struct md_link *gap_at(str s, const struct md_result *result, enum gap *kind)
{
    uint64_t number = 0;
    if (s.len < GAP_BYTES)
        return NULL;
    for (size_t i = 0; i < DIGITS; i++) {
        unsigned char c = (unsigned char)s.ptr[1 + i];
        if (c >> DIGIT_BITS != DIGIT >> DIGIT_BITS)
            return NULL;
        number |= (uint64_t)(c & ~DIGIT) << (DIGIT_BITS * i);
    }
    *kind = (enum gap)(number % GAP_KINDS);
    number /= GAP_KINDS;
    return number < result->link_count ? &result->links[number] : NULL;
}

static void put_given(const struct md_link *link, enum gap kind, buf *out)
{
    bool href = kind == GAP_HREF && link->address.len;
    if (href)
        buf_lit(out, " href=\"");
    if (href || kind == GAP_ADDRESS)
        escape_url(out, link->address);
    if (href)
        buf_char(out, '"');
    if (kind == GAP_SIZE && link->width)
        buf_printf(out, " width=\"%u\" height=\"%u\"", link->width, link->height);
}

static void fill(str printed, const struct md_result *result, buf *out)
{
    for (;;) {
        size_t n = str_find(printed, (char)GAP);
        buf_str(out, str_slice(printed, 0, n));
        printed = str_slice(printed, n, printed.len);
        if (!printed.len)
            return;
        enum gap kind;
        const struct md_link *link = gap_at(printed, result, &kind);
        if (!link)
            buf_char(out, printed.ptr[0]);
        else
            put_given(link, kind, out);
        printed = str_slice(printed, link ? GAP_BYTES : 1, printed.len);
    }
}

void md_fill(str printed, struct md_result *result, arena *a, buf *out)
{
    fill(printed, result, out);
    for (size_t i = 0; i < result->heading_count; i++) {
        str html = result->headings[i].html;
        if (str_find(html, (char)GAP) == html.len)
            continue;
        buf filled = BUF_INIT;
        fill(html, result, &filled);
        result->headings[i].html = arena_str(a, buf_view(&filled));
        buf_free(&filled);
    }
}
