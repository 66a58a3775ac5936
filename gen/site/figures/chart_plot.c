// Charts in a plane: lines over a number, memory over a step, predicted against measured.
#include <math.h>

#include "gen/site/figures/chart.h"

enum {
    LEFT = 52,
    TOP = 22,
    RIGHT = 20,
    HEIGHT = 190,
    WIDTH = CHART_WIDTH - LEFT - RIGHT,
    BASE = TOP + HEIGHT,
    LETTER = 11,
    CLEAR = 4  // between a text and a line, whose marks are as large
};

struct taken {
    double left, top, right, bottom;
};

static double y_of(const struct chart_axis *a, double v)
{
    return BASE - v / a->max * a->size;
}

static double largest_value(const struct chart *c)
{
    double largest = chart_limit(c);
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t k = 0; k < c->column_count; k++)
            largest = fmax(largest, chart_value(&c->rows[i], k));
    for (size_t i = 0; i < c->point_count; i++)
        largest = fmax(largest, c->points[i]);
    return largest;
}

// Left and right of the whole: the name of the horizontal axis.
static double put_x_title(const struct chart *c, double y, buf *out)
{
    if (!c->x_title.len)
        return y;
    chart_text(out, LEFT + WIDTH / 2.0, y + 12, "middle", c->x_title);
    return y + 16;
}

static double x_of(const struct chart *c, double x)
{
    double most = c->rows[0].x;
    for (size_t i = 1; i < c->row_count; i++)
        most = fmax(most, c->rows[i].x);
    return LEFT + (most > 0 ? x / most : 0) * (WIDTH - 8);
}

static bool piece_meets(double x0, double y0, double x1, double y1, struct taken box)
{
    if (x1 <= box.left || x0 >= box.right || x1 <= x0)
        return false;
    double slope = (y1 - y0) / (x1 - x0), from = y0 + (fmax(box.left, x0) - x0) * slope,
           to = y0 + (fmin(box.right, x1) - x0) * slope;
    return fmin(from, to) < box.bottom && fmax(from, to) > box.top;
}

// Whether a line of the chart runs through a box.
static bool is_crossed(const struct chart *c, const struct chart_axis *a, struct taken box)
{
    for (size_t k = 0; k < c->column_count; k++) {
        double left = INFINITY, height = 0;
        for (size_t i = 0; i < c->row_count; i++) {
            if (!chart_has(&c->rows[i], k))
                continue;
            double x = x_of(c, c->rows[i].x), y = y_of(a, chart_value(&c->rows[i], k));
            if (piece_meets(left, height, x, y, box))
                return true;
            left = x, height = y;
        }
    }
    return false;
}

// Whether there is room for the limit's name above its line, or else below it: there, as far left
// as no other line runs through it. *y comes with the line's height and goes with the text's.
static bool find_place(const struct chart *c, const struct chart_axis *a, double width, double *x,
                       double *y)
{
    const double heights[] = {*y - CLEAR, *y + CLEAR + LETTER - 1};
    for (size_t i = 0; i < 2; i++) {
        *y = heights[i];
        for (*x = LEFT + 3; *y < BASE && *x + width <= LEFT + WIDTH; *x += 2)
            if (!is_crossed(
                    c, a, (struct taken){*x - CLEAR, *y - LETTER - 1, *x + width + CLEAR, *y + 3}))
                return true;
    }
    return false;
}

// The limit's line with its name; where the name has no room, only the line: false.
static bool put_limit(const struct chart *c, const struct chart_axis *a, str name, buf *out)
{
    double y = y_of(a, chart_limit(c)), x = LEFT;
    if (!name.len)
        return true;
    chart_line(out, "limit", LEFT, y, LEFT + WIDTH, y);
    bool fits = find_place(c, a, chart_text_width(name), &x, &y);
    if (fits)
        chart_text(out, x, y, "start", name);
    return fits;
}

static void limit_name(const struct chart *c, buf *name)
{
    if (chart_limit(c) > 0)
        chart_named_bytes(c, c->limit_label, chart_limit(c), UNIT_MiB, 0, name);
}

