// Charts of a page: what a cell's table asks for, and the drawing of it as SVG in the page's
// language.
#ifndef GEN_SITE_CHART_H
#define GEN_SITE_CHART_H

#include "gen/site/figures/figures_lib.h"

enum {
    CHART_COLUMNS = 4,
    CHART_ROWS = 32,
    CHART_POINTS = 400,
    CHART_MARKS = 16,
    CHART_SPANS = 16,
    CHART_WIDTH = 360
};

struct chart_row {
    str label, class;                     // the class is a category's: "logits"
    double x;                             // where a row is a place on the axis
    struct figure *value[CHART_COLUMNS];  // NULL where the table has none
    double *points;
    size_t point_count;  // of an area: bytes over time; of a segment: blocks, those that are free
                         // below 0
};

// A named part of the horizontal axis, in indices of points.
struct chart_span {
    str label;
    double from, to;
};

struct chart {
    const struct language *language;
    str title, row_title, x_title;
    str columns[CHART_COLUMNS];
    size_t column_count;
    struct chart_row rows[CHART_ROWS];
    size_t row_count;
    struct figure *limit;
    str limit_label;
    double band;  // tolerance, as a fraction
    double points[CHART_POINTS];
    size_t point_count;  // bytes over time
    double marks[CHART_MARKS];
    size_t mark_count;  // indices of points
    struct chart_span spans[CHART_SPANS];
    size_t span_count;
    str operations;  // of an area: "name*count|name*count", what runs at each point
    str over_label;  // what does not fit in the limit
    str slider;      // the name of a slider below lines, "" for none
    bool has_unit;
    enum byte_unit unit;  // of all values, where the table names one
};

// A value axis: `size` units of the drawing for 0..max bytes, with a tick each step.
struct chart_axis {
    double max, step, size;
    enum byte_unit unit;
};

// Each draws into out, in units of which a chart is CHART_WIDTH wide, and returns the height.
double chart_stack(const struct chart *c, buf *out);
double chart_pairs(const struct chart *c, buf *out);
double chart_lines(const struct chart *c, buf *out);
double chart_time(const struct chart *c, buf *out);
double chart_scatter(const struct chart *c, buf *out);
double chart_nest(const struct chart *c, buf *out);
double chart_chain(const struct chart *c, buf *out);
double chart_block(const struct chart *c, buf *out);
double chart_segments(const struct chart *c, buf *out);
double chart_cells(const struct chart *c, buf *out);
double chart_area(const struct chart *c, buf *out);

// The string at the top of the stack in the words of the page's language, if its catalog has them,
// else as it is, with its {numbers} as the language writes them; pops it.
str chart_words(lua_State *L);
str chart_words_field(lua_State *L, int index, const char *name);
// chart_cloud{...}, into the table on top of the stack.
void chart_open_cloud(lua_State *L);
// chart_tree{...}, likewise.
void chart_open_tree(lua_State *L);

// Bytes of a row's column; 0 where there is none or it is not measured yet.
double chart_value(const struct chart_row *row, size_t column);
bool chart_has(const struct chart_row *row, size_t column);
struct chart_axis chart_axis(double largest, double size);
// A value as the chart's table shows it: in the table's unit, or as figures of that size are.
void chart_figure(const struct chart *c, struct figure *g, buf *out);
// Before and behind a number with its unit, which reads from left to right in every language:
// U+2066 and U+2069.
void chart_isolate(const struct chart *c, bool begins, buf *out);
// The letter of a row, which the legend has before its label: on its segment, in the middle of x
// and y.
void chart_letter(size_t row, double x, double y, buf *out);
double chart_limit(const struct chart *c);  // bytes; 0 for none
void chart_bytes(const struct chart *c, double bytes, enum byte_unit u, int decimals, buf *out);
// "name: value" and "name: bytes", as the page's language joins the two.
void chart_named(const struct chart *c, str name, str value, buf *out);
void chart_named_bytes(const struct chart *c, str name, double bytes, enum byte_unit u,
                       int decimals, buf *out);
// anchor: "start", "middle" or "end".
void chart_text(buf *out, double x, double y, const char *anchor, str text);
// About how wide a text is where charts are read at their smallest; Chinese and Japanese signs fill
// squares.
double chart_text_width(str text);
void chart_line(buf *out, const char *class, double x1, double y1, double x2, double y2);
// Ticks below a horizontal axis at y, above which lines of height `up` stand.
void chart_axis_x(const struct chart *c, const struct chart_axis *a, double x, double y, double up,
                  buf *out);
// Ticks left of x, whose zero is at y, with lines of `width` to the right.
void chart_axis_y(const struct chart *c, const struct chart_axis *a, double x, double y,
                  double width, buf *out);

#endif
