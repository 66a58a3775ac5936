// Charts as cells: reads a cell's table of figures, writes a <figure> with a drawing, its
// description and its numbers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/site/figures/chart.h"
#include "gen/base/escape.h"

#define CHART_META "chart"

// X(name, columns at least, at most, whether the table is the legend too, whether it is mirrored in
// right-to-left languages): chart_NAME{...}. Charts with axes in two directions are the same
// everywhere.
#define CHARTS(X) \
    X(stack, 1, 4, true, true) \
    X(pairs, 2, 2, false, true) \
    X(lines, 1, 4, false, false) \
    X(time, 1, 1, false, false) \
    X(scatter, 2, 2, false, false) \
    X(nest, 1, 1, true, true) \
    X(chain, 1, 3, true, true) \
    X(block, 1, 1, false, true) \
    X(segments, 2, 2, false, true) X(cells, 1, 1, true, true) X(area, 1, 1, true, false)

static const struct kind {
    const char *name;
    size_t least, most;
    double (*draw)(const struct chart *, buf *);
    bool is_legend;  // letters and colours are before the labels of the table, which is not folded
    bool mirrors;
} kinds[] = {
#define X(name, least, most, legend, mirrors) {#name, least, most, chart_##name, legend, mirrors},
    CHARTS(X)
#undef X
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

// The figure at the top of the stack, in bytes; pops it. NULL for nil.
static struct figure *take_figure(lua_State *L)
{
    struct figure *g = figure_at(L, -1);
    double scale;
    if (!g && !lua_isnil(L, -1))
        luaL_error(L, "a %s in a chart; figures are wanted", luaL_typename(L, -1));
    if (g && !g->missing && !figure_is_bytes(g->unit, &scale))
        luaL_error(L, "a figure in \"%s\" in a chart of bytes", g->unit.ptr);
    lua_pop(L, 1);
    return g;
}

// "calc.part.logits" is drawn as .logits.
static str class_of(struct figures *f, str key)
{
    size_t dot = str_rfind(key, '.');
    return arena_str(&f->arena, dot < key.len ? str_slice(key, dot + 1, key.len) : STR("cat"));
}

// The list at the top of the stack, as the points of a row.
static void take_points(lua_State *L, struct chart_row *row)
{
    size_t n = lua_rawlen(L, -1);
    if (n > CHART_POINTS)
        luaL_error(L, "points: at most %d", CHART_POINTS);
    row->points = arena_new(&figures_of(L)->arena, double, n);
    for (; row->point_count < n; row->point_count++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, (lua_Integer)row->point_count + 1);
        row->points[row->point_count] = luaL_checknumber(L, -1);
        if (!isfinite(row->points[row->point_count]))
            luaL_error(L, "points: finite numbers");
    }
}

// A number at the top of the stack, which a whole one leaves as the page's language writes it.
static void take_number_label(lua_State *L, const struct chart *c, const struct chart_row *row)
{
    buf text = BUF_INIT;
    if (fabs(row->x) < 0x1p53 && row->x == floor(row->x)) {
        locale_integer(c->language->locale, (int64_t)row->x, &text);
        lua_pushlstring(L, text.ptr, text.len);
    } else
        luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
    buf_free(&text);
}

// A row is at the top of the stack: {label, figure, ..., points = {...}}; pops it.
static void take_row(lua_State *L, struct chart *c)
{
    struct chart_row *row = &c->rows[c->row_count++];
    luaL_checktype(L, -1, LUA_TTABLE);
    int index = lua_gettop(L);
    lua_rawgeti(L, index, 1);
    row->x = lua_tonumber(L, -1);
    if (lua_type(L, -1) == LUA_TNUMBER)
        take_number_label(L, c, row);
    str key = STR("");
    key.ptr = luaL_checklstring(L, -1, &key.len);
    row->class = class_of(figures_of(L), key);
    row->label = chart_words(L);
    for (size_t i = 0; i < c->column_count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 2);
        row->value[i] = take_figure(L);
    }
    if (lua_getfield(L, index, "points") == LUA_TTABLE)
        take_points(L, row);
    lua_settop(L, index - 1);
}

static size_t list_length(lua_State *L, const char *name, size_t most)
{
    if (lua_getfield(L, 1, name) == LUA_TNIL)
        return 0;
    luaL_checktype(L, -1, LUA_TTABLE);
    size_t n = lua_rawlen(L, -1);
    if (n > most)
        luaL_error(L, "%s: at most %d", name, (int)most);
    return n;
}

