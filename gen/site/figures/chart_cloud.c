// chart_cloud{...}: many points in a plane whose axes are logarithms of bytes, in groups that are
// told apart by colour.
#include <math.h>

#include "gen/site/figures/chart.h"
#include "gen/base/escape.h"

enum {
    GROUPS = 9,
    POINTS = 2000,
    LEFT = 52,
    TOP = 22,
    SIDE = 284,
    BASE = TOP + SIDE,
    LEGEND_COLUMNS = 2,
    LEGEND_LINE = 16
};

struct cloud_group {
    str label;
    const double *points;  // x, y, x, y ...
    size_t count;          // of points
};

struct cloud {
    const struct language *language;
    str title, x_title, y_title;
    double band;  // as a fraction
    struct cloud_group groups[GROUPS];
    size_t group_count;
    double low, high;  // exponents of two: the ends of both axes
};

static double positive(lua_State *L, int index)
{
    double v = lua_tonumber(L, index);
    if (!lua_isnumber(L, index) || !isfinite(v) || v < 1)
        luaL_error(L, "points: sizes from 1 byte on");
    return v;
}

// A group is at the top of the stack: {label, {x, y, x, y ...}}; pops it.
static void take_group(lua_State *L, struct cloud *c)
{
    struct cloud_group *g = &c->groups[c->group_count++];
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_rawgeti(L, -1, 1);
    g->label = chart_words(L);
    if (lua_rawgeti(L, -1, 2) != LUA_TTABLE || !g->label.len)
        luaL_error(L, "a group is {label, {x, y, x, y ...}}");
    size_t n = lua_rawlen(L, -1);
    if (n % 2 || n / 2 > POINTS)
        luaL_error(L, "points: pairs of sizes, at most %d of a group", POINTS);
    double *points = arena_new(&figures_of(L)->arena, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        points[i] = positive(L, -1);
        lua_pop(L, 1);
    }
    g->points = points;
    g->count = n / 2;
    lua_pop(L, 2);
}

// The axes reach from a power of two to a power of two.
static void find_range(lua_State *L, struct cloud *c)
{
    c->low = INFINITY;
    c->high = -INFINITY;
    for (size_t i = 0; i < c->group_count; i++)
        for (size_t k = 0; k < 2 * c->groups[i].count; k++) {
            c->low = fmin(c->low, floor(log2(c->groups[i].points[k])));
            c->high = fmax(c->high, ceil(log2(c->groups[i].points[k])));
        }
    if (!isfinite(c->low))
        luaL_error(L, "a chart without points");
    c->high = fmax(c->high, c->low + 1);
}

static void take_cloud(lua_State *L, struct cloud *c)
{
    c->language = figures_of(L)->page->language;
    c->title = chart_words_field(L, 1, "title");
    c->x_title = chart_words_field(L, 1, "x");
    c->y_title = chart_words_field(L, 1, "y");
    lua_getfield(L, 1, "band");
    c->band = lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (!c->title.len || lua_getfield(L, 1, "groups") != LUA_TTABLE || lua_rawlen(L, -1) > GROUPS ||
        c->band < 0 || c->band > 1)
        luaL_error(
            L, "chart_cloud{title = ..., x = ..., y = ..., band = 0 to 1, groups = {at most %d}}",
            GROUPS);
    lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, -1, i);
        take_group(L, c);
    }
    lua_pop(L, 1);
    find_range(L, c);
}

// From the start of an axis, in units of the drawing.
static double along(const struct cloud *c, double bytes)
{
    return (log2(bytes) - c->low) / (c->high - c->low) * SIDE;
}

static void put_tick_text(const struct cloud *c, double bytes, buf *out)
{
    enum byte_unit u = bytes >= byte_unit_size(UNIT_GiB) ? UNIT_GiB : UNIT_MiB;
    locale_bytes(c->language->locale, bytes, u, bytes < byte_unit_size(UNIT_MiB) ? 2 : 0, out);
}

// Lines and sizes at powers of two; not every one has room for its size on the lower axis.
static void put_axes(const struct cloud *c, buf *out)
{
    buf text = BUF_INIT;
    int every = (int)ceil((c->high - c->low) / 6);
    for (int i = 0; c->low + i <= c->high; i++) {
        double bytes = exp2(c->low + i), at = along(c, bytes);
        chart_line(out, "grid", LEFT, BASE - at, LEFT + SIDE, BASE - at);
        chart_line(out, "grid", LEFT + at, TOP, LEFT + at, BASE);
        buf_clear(&text);
        put_tick_text(c, bytes, &text);
        chart_text(out, LEFT - 4, BASE - at + 4, "end", buf_view(&text));
        if (i % every == 0)
            chart_text(out, LEFT + at, BASE + 17, "middle", buf_view(&text));
    }
    buf_free(&text);
}

