// Tables of a site's page: bounded before they are parsed, in a region that scrolls, with scopes,
// classes and captions.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/markdown_render.h"

// cmark-gfm fills missing cells up, so n columns and m short rows cost n x m cells; it walks a list
// for each cell, so n columns cost n x n steps; and it reads the whole paragraph again for each
// delimiter row that does not fit it. No table for people to read has that many columns; the steps
// are about a tenth of a second.
enum { MAX_COLUMNS = 1000, MAX_STEPS = 64 << 20 };

static bool is_delimiter_byte(char c)
{
    return c == '|' || c == '-' || c == ':' || c == ' ' || (c >= '\t' && c <= '\r') || c == '>';
}

// Lines of a text, ended as CommonMark does it: by LF, CR, or both.
struct lines {
    str rest;
    bool has_cr;
};

static bool next_line(struct lines *l, str *line)
{
    if (!l->has_cr)
        return str_line(&l->rest, line);
    size_t n = 0;
    while (n < l->rest.len && l->rest.ptr[n] != '\n' && l->rest.ptr[n] != '\r')
        n++;
    bool any = l->rest.len > 0;
    *line = str_slice(l->rest, 0, n);
    n += l->rest.len > n + 1 && l->rest.ptr[n] == '\r' && l->rest.ptr[n + 1] == '\n';
    l->rest = str_slice(l->rest, n + 1, l->rest.len);
    return any;
}

// Columns of a line that may be a table's delimiter row (|---|:-:|, in quotes too): its runs of
// dashes; 0 when it is none. Dashes alone underline a heading or are a rule.
static size_t delimiter_columns(str line)
{
    size_t columns = 0;
    bool marked = false;
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if (!is_delimiter_byte(c))
            return 0;
        marked |= c == '|' || c == ':' || c == '\v' || c == '\f';
        columns += c == '-' && (!i || line.ptr[i - 1] != '-');
    }
    return marked ? columns : 0;
}

static bool is_blank(str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '>' && line.ptr[i] != '\r')
            return false;
    return true;
}

static size_t pipe_count(str line)
{
    size_t n = 0;
    for (const char *p = line.ptr, *end = p + line.len;
         p && (p = memchr(p, '|', (size_t)(end - p))); p++)
        n++;
    return n;
}

// Lines up to a blank one, as far as they have been judged.
struct run {
    size_t start;   // offset in the body
    size_t pipes;   // in the lines so far
    size_t widest;  // columns that its rows have been counted with
    size_t steps;   // what cmark-gfm does to try each delimiter row on the paragraph above it
};

// Rows that a table could have: lines up to a blank one. Wide rows are no rows of a table.
static bool rows_fit(struct lines rest, size_t columns, size_t max_cells)
{
    size_t rows = 0;
    str line;
    while (next_line(&rest, &line) && !is_blank(line)) {
        if (++rows * columns > max_cells || pipe_count(line) > MAX_COLUMNS)
            return false;
    }
    return true;
}

static bool delimiter_fits(struct run *run, struct lines rest, size_t at, size_t columns,
                           size_t max_cells)
{
    run->steps += at - run->start + run->pipes * run->pipes;
    if (run->steps > MAX_STEPS || columns > MAX_COLUMNS)
        return false;
    if (columns <= run->widest)
        return true;
    run->widest = columns;
    return rows_fit(rest, columns, max_cells);
}

// Whether every table of body stays within max_cells, judged without parsing: a line of dashes and
// pipes, times the lines behind it. *offset is the first table that does not.
bool md_tables_fit(str body, size_t max_cells, size_t *offset)
{
    struct lines rest = {body, body.len && memchr(body.ptr, '\r', body.len)};
    str line;
    struct run run = {0};
    if (!body.len || !memchr(body.ptr, '|', body.len))
        return true;
    while (next_line(&rest, &line)) {
        size_t at = (size_t)(line.ptr - body.ptr);
        if (is_blank(line)) {
            run = (struct run){.start = at};
            continue;
        }
        size_t columns = delimiter_columns(line);
        if (columns && !delimiter_fits(&run, rest, at, columns, max_cells)) {
            *offset = at;
            return false;
        }
        run.pipes += pipe_count(line);
    }
    return true;
}

// "Table: What it shows" directly before a table, or ": What it shows" (Pandoc's short form, the
// same in any language).
static size_t caption_prefix(str s)
{
    static const str prefixes[] = {STR("Table: "), STR(": ")};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(s, prefixes[i]))
            return prefixes[i].len;
    return 0;
}

static void put_region(struct md *r, bool captioned)
{
    r->table_count++;
    r->result->has_tables = true;
    md_cr(r);
    buf_lit(r->out, "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label");
    if (captioned) {
        buf_printf(r->out, "ledby=\"table:%zu\">\n", r->table_count);
        return;
    }
    buf_lit(r->out, "=\"");
    escape_attribute(r->out, md_word(r, MD_TABLE_LABEL));
    buf_printf(r->out, " %zu\">\n", r->table_count);
}

void md_region_open(struct md *r)
{
    put_region(r, false);
}

void md_region_close(struct md *r)
{
    buf_lit(r->out, "\n</div>\n");
}

static void region_open(struct md *r, bool captioned)
{
    put_region(r, captioned);
    buf_lit(r->out, "<table>\n");
}