// A mark of its own for each line; dashes tell them apart too.
static void put_mark(size_t series, double x, double y, buf *out)
{
    static const char *const marks[CHART_COLUMNS] = {
        [2] = "0,-4 4,3 -4,3",
        [3] = "0,-4.5 4.5,0 0,4.5 -4.5,0",
    };
    if (series == 0)
        buf_printf(out, "<rect class=\"mark\" x=\"%.1f\" y=\"%.1f\" width=\"6\" height=\"6\"/>\n",
                   x - 3, y - 3);
    else if (!marks[series])
        buf_printf(out, "<circle class=\"mark s%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", series,
                   x, y);
    else
        buf_printf(out,
                   "<polygon class=\"mark s%zu\" transform=\"translate(%.1f %.1f)\" "
                   "points=\"%s\"/>\n",
                   series, x, y, marks[series]);
}

static void put_series(const struct chart *c, size_t k, const struct chart_axis *a, buf *out)
{
    char step = 'M';
    buf_printf(out, "<path class=\"line s%zu\" d=\"", k);
    for (size_t i = 0; i < c->row_count; i++) {
        if (!chart_has(&c->rows[i], k))
            continue;
        buf_printf(out, "%c%.1f %.1f", step, x_of(c, c->rows[i].x),
                   y_of(a, chart_value(&c->rows[i], k)));
        step = 'L';
    }
    buf_lit(out, "\"/>\n");
    for (size_t i = 0; i < c->row_count; i++)
        if (chart_has(&c->rows[i], k))
            put_mark(k, x_of(c, c->rows[i].x), y_of(a, chart_value(&c->rows[i], k)), out);
}

// The lines' names, each after a piece of its line.
static double put_legend(const struct chart *c, double y, buf *out)
{
    for (size_t k = 0; k < c->column_count; k++, y += 16) {
        buf_printf(out, "<path class=\"line s%zu\" d=\"M%d %.1fh24\"/>\n", k, LEFT, y + 8);
        put_mark(k, LEFT + 12, y + 8, out);
        chart_text(out, LEFT + 31, y + 12, "start", c->columns[k]);
    }
    return y;
}

double chart_lines(const struct chart *c, buf *out)
{
    struct chart_axis a = chart_axis(largest_value(c), HEIGHT);
    buf name = BUF_INIT;
    double free_from = 0;
    chart_axis_y(c, &a, LEFT, BASE, WIDTH, out);
    for (size_t i = 0; i < c->row_count; i++) {
        double half = chart_text_width(c->rows[i].label) / 2,
               x = fmax(x_of(c, c->rows[i].x), LEFT + half);
        if (x - half < free_from)
            continue;
        chart_text(out, x, BASE + 14, "middle", c->rows[i].label);
        free_from = x + half + 3;
    }
    for (size_t k = 0; k < c->column_count; k++)
        put_series(c, k, &a, out);
    limit_name(c, &name);
    bool named = put_limit(c, &a, buf_view(&name), out);
    double y = put_legend(c, put_x_title(c, BASE + 16, out) + 4, out);
    if (!named) {
        chart_line(out, "limit", LEFT, y + 8, LEFT + 24, y + 8);
        chart_text(out, LEFT + 31, y + 12, "start", buf_view(&name));
        y += 16;
    }
    buf_free(&name);
    return y + 4;
}

static double time_x(const struct chart *c, double index)
{
    return LEFT + index / fmax(1, (double)c->point_count - 1) * WIDTH;
}