// Where both are equal, and where they differ by at most the band: of a logarithm it is as wide
// everywhere.
static void put_diagonal(const struct cloud *c, buf *out)
{
    double up = log2(1 + c->band) / (c->high - c->low) * SIDE,
           down = -log2(1 - fmin(c->band, 0.99)) / (c->high - c->low) * SIDE;
    if (c->band > 0)
        buf_printf(out, "<path class=\"band\" d=\"M%d %dV%.1fL%.1f %dH%dV%.1fL%.1f %dZ\"/>\n", LEFT,
                   BASE, BASE - up, LEFT + SIDE - up, TOP, LEFT + SIDE, TOP + down, LEFT + down,
                   BASE);
    chart_line(out, "diagonal", LEFT, BASE, LEFT + SIDE, TOP);
}

// Lines of no length with round ends are the shortest way to write points.
static void put_group(const struct cloud *c, size_t k, buf *out)
{
    const struct cloud_group *g = &c->groups[k];
    if (!g->count)
        return;
    buf_printf(out, "<path class=\"dots g%zu\" d=\"", k);
    for (size_t i = 0; i < g->count; i++)
        buf_printf(out, "M%.1f %.1fh0", LEFT + along(c, g->points[2 * i]),
                   BASE - along(c, g->points[2 * i + 1]));
    buf_lit(out, "\"/>\n");
}

// The groups' names with the number of their points, in columns; a long one has a line for itself.
static double put_groups(const struct cloud *c, double y, buf *out)
{
    buf text = BUF_INIT;
    size_t place = 0;
    for (size_t k = 0; k < c->group_count; k++) {
        buf_clear(&text);
        buf_printf(&text, "%.*s (", STR_ARG(c->groups[k].label));
        locale_integer(c->language->locale, (int64_t)c->groups[k].count, &text);
        buf_char(&text, ')');
        bool is_long = 12 + chart_text_width(buf_view(&text)) > CHART_WIDTH / LEGEND_COLUMNS;
        place += is_long ? (LEGEND_COLUMNS - place % LEGEND_COLUMNS) % LEGEND_COLUMNS : 0;
        double x = (double)(place % LEGEND_COLUMNS) * CHART_WIDTH / LEGEND_COLUMNS,
               line = y + (double)(place / LEGEND_COLUMNS) * LEGEND_LINE;
        buf_printf(out, "<circle class=\"mark g%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", k,
                   x + 5, line - 4);
        chart_text(out, x + 12, line, "start", buf_view(&text));
        place += is_long ? LEGEND_COLUMNS : 1;
    }
    buf_free(&text);
    return y + (double)((place + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS) * LEGEND_LINE;
}

static void put_cloud(const struct cloud *c, buf *out)
{
    buf body = BUF_INIT;
    put_diagonal(c, &body);
    put_axes(c, &body);
    for (size_t k = 0; k < c->group_count; k++)
        put_group(c, k, &body);
    chart_text(&body, 0, 10, "start", c->y_title);
    chart_text(&body, LEFT + SIDE, BASE + 32, "end", c->x_title);
    double height = put_groups(c, BASE + 52, &body) - 8;
    buf_lit(out, "<figure class=\"chart\">\n<figcaption>");
    escape_text(out, c->title);
    buf_printf(out, "</figcaption>\n<svg viewBox=\"0 0 %d %.0f\" role=\"img\">\n<title>",
               CHART_WIDTH, height);
    escape_text(out, c->title);
    buf_lit(out, "</title>\n");
    buf_str(out, buf_view(&body));
    buf_lit(out, "</svg>\n</figure>\n");
    buf_free(&body);
}

static int make_cloud(lua_State *L)
{
    struct figures *f = figures_of(L);
    buf html = BUF_INIT;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (f->in_page_lua || !f->page)
        return luaL_error(L, "chart_cloud belongs into a cell; page.lua returns its table");
    struct cloud *c = arena_new(&f->arena, struct cloud, 1);
    *c = (struct cloud){0};
    take_cloud(L, c);
    sandbox_charge(L, 20000);
    put_cloud(c, &html);
    str kept = arena_str(&f->arena, buf_view(&html));
    buf_free(&html);
    return chart_push(L, kept);
}

void chart_open_cloud(lua_State *L)
{
    lua_pushcfunction(L, make_cloud);
    lua_setfield(L, -2, "chart_cloud");
}