static size_t take_numbers(lua_State *L, const char *name, double *out, size_t most)
{
    size_t n = list_length(L, name, most);
    for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        out[i] = luaL_checknumber(L, -1);
        if (!isfinite(out[i]) || out[i] < 0)
            luaL_error(L, "%s: numbers from 0 on", name);
    }
    lua_pop(L, 1);
    return n;
}

// spans = {{label, first point, last point}, ...}
static void take_spans(lua_State *L, struct chart *c)
{
    size_t n = list_length(L, "spans", CHART_SPANS);
    for (size_t i = 0; i < n; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        luaL_checktype(L, -1, LUA_TTABLE);
        lua_rawgeti(L, -1, 2);
        lua_rawgeti(L, -2, 3);
        c->spans[i] =
            (struct chart_span){.from = luaL_checknumber(L, -2), .to = luaL_checknumber(L, -1)};
        lua_pop(L, 2);
        lua_rawgeti(L, -1, 1);
        c->spans[i].label = chart_words(L);
    }
    lua_pop(L, 1);
    c->span_count = n;
}

// What only some kinds have.
static void take_extras(lua_State *L, struct chart *c)
{
    c->over_label = chart_words_field(L, 1, "over");
    c->slider = chart_words_field(L, 1, "slider");
    c->operations = chart_words_field(L, 1, "operations");
    str unit = chart_words_field(L, 1, "unit");
    c->has_unit = byte_unit_parse(unit, &c->unit);
    if (unit.len && !c->has_unit)
        luaL_error(L, "unit: %s is none of bytes", unit.ptr);
    take_spans(L, c);
}

static void take_chart(lua_State *L, const struct kind *k, struct chart *c)
{
    c->title = chart_words_field(L, 1, "title");
    c->row_title = chart_words_field(L, 1, "rows_title");
    c->x_title = chart_words_field(L, 1, "x");
    c->limit_label = chart_words_field(L, 1, "limit_label");
    lua_getfield(L, 1, "limit");
    c->limit = take_figure(L);
    lua_getfield(L, 1, "band");
    c->band = lua_tonumber(L, -1);
    lua_pop(L, 1);
    c->column_count = list_length(L, "columns", k->most);
    if (c->column_count < k->least || !c->title.len)
        luaL_error(L, "chart_%s{title = ..., columns = {%d or more}, rows = {...}}", k->name,
                   (int)k->least);
    for (size_t i = 0; i < c->column_count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        c->columns[i] = chart_words(L);
    }
    lua_pop(L, 1);
    size_t rows = list_length(L, "rows", CHART_ROWS);
    if (!rows)
        luaL_error(L, "a chart without rows");
    for (size_t i = 0; i < rows; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        take_row(L, c);
    }
    lua_pop(L, 1);
    c->point_count = take_numbers(L, "points", c->points, CHART_POINTS);
    c->mark_count = take_numbers(L, "marks", c->marks, CHART_MARKS);
    take_extras(L, c);
}

static struct shown shown_in(const struct chart *c, struct figure *g)
{
    if (c->has_unit)
        return (struct shown){.figure = g,
                              .style = SHOWN_BYTES,
                              .unit = c->unit,
                              .decimals = byte_unit_decimals(c->unit)};
    return (struct shown){.figure = g, .style = SHOWN_DEFAULT, .unit = UNIT_MiB, .decimals = -1};
}

void chart_figure(const struct chart *c, struct figure *g, buf *out)
{
    struct shown s = shown_in(c, g);
    chart_isolate(c, true, out);
    shown_text(&s, c->language, out);
    chart_isolate(c, false, out);
}

// A row's numbers in words: "eager 4,716 MiB, compiled 2,358 MiB".
static void put_row_values(const struct chart *c, const struct chart_row *row, buf *out)
{
    for (size_t k = 0; k < c->column_count; k++) {
        if (!row->value[k])
            continue;
        buf_printf(out, "%s%.*s ", out->len ? ", " : "", STR_ARG(c->columns[k]));
        chart_figure(c, row->value[k], out);
    }
}

// The numbers in words: "Logits: eager 4,716 MiB, compiled 2,358 MiB; ..."
static void put_description(const struct chart *c, buf *out)
{
    buf value = BUF_INIT, text = BUF_INIT;
    for (size_t i = 0; i < c->row_count; i++) {
        buf_str(&text, i ? STR("; ") : STR(""));
        buf_clear(&value);
        put_row_values(c, &c->rows[i], &value);
        if (value.len)
            chart_named(c, c->rows[i].label, buf_view(&value), &text);
        else
            buf_str(&text, c->rows[i].label);
    }
    if (c->limit) {
        buf_lit(&text, "; ");
        buf_clear(&value);
        chart_figure(c, c->limit, &value);
        chart_named(c, c->limit_label, buf_view(&value), &text);
    }
    buf_lit(out, "<desc>");
    escape_text(out, buf_view(&text));
    buf_lit(out, "</desc>\n");
    buf_free(&value);
    buf_free(&text);
}

