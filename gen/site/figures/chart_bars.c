// Charts of bars: one bar split by category for each column, and two bars side by side for each
// row.
#include <math.h>

#include "gen/site/figures/chart.h"

enum { STACK_BAR = 24, STACK_PITCH = 62 };

static double column_total(const struct chart *c, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < c->row_count; i++)
        sum += chart_value(&c->rows[i], column);
    return sum;
}

// "eager: 5.8 GiB", above its bar.
static void put_bar_title(const struct chart *c, size_t column, double total, enum byte_unit u,
                          double y, buf *out)
{
    buf text = BUF_INIT;
    chart_named_bytes(c, c->columns[column], total, u, u == UNIT_GiB ? 2 : 0, &text);
    chart_text(out, 0, y, "start", buf_view(&text));
    buf_free(&text);
}

// Parts from left to right, each with its letter below where there is room for it.
static void put_parts(const struct chart *c, size_t column, const struct chart_axis *a, double y,
                      buf *out)
{
    double x = 0, free_from = 0;  // letters beside each other below narrow parts
    for (size_t i = 0; i < c->row_count; i++) {
        double width = chart_value(&c->rows[i], column) / a->max * a->size;
        char letter[2] = {(char)('A' + i % 26), '\0'};
        bool has_room = width >= 14;
        if (width > 0)
            buf_printf(
                out,
                "<rect class=\"cat %.*s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"/>\n",
                STR_ARG(c->rows[i].class), x, y, width, STACK_BAR);
        if (has_room) {
            chart_letter(i, x + width / 2, y + STACK_BAR / 2.0, out);
        } else if (width > 0) {
            double at = fmax(x + width / 2, free_from);
            chart_text(out, at, y + STACK_BAR + 12, "middle", str_c(letter));
            free_from = at + 10;
        }
        x += width;
    }
}

double chart_stack(const struct chart *c, buf *out)
{
    double limit = chart_limit(c), largest = limit;
    for (size_t k = 0; k < c->column_count; k++)
        largest = fmax(largest, column_total(c, k));
    struct chart_axis a = chart_axis(largest, CHART_WIDTH - 1);
    double bottom = (double)STACK_PITCH * (double)c->column_count + 4;
    chart_axis_x(c, &a, 0.5, bottom, 4, out);
    for (size_t k = 0; k < c->column_count; k++) {
        double y = (double)STACK_PITCH * (double)k;
        put_bar_title(c, k, column_total(c, k), a.unit, y + 13, out);
        put_parts(c, k, &a, y + 19, out);
    }
    if (limit > 0) {
        double x = limit / a.max * a.size;
        chart_line(out, "limit", x, 17, x, bottom);
        chart_text(out, x, 13, "end", c->limit_label);
    }
    return bottom + 18;
}

enum { PAIR_BAR = 13, PAIR_PITCH = 50, PAIR_WIDTH = 278 };

static void put_pair_bar(const struct chart *c, size_t row, size_t column,
                         const struct chart_axis *a, double y, buf *out)
{
    buf text = BUF_INIT;
    double width = chart_value(&c->rows[row], column) / a->max * a->size;
    if (!chart_has(&c->rows[row], column))
        return;
    chart_bytes(c, chart_value(&c->rows[row], column), a->unit, a->unit == UNIT_GiB ? 2 : 0, &text);
    buf_printf(out, "<rect class=\"%s\" x=\"0.5\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>\n",
               column ? "full" : "hollow", y, width, PAIR_BAR);
    chart_text(out, width + 5, y + 10.5, "start", buf_view(&text));
    buf_free(&text);
}

double chart_pairs(const struct chart *c, buf *out)
{
    double largest = 0, y = 42;
    for (size_t i = 0; i < c->row_count; i++)
        largest = fmax(largest, fmax(chart_value(&c->rows[i], 0), chart_value(&c->rows[i], 1)));
    struct chart_axis a = chart_axis(largest, PAIR_WIDTH);
    a.max = fmax(largest, 1);  // bars carry their values: no ticks, so no room above the largest
    for (size_t k = 0; k < 2; k++) {
        buf_printf(out, "<rect class=\"%s\" x=\"0.5\" y=\"%zu\" width=\"14\" height=\"%d\"/>\n",
                   k ? "full" : "hollow", 2 + k * 18, PAIR_BAR);
        chart_text(out, 20, 13 + 18 * (double)k, "start", c->columns[k]);
    }
    for (size_t i = 0; i < c->row_count; i++, y += PAIR_PITCH) {
        chart_text(out, 0, y + 12, "start", c->rows[i].label);
        put_pair_bar(c, i, 0, &a, y + 17, out);
        put_pair_bar(c, i, 1, &a, y + 17 + PAIR_BAR + 1, out);
    }
    return y + 4;
}
