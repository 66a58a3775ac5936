// The card as cells of 64 MiB: each row of the chart colours its own, what is free stays empty,
// what does not fit hangs below.
#include <math.h>

#include "gen/site/figures/chart.h"

enum { CELL_BYTES = 64 << 20, MANY = 400 };  // with more cells than this they are half as large

struct grid {
    size_t columns, cells;  // in a line, on the card
    double pitch, over;     // of a cell; where those that do not fit begin
};

static struct grid grid_of(const struct chart *c, size_t used)
{
    size_t cells = (size_t)(chart_limit(c) / CELL_BYTES + 0.5);
    if (!cells)
        cells = used;
    struct grid g = {
        .columns = cells > MANY ? 48 : 24, .cells = cells, .pitch = cells > MANY ? 7.5 : 15};
    g.over = 18 + ceil((double)cells / (double)g.columns) * g.pitch + 8;
    return g;
}

static void cell_place(const struct grid *g, size_t i, double *x, double *y)
{
    bool fits = i < g->cells;
    size_t at = fits ? i : i - g->cells;
    *x = (double)(at % g->columns) * g->pitch;
    *y = (fits ? 18 : g->over) + (double)(at / g->columns) * g->pitch;
}

// One path for the cells from..to of a row, or of what is free.
static void put_cells(const struct grid *g, size_t from, size_t to, buf *out)
{
    for (size_t i = from; i < to; i++) {
        double x, y, size = g->pitch - 1;
        cell_place(g, i, &x, &y);
        buf_printf(out, "M%g %gh%gv%gh-%gz", x + 0.5, y + 0.5, size, size, size);
    }
}

static void put_part(const struct chart *c, const struct grid *g, size_t row, size_t from,
                     size_t to, buf *out)
{
    double x, y;
    if (from == to)
        return;
    buf_printf(out, "<path class=\"cell %.*s\" d=\"", STR_ARG(c->rows[row].class));
    put_cells(g, from, to, out);
    buf_lit(out, "\"/>\n");
    cell_place(g, (from + to) / 2, &x, &y);
    chart_letter(row, x + g->pitch / 2, y + g->pitch / 2, out);
}

// The card's name and size above it; the line below it, which the rest hangs over.
static double put_frame(const struct chart *c, const struct grid *g, size_t used, buf *out)
{
    buf limit = BUF_INIT, text = BUF_INIT;
    double bottom = g->over - 8, width = (double)g->columns * g->pitch;
    if (c->limit)
        chart_figure(c, c->limit, &limit);
    chart_named(c, c->limit_label, buf_view(&limit), &text);
    chart_text(out, 0, 12, "start", buf_view(&text));
    if (used > g->cells) {
        chart_line(out, "limit", 0, bottom + 4, width, bottom + 4);
        bottom = g->over + ceil((double)(used - g->cells) / (double)g->columns) * g->pitch;
        buf_clear(&text);
        double sum = -chart_limit(c);
        for (size_t i = 0; i < c->row_count; i++)
            sum += chart_value(&c->rows[i], 0);
        chart_named_bytes(c, c->over_label, sum, UNIT_MiB, 0, &text);
        chart_text(out, width, bottom + 13, "end", buf_view(&text));
        bottom += 14;
    }
    buf_free(&limit);
    buf_free(&text);
    return bottom + 4;
}

double chart_cells(const struct chart *c, buf *out)
{
    double sum = 0;
    for (size_t i = 0; i < c->row_count; i++)
        sum += chart_value(&c->rows[i], 0);
    size_t used = (size_t)(sum / CELL_BYTES + 0.5), from = 0;
    struct grid g = grid_of(c, used);
    sum = 0;
    for (size_t i = 0; i < c->row_count; i++) {
        sum += chart_value(&c->rows[i], 0);
        size_t to = (size_t)(sum / CELL_BYTES + 0.5);
        put_part(c, &g, i, from, to, out);
        from = to;
    }
    if (used < g.cells) {
        buf_lit(out, "<path class=\"cell free\" d=\"");
        put_cells(&g, used, g.cells, out);
        buf_lit(out, "\"/>\n");
    }
    return put_frame(c, &g, used, out);
}
