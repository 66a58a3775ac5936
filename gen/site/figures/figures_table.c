// table_of{...} in a cell: a table whose rows page.lua makes: words, and figures with their kind
// and source.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/site/documents/nav.h"
#include "gen/site/figures/chart.h"
#include "gen/text/address.h"

enum { COLUMNS = 10, ROWS = 400 };

static void put_text(lua_State *L, buf *out)
{
    lua_pushvalue(L, -1);
    escape_text(out, chart_words(L));
}

// {words, page = "KEY", state = "gpu=..."}: words that lead to a document, or to a state of the
// calculator's.
static void put_link(lua_State *L, struct figures *f, buf *out)
{
    buf address = BUF_INIT;
    lua_getfield(L, -1, "page");
    const struct document *doc = map_get(&f->site->document_by_key, str_c(lua_tostring(L, -1)));
    lua_pop(L, 1);
    address_relative(f->page->url, nav_url(f->site, doc, f->page->language, &f->page_arena),
                     &address);
    lua_getfield(L, -1, "state");
    if (lua_isstring(L, -1))
        buf_char(&address, '#'), buf_str(&address, str_c(lua_tostring(L, -1)));
    lua_pop(L, 1);
    buf_lit(out, "<a href=\"");
    escape_attribute(out, buf_view(&address));
    buf_lit(out, "\">");
    lua_rawgeti(L, -1, 1);
    put_text(L, out);
    lua_pop(L, 1);
    buf_lit(out, "</a>");
    buf_free(&address);
}

// The cell at the top of the stack: words, a figure as it is to be shown, a link, or nil for an
// empty one.
static void put_cell(lua_State *L, struct figures *f, bool is_head, bool right, buf *out)
{
    struct shown s;
    bool figure = shown_at(L, -1, &s) && s.figure;
    buf_str(out, is_head ? STR("<th scope=\"row\">")
                 : right ? STR("<td class=\"right\">")
                         : STR("<td>"));
    if (figure)
        figure_html(f, &s, out);
    else if (lua_istable(L, -1))
        put_link(L, f, out);
    else if (!lua_isnil(L, -1))
        put_text(L, out);
    buf_str(out, is_head ? STR("</th>") : STR("</td>"));
}

static lua_Integer list_at(lua_State *L, const char *name, lua_Integer most)
{
    if (lua_getfield(L, 1, name) != LUA_TTABLE || !lua_rawlen(L, -1) ||
        lua_rawlen(L, -1) > (size_t)most)
        luaL_error(L, "table_of{title = ..., columns = {...}, rows = {{...}, ...}}: %s: 1 to %d",
                   name, (int)most);
    return (lua_Integer)lua_rawlen(L, -1);
}

// A table in a cell: words, and a document that the page's language has.
static void check_link(lua_State *L)
{
    struct figures *f = figures_of(L);
    const char *key = lua_getfield(L, -1, "page") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    const struct document *doc = map_get(&f->site->document_by_key, str_c(key));
    if (!doc || !nav_url(f->site, doc, f->page->language, &f->page_arena).len)
        luaL_error(L, "a cell {words, page = KEY}: there is no document '%s'", key);
    if (lua_rawgeti(L, -2, 1) != LUA_TSTRING)
        luaL_error(L, "a cell {words, page = KEY}: the words are missing");
    lua_pop(L, 2);
}

static void check_cell(lua_State *L)
{
    struct shown s;
    if (lua_type(L, -1) == LUA_TTABLE) {
        check_link(L);
        return;
    }
    if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING && !(shown_at(L, -1, &s) && s.figure))
        luaL_error(L, "a %s in a table; words and figures are wanted", luaL_typename(L, -1));
}

// Everything that can be wrong with the table, so that writing it raises no error. The list of rows
// is at the top of the stack.
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

// Whether a column of the rows at 3 has a figure: all of it is to the right then, a dash among
// them, too.
static bool has_figures(lua_State *L, lua_Integer column, lua_Integer rows)
{
    bool found = false;
    for (lua_Integer i = 1; i <= rows && !found; i++) {
        struct shown s;
        lua_rawgeti(L, 3, i);
        lua_rawgeti(L, -1, column);
        found = shown_at(L, -1, &s) && s.figure;
        lua_pop(L, 2);
    }
    return found;
}

// Columns are at 2.
static void put_titles(lua_State *L, lua_Integer columns, const bool *right, buf *out)
{
    for (lua_Integer i = 1; i <= columns; i++) {
        buf_str(out, right[i - 1] ? STR("<th scope=\"col\" class=\"right\">")
                                  : STR("<th scope=\"col\">"));
        lua_rawgeti(L, 2, i);
        put_text(L, out);
        lua_pop(L, 1);
        buf_lit(out, "</th>");
    }
}

static void put_rows(lua_State *L, struct figures *f, lua_Integer rows, lua_Integer columns,
                     const bool *right, buf *out)
{
    for (lua_Integer i = 1; i <= rows; i++) {
        lua_rawgeti(L, 3, i);
        buf_lit(out, "<tr>");
        for (lua_Integer k = 1; k <= columns; k++) {
            lua_rawgeti(L, -1, k);
            put_cell(L, f, k == 1, right[k - 1], out);
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
    bool right[COLUMNS] = {0};
    check_rows(L, rows, columns);
    for (lua_Integer i = 2; i <= columns; i++)
        right[i - 1] = has_figures(L, i, rows);
    sandbox_charge(L, 200 * (uint64_t)(rows * columns));
    buf html = BUF_INIT;
    buf_lit(
        &html,
        "<div class=\"block\">\n<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"");
    escape_attribute(&html, title);
    buf_lit(&html, "\"><table>\n<thead><tr>");
    put_titles(L, columns, right, &html);
    buf_lit(&html, "</tr></thead>\n<tbody>\n");
    put_rows(L, f, rows, columns, right, &html);
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
