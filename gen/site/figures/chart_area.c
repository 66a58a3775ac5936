// Memory over a step, stacked by the kind of tensor: one area a row, the parts of the step below,
// the highest moment marked.
#include <math.h>

#include "gen/base/escape.h"
#include "gen/site/figures/chart.h"

enum {
    LEFT = 52,
    TOP = 16,
    RIGHT = 8,
    HEIGHT = 190,
    WIDTH = CHART_WIDTH - LEFT - RIGHT,
    BASE = TOP + HEIGHT
};

static size_t moments(const struct chart *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->row_count; i++)
        n = c->rows[i].point_count > n ? c->rows[i].point_count : n;
    return n;
}

// What the first rows have at a moment, together.
static double height_at(const struct chart *c, size_t rows, size_t moment)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        if (moment < c->rows[i].point_count)
            sum += c->rows[i].points[moment];
    return sum;
}

static size_t highest(const struct chart *c, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (height_at(c, c->row_count, i) > height_at(c, c->row_count, at))
            at = i;
    return at;
}

static double x_at(size_t n, double moment)
{
    return LEFT + moment / fmax(1, (double)n - 1) * WIDTH;
}

static double y_at(const struct chart_axis *a, double bytes)
{
    return BASE - bytes / a->max * HEIGHT;
}

// The area of the first `rows` rows; those of fewer rows are drawn over it. A moment like its
// neighbours is left out.
static void put_area(const struct chart *c, const struct chart_axis *a, size_t rows, size_t n,
                     buf *out)
{
    double before = -1;
    buf_printf(out, "<path class=\"part %.*s\" d=\"M%d %d", STR_ARG(c->rows[rows - 1].class), LEFT,
               BASE);
    for (size_t i = 0; i < n; i++) {
        double y = round(y_at(a, height_at(c, rows, i)) * 10) / 10;
        double next = i + 1 < n ? round(y_at(a, height_at(c, rows, i + 1)) * 10) / 10 : -1;
        if (y == before && y == next)
            continue;
        buf_printf(out, "L%.1f %g", x_at(n, (double)i), y);
        before = y;
    }
    buf_printf(out, "V%dZ\"/>\n", BASE);
}

// A row's letter where it is thickest, if it fits there.
static void put_row_letter(const struct chart *c, const struct chart_axis *a, size_t row, size_t n,
                           buf *out)
{
    size_t at = 0;
    for (size_t i = n / 16; i < n - n / 16; i++)
        if (height_at(c, row + 1, i) - height_at(c, row, i) >
            height_at(c, row + 1, at) - height_at(c, row, at))
            at = i;
    double low = height_at(c, row, at), high = height_at(c, row + 1, at);
    if ((high - low) / a->max * HEIGHT >= 9)
        chart_letter(row, x_at(n, (double)at), y_at(a, (low + high) / 2), out);
}

static void put_peak(const struct chart *c, const struct chart_axis *a, size_t n, buf *out)
{
    buf text = BUF_INIT;
    size_t at = highest(c, n);
    double bytes = height_at(c, c->row_count, at), x = x_at(n, (double)at), y = y_at(a, bytes);
    chart_named_bytes(c, c->columns[0], bytes, a->unit, a->unit == UNIT_GiB ? 2 : 0, &text);
    buf_printf(out, "<circle class=\"peak\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
    chart_text(out, x, y - 7,
               x < LEFT + WIDTH / 3.0   ? "start"
               : x > LEFT + WIDTH / 1.5 ? "end"
                                        : "middle",
               buf_view(&text));
    buf_free(&text);
}

// The parts' names below the axis, the last at the end of the chart; what finds no room in the
// first line is in the second, and left out if there is none either.
static void put_spans(const struct chart *c, size_t n, buf *out)
{
    double free_from[2] = {LEFT - 2, LEFT - 2};
    for (size_t i = 0; i < c->span_count; i++) {
        double from = x_at(n, c->spans[i].from), to = x_at(n, c->spans[i].to),
               half = chart_text_width(c->spans[i].label) / 2, x = (from + to) / 2;
        x = fmin(fmax(x, LEFT - 2 + half), CHART_WIDTH - half);
        int line = x - half < free_from[0];
        if (i)
            chart_line(out, "step", from, TOP, from, BASE + 4);
        if (x - half < free_from[line])
            continue;
        bool is_last = i + 1 == c->span_count;
        chart_text(out, is_last ? CHART_WIDTH : x, BASE + 13 + 13 * line,
                   is_last ? "end" : "middle", c->spans[i].label);
        free_from[line] = x + half + 8;
    }
}

static void put_limit(const struct chart *c, const struct chart_axis *a, buf *out)
{
    double limit = chart_limit(c);
    buf text = BUF_INIT;
    if (limit > 0) {
        chart_line(out, "limit", LEFT, y_at(a, limit), LEFT + WIDTH, y_at(a, limit));
        chart_named_bytes(c, c->limit_label, limit, UNIT_MiB, 0, &text);
        chart_text(out, LEFT + 3, y_at(a, limit) - 4, "start", buf_view(&text));
    }
    buf_free(&text);
}

// What a script needs to say what is under the pointer: bytes of the axis, moments, and what runs
// at each.
static void put_data(const struct chart *c, const struct chart_axis *a, size_t n, buf *out)
{
    buf_printf(out, "<g class=\"live\" data-max=\"%.0f\" data-moments=\"%zu\" data-operations=\"",
               a->max, n);
    escape_attribute(out, c->operations);
    buf_lit(out, "\"></g>\n");
}

double chart_area(const struct chart *c, buf *out)
{
    size_t n = moments(c);
    if (!n)
        return 1;
    struct chart_axis a =
        chart_axis(fmax(chart_limit(c), height_at(c, c->row_count, highest(c, n))) * 1.08, HEIGHT);
    for (size_t rows = c->row_count; rows > 0; rows--)
        put_area(c, &a, rows, n, out);
    chart_axis_y(c, &a, LEFT, BASE, WIDTH, out);
    for (size_t i = 0; i < c->row_count; i++)
        put_row_letter(c, &a, i, n, out);
    put_spans(c, n, out);
    put_limit(c, &a, out);
    put_peak(c, &a, n, out);
    put_data(c, &a, n, out);
    return BASE + 32;
}