static bool is_text(str element)
{
    return str_starts(element, STR("<text"));
}

// A text at x is drawn as far from the other edge; its anchor is that of its direction.
static void put_mirrored_text(str element, buf *out)
{
    size_t x = str_search(element, STR(" x=\"")) + 4,
           end = x + str_find(str_slice(element, x, element.len), '"');
    buf_str(out, str_slice(element, 0, x));
    buf_printf(out, "%.1f", CHART_WIDTH - strtod(element.ptr + x, NULL));
    buf_str(out, str_slice(element, end, element.len));
    buf_char(out, '\n');
}

// The elements of a drawing, one a line, from right to left: shapes in a group that is turned over,
// texts behind them.
static void put_mirrored(str body, buf *out)
{
    str rest = body, element;
    buf_printf(out, "<g transform=\"translate(%d 0) scale(-1 1)\">\n", CHART_WIDTH);
    while (str_line(&rest, &element))
        if (!is_text(element))
            buf_str(out, element), buf_char(out, '\n');
    buf_lit(out, "</g>\n");
    for (rest = body; str_line(&rest, &element);)
        if (is_text(element))
            put_mirrored_text(element, out);
}

static void put_drawing(const struct chart *c, const struct kind *k, buf *out)
{
    buf body = BUF_INIT;
    bool is_mirrored = k->mirrors && locale_rtl(c->language->locale);
    double height = k->draw(c, &body);
    buf_printf(out, "<svg%s viewBox=\"0 0 %d %.0f\" role=\"img\">\n<title>",
               is_mirrored ? " class=\"mirrored\"" : "", CHART_WIDTH, height);
    escape_text(out, c->title);
    buf_lit(out, "</title>\n");
    put_description(c, out);
    if (is_mirrored)
        put_mirrored(buf_view(&body), out);
    else
        buf_str(out, buf_view(&body));
    buf_lit(out, "</svg>\n");
    buf_free(&body);
}

static void put_head(const struct chart *c, buf *out)
{
    buf_str(out, c->row_title.len ? STR("<thead><tr><th scope=\"col\">") : STR("<thead><tr><td>"));
    escape_text(out, c->row_title);
    buf_str(out, c->row_title.len ? STR("</th>") : STR("</td>"));
    for (size_t k = 0; k < c->column_count; k++) {
        buf_lit(out, "<th scope=\"col\">");
        escape_text(out, c->columns[k]);
        buf_lit(out, "</th>");
    }
    buf_lit(out, "</tr></thead>\n");
}

// In a legend the label comes behind: the letter and the colour of its part.
static void put_row(struct figures *f, const struct chart *c, size_t index, const char *letter,
                    buf *out)
{
    const struct chart_row *row = &c->rows[index];
    buf_lit(out, "<tr><th scope=\"row\">");
    if (*letter && row->class.len)
        buf_printf(out, "<span class=\"swatch %.*s\"></span>", STR_ARG(row->class));
    if (*letter)
        buf_printf(out, "%s ", letter);
    escape_text(out, row->label);
    buf_lit(out, "</th>");
    for (size_t k = 0; k < c->column_count; k++) {
        buf_lit(out, "<td>");
        struct shown s = shown_in(c, row->value[k]);
        if (row->value[k])
            figure_html(f, &s, out);
        buf_lit(out, "</td>");
    }
    buf_lit(out, "</tr>\n");
}