// "6.2 GiB" beside the highest point.
static void put_peak(const struct chart *c, const struct chart_axis *a, buf *out)
{
    buf text = BUF_INIT;
    size_t at = 0;
    for (size_t i = 1; i < c->point_count; i++)
        if (c->points[i] > c->points[at])
            at = i;
    double x = time_x(c, (double)at), y = y_of(a, c->points[at]);
    chart_named_bytes(c, c->columns[0], c->points[at], a->unit, a->unit == UNIT_GiB ? 2 : 0, &text);
    buf_printf(out, "<circle class=\"peak\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
    chart_text(out, x, y - 7,
               x < LEFT + WIDTH / 3.0   ? "start"
               : x > LEFT + WIDTH / 1.5 ? "end"
                                        : "middle",
               buf_view(&text));
    buf_free(&text);
}

double chart_time(const struct chart *c, buf *out)
{
    struct chart_axis a = chart_axis(largest_value(c) * 1.08, HEIGHT);
    buf name = BUF_INIT;
    chart_axis_y(c, &a, LEFT, BASE, WIDTH, out);
    buf_printf(out, "<path class=\"area\" d=\"M%d %d", LEFT, BASE);
    for (size_t i = 0; i < c->point_count; i++)
        buf_printf(out, "L%.1f %.1f", time_x(c, (double)i), y_of(&a, c->points[i]));
    buf_printf(out, "V%dZ\"/>\n", BASE);
    for (size_t i = 0; i < c->mark_count; i++)
        chart_line(out, "step", time_x(c, c->marks[i]), BASE - HEIGHT, time_x(c, c->marks[i]),
                   BASE + 4);
    limit_name(c, &name);
    put_limit(c, &a, buf_view(&name), out);
    buf_free(&name);
    if (c->point_count)
        put_peak(c, &a, out);
    return put_x_title(c, BASE + 2, out) + 4;
}

static void put_band(const struct chart *c, buf *out)
{
    double up = HEIGHT / (1 + c->band), right = WIDTH / (1 + c->band);
    if (c->band > 0)
        buf_printf(out, "<path class=\"band\" d=\"M%d %dL%.1f %dH%dV%.1fZ\"/>\n", LEFT, BASE,
                   LEFT + right, TOP, LEFT + WIDTH, BASE - up);
    chart_line(out, "diagonal", LEFT, BASE, LEFT + WIDTH, TOP);
}

// Where a point's number may stand, seen from the point: the first of these that is free.
static const struct {
    double x, y;
    const char *anchor;
} places[] = {
    {5, 10, "start"}, {-5, 10, "end"},   {5, -3, "start"},
    {-5, -3, "end"},  {0, -7, "middle"}, {0, 16, "middle"},
};
enum { PLACES = sizeof places / sizeof *places };

static struct taken number_box(size_t place, double x, double y, double width)
{
    double left = x + places[place].x -
                  (places[place].x < 0    ? width
                   : places[place].x == 0 ? width / 2
                                          : 0);
    return (struct taken){left, y + places[place].y - LETTER, left + width, y + places[place].y};
}

static size_t overlaps(const struct taken *list, size_t count, struct taken box)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += list[i].left < box.right && box.left < list[i].right && list[i].top < box.bottom &&
                 box.top < list[i].bottom;
    return found;
}

// The points' numbers: on no point and on no other number, as far as there is room.
static void put_numbers(const struct chart *c, struct taken *list, size_t points, buf *out)
{
    buf number = BUF_INIT;
    for (size_t i = 0, at = 0; i < c->row_count; i++) {
        if (!chart_has(&c->rows[i], 0) || !chart_has(&c->rows[i], 1))
            continue;
        buf_clear(&number);
        locale_integer(c->language->locale, (int64_t)i + 1, &number);
        double x = (list[at].left + list[at].right) / 2, y = (list[at].top + list[at].bottom) / 2,
               width = chart_text_width(buf_view(&number));
        size_t best = 0, fewest = SIZE_MAX, taken = points + at++;
        for (size_t k = 0; k < PLACES && fewest; k++) {
            size_t found = overlaps(list, taken, number_box(k, x, y, width));
            if (found < fewest)
                fewest = found, best = k;
        }
        list[taken] = number_box(best, x, y, width);
        chart_text(out, x + places[best].x, y + places[best].y, places[best].anchor,
                   buf_view(&number));
    }
    buf_free(&number);
}

double chart_scatter(const struct chart *c, buf *out)
{
    struct chart_axis a = chart_axis(largest_value(c), HEIGHT), across = a;
    struct taken list[2 * CHART_ROWS];
    size_t points = 0;
    across.size = WIDTH;
    put_band(c, out);
    chart_axis_y(c, &a, LEFT, BASE, 0, out);
    chart_axis_x(c, &across, LEFT, BASE, 0, out);
    for (size_t i = 0; i < c->row_count; i++) {
        if (!chart_has(&c->rows[i], 0) || !chart_has(&c->rows[i], 1))
            continue;
        double x = LEFT + chart_value(&c->rows[i], 0) / a.max * WIDTH,
               y = y_of(&a, chart_value(&c->rows[i], 1));
        buf_printf(out, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x, y);
        list[points++] = (struct taken){x - 3, y - 3, x + 3, y + 3};
    }
    put_numbers(c, list, points, out);
    chart_text(out, 0, 10, "start", c->columns[1]);
    chart_text(out, CHART_WIDTH, BASE + 28, "end", c->columns[0]);
    return BASE + 34;
}
