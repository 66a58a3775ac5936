// Columns of a table in which nothing has a value are left out: what is known of its cells while
// they are written, and the removal once the table is whole.
#include <string.h>

#include "gen/text/markdown_render.h"

void md_columns_begin(struct md *r)
{
    r->table.cells = NULL;
    r->table.cell_count = r->table.cell_cap = 0;
}

void md_columns_cell(struct md *r, size_t start)
{
    struct md_table_state *t = &r->table;
    t->cells = arena_grow(r->a, t->cells, t->cell_count, &t->cell_cap, t->cell_count + 1,
                          sizeof *t->cells);
    t->cells[t->cell_count++] =
        (struct md_cell){.start = start, .column = t->column, .header = t->header};
}

void md_columns_cell_end(struct md *r)
{
    struct md_cell *c = &r->table.cells[r->table.cell_count - 1];
    c->end = r->out->len;
}

// What a cell says: something, nothing, or that its value is missing.
enum says { SAYS_SOMETHING, SAYS_NOTHING, SAYS_MISSING };

static enum says cell_says(const struct md *r, const struct md_cell *c)
{
    str html = str_slice(buf_view(r->out), c->start, c->end);
    html = str_slice(html, str_find(html, '>') + 1, str_rfind(html, '<'));
    if (!str_trim(html).len)
        return SAYS_NOTHING;
    bool missing =
        str_starts(html, STR(MD_ABSENT)) && str_search(html, STR("</span>")) + 7 == html.len;
    return missing ? SAYS_MISSING : SAYS_SOMETHING;
}

// Whether no cell below the heading has a value, and one of them would.
static bool is_without_values(const struct md *r, unsigned column)
{
    bool missing = false;
    for (size_t i = 0; i < r->table.cell_count; i++) {
        const struct md_cell *c = &r->table.cells[i];
        if (c->column != column || c->header)
            continue;
        enum says says = cell_says(r, c);
        if (says == SAYS_SOMETHING)
            return false;
        missing |= says == SAYS_MISSING;
    }
    return missing;
}

static void remove_column(struct md *r, unsigned column)
{
    size_t removed = 0;
    for (size_t i = 0; i < r->table.cell_count; i++) {
        struct md_cell *c = &r->table.cells[i];
        c->start -= removed, c->end -= removed;
        if (c->column != column)
            continue;
        memmove(r->out->ptr + c->start, r->out->ptr + c->end, r->out->len - c->end + 1);
        removed += c->end - c->start;
        r->out->len -= c->end - c->start;
        c->end = c->start;
    }
}

void md_columns_end(struct md *r)
{
    if (!r->table.cell_count ||
        str_search(str_slice(buf_view(r->out), r->table.cells[0].start, r->out->len),
                   STR(MD_ABSENT)) == r->out->len - r->table.cells[0].start)
        return;
    for (unsigned column = 0; column < r->table.columns; column++)
        if (is_without_values(r, column))
            remove_column(r, column);
}