static void put_numbers(struct figures *f, const struct chart *c, bool is_legend, buf *out)
{
    buf_lit(out, "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    escape_attribute(out, c->title);
    buf_lit(out, "\"><table>\n");
    put_head(c, out);
    buf_lit(out, "<tbody>\n");
    for (size_t i = 0; i < c->row_count; i++)
        put_row(f, c, i, is_legend ? (char[]){(char)('A' + i % 26), '\0'} : "", out);
    buf_lit(out, "</tbody></table></div>\n");
}

static void put_word_attribute(const struct chart *c, const char *name, const char *key, buf *out)
{
    buf words = BUF_INIT;
    if (!catalog_format(c->language->catalog, str_c(key), NULL, 0, &words, NULL))
        buf_str(&words, str_c(key));
    buf_printf(out, " data-%s=\"", name);
    escape_attribute(out, buf_view(&words));
    buf_char(out, '"');
    buf_free(&words);
}

// A slider over the rows of lines, for pages with a script: the values are those of the table, the
// limit is in the drawing.
static void put_slider(const struct chart *c, buf *out)
{
    buf_printf(out, "<div class=\"slider js-only\" data-limit=\"%.0f\"", chart_limit(c));
    put_word_attribute(c, "fits", "calc.fits", out);
    put_word_attribute(c, "not", "calc.not", out);
    buf_lit(out, "><label>");
    escape_text(out, c->slider);
    buf_printf(out, " <input type=\"range\" min=\"0\" max=\"%zu\" value=\"%zu\"></label>\n",
               c->row_count - 1, c->row_count / 2);
    buf_lit(out, "<p role=\"status\"></p></div>\n");
}

static void put_chart(struct figures *f, const struct chart *c, const struct kind *k, buf *out)
{
    bool is_legend = k->is_legend;
    buf_printf(out, "<figure class=\"chart %s\">\n<figcaption>", k->name);
    escape_text(out, c->title);
    buf_lit(out, "</figcaption>\n");
    put_drawing(c, k, out);
    if (c->slider.len)
        put_slider(c, out);
    if (!is_legend) {
        buf_lit(out, "<details><summary>");
        if (!catalog_format(c->language->catalog, STR("chart.numbers"), NULL, 0, out, NULL))
            buf_lit(out, "Numbers");
        buf_lit(out, "</summary>\n");
    }
    put_numbers(f, c, is_legend, out);
    buf_str(out, is_legend ? STR("") : STR("</details>\n"));
    buf_lit(out, "</figure>\n");
}

int chart_push(lua_State *L, str html)
{
    str *held = lua_newuserdatauv(L, sizeof *held, 0);
    *held = html;
    luaL_setmetatable(L, CHART_META);
    return 1;
}

bool chart_at(lua_State *L, int index, str *html)
{
    str *held = luaL_testudata(L, index, CHART_META);
    if (held)
        *html = *held;
    return held != NULL;
}

// The page's first chart of parts, its first column, is its picture for previews.
static void keep_preview(struct figures *f, const struct chart *c)
{
    buf parts = BUF_INIT;
    if (f->preview.len)
        return;
    for (size_t i = 0; i < c->row_count; i++)
        if (chart_value(&c->rows[i], 0) > 0)
            buf_printf(&parts, "%.*s %.0f\n", STR_ARG(c->rows[i].class),
                       chart_value(&c->rows[i], 0));
    if (parts.len && chart_limit(c) > 0)
        buf_printf(&parts, "limit %.0f\n", chart_limit(c));
    f->preview = arena_str(&f->page_arena, buf_view(&parts));
    buf_free(&parts);
}

// Rows that are no parts of the memory have the colours of their numbers, boxes in boxes have none.
static void colour_rows(struct figures *f, const struct kind *k, struct chart *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        if (k->draw == chart_chain)
            c->rows[i].class = arena_printf(&f->arena, "g%zu", i % 9);
        if (k->draw == chart_nest)
            c->rows[i].class = STR("");
    }
}

// chart_KIND{...} in a cell: the upvalue is the kind's index.
static int make_chart(lua_State *L)
{
    struct figures *f = figures_of(L);
    const struct kind *k = &kinds[lua_tointeger(L, lua_upvalueindex(1))];
    buf html = BUF_INIT;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (f->in_page_lua || !f->page)
        return luaL_error(L, "chart_%s belongs into a cell; page.lua returns its table", k->name);
    struct chart *c = arena_new(&f->arena, struct chart, 1);
    c->language = f->page->language;
    take_chart(L, k, c);
    colour_rows(f, k, c);
    sandbox_charge(L, 2000);
    if (k->draw == chart_stack || k->draw == chart_cells)
        keep_preview(f, c);
    put_chart(f, c, k, &html);
    str kept = arena_str(&f->arena, buf_view(&html));
    buf_free(&html);
    return chart_push(L, kept);
}

void figures_open_charts(lua_State *L)
{
    luaL_newmetatable(L, CHART_META);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    chart_open_cloud(L);
    chart_open_tree(L);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        lua_pushfstring(L, "chart_%s", kinds[i].name);
        lua_pushinteger(L, (lua_Integer)i);
        lua_pushcclosure(L, make_chart, 1);
        lua_rawset(L, -3);
    }
}
