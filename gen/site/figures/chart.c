// Charts as cells: reads a cell's table of figures, writes a <figure> with a drawing, its description and its numbers.
#include <math.h>
#include <string.h>

#include "gen/site/figures/chart.h"
#include "gen/base/escape.h"

#define CHART_META "chart"

// X(name, columns at least, at most): chart_NAME{...}
#define CHARTS(X) X(stack, 1, 4) X(pairs, 2, 2) X(lines, 1, 4) X(time, 1, 1) X(scatter, 2, 2)

static const struct kind {
    const char *name;
    size_t least, most;
    double (*draw)(const struct chart *, buf *);
} kinds[] = {
#define X(name, least, most) {#name, least, most, chart_##name},
    CHARTS(X)
#undef X
};

enum { KIND_STACK = 0, KIND_COUNT = sizeof kinds / sizeof *kinds };

// ---- the table of a cell -----------------------------------------------------------------------

str chart_words(lua_State *L)
{
    struct figures *f = figures_of(L);
    buf words = BUF_INIT;
    str key = STR("");
    if (lua_type(L, -1) == LUA_TSTRING)
        key.ptr = lua_tolstring(L, -1, &key.len);
    if (!catalog_format(f->page->language->catalog, key, NULL, 0, &words, NULL))
        buf_str(&words, key);
    str s = arena_str(&f->arena, buf_view(&words));
    buf_free(&words);
    lua_pop(L, 1);
    return s;
}

str chart_words_field(lua_State *L, int index, const char *name)
{
    lua_getfield(L, index, name);
    return chart_words(L);
}

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

// A row is at the top of the stack: {label, figure, ...}; pops it.
static void take_row(lua_State *L, struct chart *c)
{
    struct chart_row *row = &c->rows[c->row_count++];
    luaL_checktype(L, -1, LUA_TTABLE);
    int index = lua_gettop(L);
    lua_rawgeti(L, index, 1);
    row->x = lua_tonumber(L, -1);
    if (lua_type(L, -1) == LUA_TNUMBER) {
        luaL_tolstring(L, -1, NULL);
        lua_remove(L, -2);
    }
    str key = STR("");
    key.ptr = luaL_checklstring(L, -1, &key.len);
    row->class = class_of(figures_of(L), key);
    row->label = chart_words(L);
    for (size_t i = 0; i < c->column_count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 2);
        row->value[i] = take_figure(L);
    }
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
        luaL_error(L, "chart_%s{title = ..., columns = {%d or more}, rows = {...}}", k->name, (int)k->least);
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
}

// ---- what all charts have ----------------------------------------------------------------------

static void put_plain(const struct chart *c, struct figure *g, buf *out)
{
    buf text = BUF_INIT;
    shown_text(&(struct shown){.figure = g, .style = SHOWN_DEFAULT, .unit = UNIT_MiB, .decimals = -1}, c->language, &text);
    escape_text(out, buf_view(&text));
    buf_free(&text);
}

// The numbers in words: "Logits: eager 4,716 MiB, compiled 2,358 MiB; ..."
static void put_description(const struct chart *c, buf *out)
{
    buf_lit(out, "<desc>");
    for (size_t i = 0; i < c->row_count; i++) {
        const char *before = ": ";
        buf_str(out, i ? STR("; ") : STR(""));
        escape_text(out, c->rows[i].label);
        for (size_t k = 0; k < c->column_count; k++) {
            if (!c->rows[i].value[k])
                continue;
            buf_printf(out, "%s", before);
            before = ", ";
            escape_text(out, c->columns[k]);
            buf_char(out, ' ');
            put_plain(c, c->rows[i].value[k], out);
        }
    }
    if (c->limit) {
        buf_lit(out, "; ");
        escape_text(out, c->limit_label);
        buf_lit(out, ": ");
        put_plain(c, c->limit, out);
    }
    buf_lit(out, "</desc>\n");
}

static void put_drawing(const struct chart *c, const struct kind *k, buf *out)
{
    buf body = BUF_INIT;
    double height = k->draw(c, &body);
    buf_printf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\">\n<title>", CHART_WIDTH, height);
    escape_text(out, c->title);
    buf_lit(out, "</title>\n");
    put_description(c, out);
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

// In a stack the label is its legend too: the letter and the colour of its part.
static void put_row(struct figures *f, const struct chart *c, size_t index, const char *letter, buf *out)
{
    const struct chart_row *row = &c->rows[index];
    buf_lit(out, "<tr><th scope=\"row\">");
    if (*letter)
        buf_printf(out, "<span class=\"swatch %.*s\"></span>%s ", STR_ARG(row->class), letter);
    escape_text(out, row->label);
    buf_lit(out, "</th>");
    for (size_t k = 0; k < c->column_count; k++) {
        buf_lit(out, "<td>");
        if (row->value[k])
            figure_html(f, &(struct shown){.figure = row->value[k], .style = SHOWN_DEFAULT, .unit = UNIT_MiB, .decimals = -1}, out);
        buf_lit(out, "</td>");
    }
    buf_lit(out, "</tr>\n");
}

static void put_numbers(struct figures *f, const struct chart *c, bool is_stack, buf *out)
{
    buf_lit(out, "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    escape_attribute(out, c->title);
    buf_lit(out, "\"><table>\n");
    put_head(c, out);
    buf_lit(out, "<tbody>\n");
    for (size_t i = 0; i < c->row_count; i++)
        put_row(f, c, i, is_stack ? (char[]){(char)('A' + i % 26), '\0'} : "", out);
    buf_lit(out, "</tbody></table></div>\n");
}

static void put_chart(struct figures *f, const struct chart *c, const struct kind *k, buf *out)
{
    bool is_stack = k == &kinds[KIND_STACK];
    buf_lit(out, "<figure class=\"chart\">\n<figcaption>");
    escape_text(out, c->title);
    buf_lit(out, "</figcaption>\n");
    put_drawing(c, k, out);
    if (!is_stack) {
        buf_lit(out, "<details><summary>");
        if (!catalog_format(c->language->catalog, STR("chart.numbers"), NULL, 0, out, NULL))
            buf_lit(out, "Numbers");
        buf_lit(out, "</summary>\n");
    }
    put_numbers(f, c, is_stack, out);
    buf_str(out, is_stack ? STR("") : STR("</details>\n"));
    buf_lit(out, "</figure>\n");
}

// ---- Lua ---------------------------------------------------------------------------------------

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
    sandbox_charge(L, 2000);
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
    for (size_t i = 0; i < KIND_COUNT; i++) {
        lua_pushfstring(L, "chart_%s", kinds[i].name);
        lua_pushinteger(L, (lua_Integer)i);
        lua_pushcclosure(L, make_chart, 1);
        lua_rawset(L, -3);
    }
}