static bool before_table(struct md *r, cmark_node *n)
{
    cmark_node *next = cmark_node_next(n);
    return next && md_kind(r, next) == K_TABLE;
}

bool md_caption_enter(struct md *r, cmark_node *n)
{
    cmark_node *text = cmark_node_first_child(n);
    if (!before_table(r, n) || !md_is(text, CMARK_NODE_TEXT))
        return false;
    size_t prefix = caption_prefix(md_literal(text));
    if (!prefix)
        return false;
    r->trim_node = text;
    r->trim_bytes = prefix;
    r->caption_open = true;
    region_open(r, true);
    size_t id = r->out->len + sizeof "<caption id=\"" - 1;
    buf_printf(r->out, "<caption id=\"table:%zu", r->table_count);
    md_anchor_add(r, str_slice(buf_view(r->out), id, r->out->len));
    buf_lit(r->out, "\">");
    return true;
}

bool md_caption_leave(struct md *r, cmark_node *n)
{
    if (!r->caption_open || !before_table(r, n))
        return false;
    md_stale_mark(r);
    buf_lit(r->out, "</caption>\n");
    return true;
}

// A table whose first heading is empty has headings in its first column too.
static bool has_row_headers(cmark_node *table)
{
    cmark_node *row = cmark_node_first_child(table);
    cmark_node *first = cmark_node_first_child(row);
    return first && cmark_gfm_extensions_get_table_row_is_header(row) &&
           !cmark_node_first_child(first) && cmark_node_next(first);
}

// A head without any words, as tables have it whose author wants none, is left out.
static void drop_empty_head(cmark_node *table)
{
    cmark_node *row = cmark_node_first_child(table);
    if (!row || !cmark_node_next(row))
        return;
    for (cmark_node *cell = cmark_node_first_child(row); cell; cell = cmark_node_next(cell))
        if (cmark_node_first_child(cell))
            return;
    cmark_node_unlink(row);
    cmark_node_free(row);
}

void md_table_enter(struct md *r, cmark_node *n)
{
    drop_empty_head(n);
    r->table = (struct md_table_state){.alignments = cmark_gfm_extensions_get_table_alignments(n),
                                       .columns = cmark_gfm_extensions_get_table_columns(n),
                                       .row_headers = has_row_headers(n)};
    md_columns_begin(r);
    if (!r->caption_open)
        region_open(r, false);
    r->caption_open = false;
}

void md_table_leave(struct md *r, cmark_node *n)
{
    (void)n;
    if (r->table.body)
        buf_lit(r->out, "</tbody>\n");
    md_columns_end(r);
    buf_lit(r->out, "</table>\n</div>\n");
}

// A row is one block: its cells, with a separator that no text has and a space that ends the last
// word.
static void row_block(struct md *r, cmark_node *row)
{
    buf_clear(&r->row);
    for (cmark_node *cell = cmark_node_first_child(row); cell; cell = cmark_node_next(cell)) {
        buf_str(&r->row, md_content(cell));
        buf_lit(&r->row, "\x1f ");
    }
    md_block_add(r, row, 'r', buf_view(&r->row), true);
}

void md_row_enter(struct md *r, cmark_node *n)
{
    row_block(r, n);
    r->table.column = 0;
    r->table.header = cmark_gfm_extensions_get_table_row_is_header(n);
    if (r->table.header)
        buf_lit(r->out, "<thead>\n");
    else if (!r->table.body)
        buf_lit(r->out, "<tbody>\n");
    r->table.body |= !r->table.header;
    if (r->stale)
        buf_lit(r->out, "<tr class=\"stale\">");
    else
        buf_lit(r->out, "<tr>");
}

void md_row_leave(struct md *r, cmark_node *n)
{
    (void)n;
    buf_lit(r->out, "</tr>\n");
    if (r->table.header)
        buf_lit(r->out, "</thead>\n");
}

static void put_alignment(struct md *r)
{
    switch (r->table.column < r->table.columns ? r->table.alignments[r->table.column] : 0) {
    case 'l': buf_lit(r->out, " class=\"left\""); break;
    case 'c': buf_lit(r->out, " class=\"center\""); break;
    case 'r': buf_lit(r->out, " class=\"right\""); break;
    default: break;
    }
}

// An empty heading heads nothing: it is a plain cell.
static bool is_heading(const struct md *r, cmark_node *cell)
{
    if (r->table.header)
        return cmark_node_first_child(cell) != NULL;
    return r->table.row_headers && r->table.column == 0 && cmark_node_first_child(cell);
}

void md_cell_enter(struct md *r, cmark_node *n)
{
    md_columns_cell(r, r->out->len);
    if (!is_heading(r, n))
        buf_lit(r->out, "<td");
    else if (r->table.header)
        buf_lit(r->out, "<th scope=\"col\"");
    else
        buf_lit(r->out, "<th scope=\"row\"");
    put_alignment(r);
    buf_char(r->out, '>');
}

void md_cell_leave(struct md *r, cmark_node *n)
{
    if (!cmark_node_next(n))
        md_stale_mark(r);
    if (is_heading(r, n))
        buf_lit(r->out, "</th>");
    else
        buf_lit(r->out, "</td>");
    md_columns_cell_end(r);
    r->table.column++;
}
