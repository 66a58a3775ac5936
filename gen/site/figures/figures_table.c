// table_of{...} in a cell: a table whose rows page.lua makes: words, and figures with their kind and source.
#include <string.h>

#include "gen/site/figures/chart.h"
#include "gen/base/escape.h"

enum { COLUMNS = 10, ROWS = 400 };

static void put_text(lua_State *L, buf *out)
{
    lua_pushvalue(L, -1);
    escape_text(out, chart_words(L));
}

// The cell at the top of the stack: words, a figure as it is to be shown, or nil for an empty one.
static void put_cell(lua_State *L, struct figures *f, bool is_head, buf *out)
{
    struct shown s;
    bool figure = shown_at(L, -1, &s) && s.figure;
    buf_str(out, is_head ? STR("<th scope=\"row\">") : figure ? STR("<td class=\"right\">") : STR("<td>"));
    if (figure)
        figure_html(f, &s, out);
    else if (!lua_isnil(L, -1))
        put_text(L, out);
    buf_str(out, is_head ? STR("</th>") : STR("</td>"));
}

static lua_Integer list_at(lua_State *L, const char *name, lua_Integer most)
{
    if (lua_getfield(L, 1, name) != LUA_TTABLE || !lua_rawlen(L, -1) || lua_rawlen(L, -1) > (size_t)most)
        luaL_error(L, "table_of{title = ..., columns = {...}, rows = {{...}, ...}}: %s: 1 to %d", name, (int)most);
    return (lua_Integer)lua_rawlen(L, -1);
}

static void check_cell(lua_State *L)
{
    struct shown s;
    if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING && !(shown_at(L, -1, &s) && s.figure))
        luaL_error(L, "a %s in a table; words and figures are wanted", luaL_typename(L, -1));
}

// Everything that can be wrong with the table, so that writing it raises no error. The list of rows is at the top of the stack.
static void check_rows(lua_State *L, lua_Integer rows, lua_Integer columns)
{
    for (lua_Integer i = 1; i <= rows; i++) {
        if (lua_rawgeti(L, -1, i) != LUA_TTABLE)
            luaL_error(L, "row %d is a %s, not a list of cells", (int)i, luaL_typename(L, -1));
        for (lua_Integer k = 1; k <= columns; k++) {
            lua_rawgeti(L, -1, k);
            check_cell(L);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

// Columns are at 2, rows at 3. A column of figures is to the right, as its first row shows.
static void put_titles(lua_State *L, lua_Integer columns, buf *out)
{
    lua_rawgeti(L, 3, 1);
    for (lua_Integer i = 1; i <= columns; i++) {
        lua_rawgeti(L, -1, i);
        bool right = i > 1 && figure_at(L, -1);
        lua_pop(L, 1);
        buf_str(out, right ? STR("<th scope=\"col\" class=\"right\">") : STR("<th scope=\"col\">"));
        lua_rawgeti(L, 2, i);
        put_text(L, out);
        lua_pop(L, 1);
        buf_lit(out, "</th>");
    }
    lua_pop(L, 1);
}

static void put_rows(lua_State *L, struct figures *f, lua_Integer rows, lua_Integer columns, buf *out)
{
    for (lua_Integer i = 1; i <= rows; i++) {
        lua_rawgeti(L, 3, i);
        buf_lit(out, "<tr>");
        for (lua_Integer k = 1; k <= columns; k++) {
            lua_rawgeti(L, -1, k);
            put_cell(L, f, k == 1, out);
            lua_pop(L, 1);
        }
        buf_lit(out, "</tr>\n");
        lua_pop(L, 1);
    }
}

static int make_table(lua_State *L)
{
    struct figures *f = figures_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (f->in_page_lua || !f->page)
        return luaL_error(L, "table_of belongs into a cell; page.lua returns its table");
    str title = chart_words_field(L, 1, "title");
    luaL_argcheck(L, title.len, 1, "a table has a title");
    lua_Integer columns = list_at(L, "columns", COLUMNS), rows = list_at(L, "rows", ROWS);
    check_rows(L, rows, columns);
    sandbox_charge(L, 200 * (uint64_t)(rows * columns));
    buf html = BUF_INIT;
    buf_lit(&html, "<div class=\"block\">\n<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    escape_attribute(&html, title);
    buf_lit(&html, "\"><table>\n<thead><tr>");
    put_titles(L, columns, &html);
    buf_lit(&html, "</tr></thead>\n<tbody>\n");
    put_rows(L, f, rows, columns, &html);
    buf_lit(&html, "</tbody></table></div>\n</div>\n");
    str kept = arena_str(&f->arena, buf_view(&html));
    buf_free(&html);
    return chart_push(L, kept);
}

void figures_open_table(lua_State *L)
{
    lua_pushcfunction(L, make_table);
    lua_setfield(L, -2, "table_of");
}
