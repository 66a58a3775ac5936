// Charts of boxes: what lies in what, a chain of tensors, what each operation keeps, and segments
// with their blocks.
#include <math.h>

#include "gen/site/figures/chart.h"

static double largest(const struct chart *c)
{
    double most = 1;
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t k = 0; k < c->column_count; k++)
            most = fmax(most, chart_value(&c->rows[i], k));
    return most;
}

static void put_box(const char *class, double x, double y, double width, double height, buf *out)
{
    buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
               class, x, y, fmax(width, 0.5), height);
}

static void put_value_text(const struct chart *c, struct figure *g, double x, double y,
                           const char *anchor, buf *out)
{
    buf text = BUF_INIT;
    chart_figure(c, g, &text);
    chart_text(out, x, y, anchor, buf_view(&text));
    buf_free(&text);
}

enum { NEST_STEP = 22, NEST_FLOOR = 12 };

double chart_nest(const struct chart *c, buf *out)
{
    double most = largest(c), width = CHART_WIDTH - 1,
           height = (double)NEST_STEP * (double)c->row_count + NEST_FLOOR;
    for (size_t i = 0; i < c->row_count; i++) {
        double y = (double)NEST_STEP * (double)i, below = 3 * (double)i;
        put_box("nest", 0.5, y + 0.5, chart_value(&c->rows[i], 0) / most * width,
                height - y - below - 1, out);
    }
    for (size_t i = 0; i < c->row_count; i++) {
        buf value = BUF_INIT, text = BUF_INIT;
        buf_printf(&text, "%c  ", (char)('A' + i % 26));
        if (chart_has(&c->rows[i], 0))
            chart_figure(c, c->rows[i].value[0], &value);
        chart_named(c, c->rows[i].label, buf_view(&value), &text);
        chart_text(out, 6, (double)NEST_STEP * (double)i + 15.5, "start", buf_view(&text));
        buf_free(&value);
        buf_free(&text);
    }
    return height + 1;
}

enum { CHAIN_HEIGHT = 70, CHAIN_GAP = 16, CHAIN_PITCH = CHAIN_HEIGHT + 52 };

static void put_stage(const struct chart *c, size_t row, size_t column, double x, double width,
                      double base, double most, buf *out)
{
    double height = chart_value(&c->rows[row], column) / most * CHAIN_HEIGHT;
    if (!chart_has(&c->rows[row], column))
        return;
    buf_printf(out,
               "<rect class=\"cat %.*s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
               STR_ARG(c->rows[row].class), x, base - height, width, height);
    chart_letter(row, x + width / 2, base - fmax(height, 14) / 2, out);
    put_value_text(c, c->rows[row].value[column], x + width / 2, base + 12, "middle", out);
}

static void put_arrow(double from, double to, double y, buf *out)
{
    buf_printf(out, "<path class=\"line\" d=\"M%.1f %.1fH%.1fm-4 -3l4 3l-4 3\"/>\n", from + 3, y,
               to - 3);
}

double chart_chain(const struct chart *c, buf *out)
{
    double most = largest(c), stages = (double)c->row_count,
           width = (CHART_WIDTH - CHAIN_GAP * (stages - 1)) / stages;
    for (size_t k = 0; k < c->column_count; k++) {
        double y = (double)CHAIN_PITCH * (double)k, base = y + 20 + CHAIN_HEIGHT, before = -1;
        chart_text(out, 0, y + 12, "start", c->columns[k]);
        for (size_t i = 0; i < c->row_count; i++) {
            double x = (width + CHAIN_GAP) * (double)i;
            put_stage(c, i, k, x, width, base, most, out);
            if (chart_has(&c->rows[i], k) && before >= 0)
                put_arrow(before, x, base - 8, out);
            before = chart_has(&c->rows[i], k) ? x + width : before;
        }
    }
    return (double)CHAIN_PITCH * (double)c->column_count;
}

enum { BLOCK_PITCH = 19, BLOCK_LEFT = 150, BLOCK_WIDTH = 120 };

double chart_block(const struct chart *c, buf *out)
{
    double most = largest(c), y = 0;
    chart_text(out, BLOCK_LEFT, 11, "start", c->columns[0]);
    for (size_t i = 0; i < c->row_count; i++) {
        y = 16 + (double)BLOCK_PITCH * (double)i;
        double value = chart_value(&c->rows[i], 0);
        chart_text(out, 14, y + 12, "start", c->rows[i].label);
        buf_printf(out, "<circle class=\"%s\" cx=\"5\" cy=\"%.1f\" r=\"3\"/>\n",
                   value > 0 ? "full" : "hollow", y + 8);
        if (i)
            chart_line(out, "flow", 5, y - BLOCK_PITCH + 12, 5, y + 4);
        if (value <= 0)
            continue;
        put_box("cat activations", BLOCK_LEFT, y + 2, value / most * BLOCK_WIDTH, 13, out);
        put_value_text(c, c->rows[i].value[0], BLOCK_LEFT + value / most * BLOCK_WIDTH + 5, y + 12,
                       "start", out);
    }
    return y + BLOCK_PITCH + 4;
}

enum { SEGMENT_BAR = 13, SEGMENT_PITCH = 17, SEGMENT_TOP = 40 };

static void put_blocks(const struct chart_row *row, double scale, double y, buf *out)
{
    double x = 0.5;
    for (size_t i = 0; i < row->point_count; i++) {
        double width = fabs(row->points[i]) * scale;
        if (row->points[i] > 0)
            put_box("cat parameters", x, y, width, SEGMENT_BAR, out);
        x += width;
    }
}

// "in use" and "reserved, unused", each behind its pattern.
static void put_segment_legend(const struct chart *c, buf *out)
{
    put_box("cat parameters", 0.5, 2, 14, SEGMENT_BAR, out);
    chart_text(out, 20, 13, "start", c->columns[1]);
    put_box("gap", 0.5, 20, 14, SEGMENT_BAR, out);
    chart_text(out, 20, 31, "start", c->over_label.len ? c->over_label : c->columns[0]);
}

double chart_segments(const struct chart *c, buf *out)
{
    double most = largest(c), scale = (CHART_WIDTH - 1) / most;
    put_segment_legend(c, out);
    for (size_t i = 0; i < c->row_count; i++) {
        double y = SEGMENT_TOP + (double)SEGMENT_PITCH * (double)i;
        put_box("gap", 0.5, y, chart_value(&c->rows[i], 0) * scale, SEGMENT_BAR, out);
        put_blocks(&c->rows[i], scale, y, out);
    }
    return SEGMENT_TOP + (double)SEGMENT_PITCH * (double)c->row_count;
}
