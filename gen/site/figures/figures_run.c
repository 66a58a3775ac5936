// A document's figures: runs page.lua once in its own sandbox, keeps what it returns, and evaluates
// code that cites it.
#include "gen/site/figures/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/site/figures/figures_run.h"

#define PAGE_LUA_MAX ((size_t)1 << 20)  // bytes of a page.lua

// Names that cells use: figures first, then what is in every cell. The upvalues: figures by name,
// the functions.
static int cell_index(lua_State *L)
{
    struct figures *f = figures_of(L);
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL)
        return 1;
    lua_pushglobaltable(L);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) == LUA_TNIL && lua_type(L, 2) == LUA_TSTRING && !f->unknown.len) {
        str name;
        name.ptr = lua_tolstring(L, 2, &name.len);
        f->unknown = arena_str(&f->arena, name);
    }
    return 1;
}

// A table that reads through cell_index is left on the stack; values is what page.lua returned, or
// an empty table.
static void push_environment(lua_State *L, int values, int functions)
{
    values = lua_absindex(L, values);
    functions = lua_absindex(L, functions);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, values);
    lua_pushvalue(L, functions);
    lua_pushcclosure(L, cell_index, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

// Libraries and functions for page.lua; the environment for cells comes when page.lua has run.
static int prepare(lua_State *L)
{
    struct figures *f = figures_of(L);
    lua_newtable(L);
    figures_open_values(L);
    figures_open_vram(L);
    figures_open_charts(L);
    figures_open_list(L);
    figures_open_beside(L);
    figures_open_table(L);
    if (f->doc->source && f->doc->source->subject.len) {
        lua_pushlstring(L, f->doc->source->each.ptr, f->doc->source->each.len);
        lua_pushlstring(L, f->doc->source->subject.ptr, f->doc->source->subject.len);
        lua_rawset(L, -3);
    }
    lua_pushvalue(L, -1);
    f->values = luaL_ref(L, LUA_REGISTRYINDEX);  // the functions, until page.lua has returned
    lua_newtable(L);
    f->cells = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    push_environment(L, -1, -2);
    sandbox_environment(f->sandbox);
    return 0;
}

static bool state_open(struct figures *f)
{
    if (f->sandbox)
        return true;
    f->sandbox = sandbox_new((struct sandbox_limits){0});
    if (!f->sandbox) {
        diag_add(f->d, D_LUA_LIMIT, DIAG_FILE(f->doc->page_lua), "no memory for Lua");
        return false;
    }
    f->L = sandbox_state(f->sandbox);
    sandbox_set_user(f->sandbox, f);
    lua_pushcfunction(f->L, prepare);
    return sandbox_call(f->sandbox, 0, 0, f->doc->page_lua, f->d);
}

// Argument 1 is what page.lua returned: its figures get their names, and cells see them from now
// on.
static int take_values(lua_State *L)
{
    struct figures *f = figures_of(L);
    if (!lua_istable(L, 1))
        return luaL_error(
            L, "page.lua must return a table of figures: return {name = computed(...), ...}");
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        struct figure *g = figure_at(L, -1);
        if (lua_type(L, -2) != LUA_TSTRING)
            return luaL_error(L, "a figure without a name: return {name = computed(...), ...}");
        if (lua_type(L, -1) == LUA_TNUMBER)
            diag_add(f->d, D_FIGURE_SOURCE, DIAG_FILE(f->doc->page_lua), "%s is a bare number",
                     lua_tostring(L, -2));
        if (!g)
            continue;
        if (!g->name.len)
            g->name = arena_str(&f->arena, str_c(lua_tostring(L, -2)));
        f->defined = arena_grow(&f->arena, f->defined, f->defined_count, &f->defined_cap,
                                f->defined_count + 1, sizeof *f->defined);
        f->defined[f->defined_count++] = g;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->values);
    push_environment(L, 1, -1);
    sandbox_environment(f->sandbox);
    lua_pushvalue(L, 1);
    lua_rawseti(L, LUA_REGISTRYINDEX, f->values);
    return 0;
}

// A chunk (argument 1) may have globals of its own, which nothing else sees.
static int fresh_environment(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, sandbox_environment_key());
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_setupvalue(L, 1, 1);
    return 0;
}

// Runs a chunk with globals of its own; leaves nresults values. text shows where messages point.
static bool run_chunk(struct figures *f, str code, str file, str text, uint32_t line, int nresults)
{
    if (!sandbox_load(f->sandbox, code, file, text, line, f->d))
        return false;
    lua_pushcfunction(f->L, fresh_environment);
    lua_pushvalue(f->L, -2);
    if (sandbox_call(f->sandbox, 1, 0, file, f->d))
        return sandbox_call(f->sandbox, 0, nresults, file, f->d);
    lua_pop(f->L, 1);
    return false;
}

static int by_line(const void *pa, const void *pb)
{
    const struct figure *a = *(struct figure *const *)pa, *b = *(struct figure *const *)pb;
    return a->line != b->line ? (a->line > b->line) - (a->line < b->line)
                              : str_cmp(a->name, b->name);
}

static void page_lua_run(struct figures *f)
{
    buf bytes = BUF_INIT;
    if (fs_read(f->doc->page_lua.ptr, PAGE_LUA_MAX, &bytes) != 0) {
        diag_add(f->d, errno == EFBIG ? D_FILE_TOO_LARGE : D_IO_READ, DIAG_FILE(f->doc->page_lua),
                 "%s", strerror(errno));
        buf_free(&bytes);
        return;
    }
    f->text = arena_str(&f->arena, buf_view(&bytes));
    buf_free(&bytes);
    if (!state_open(f))
        return;
    f->in_page_lua = true;
    bool ok = run_chunk(f, f->text, f->doc->page_lua, f->text, 1, 1);
    f->in_page_lua = false;
    if (ok) {
        lua_pushcfunction(f->L, take_values);
        lua_insert(f->L, -2);
        ok = sandbox_call(f->sandbox, 1, 0, f->doc->page_lua, f->d);
    }
    f->page_lua_failed = !ok;
    if (f->defined_count)
        qsort(f->defined, f->defined_count, sizeof *f->defined, by_line);
}

struct figures *figures_load(const struct site *site, const struct document *doc, struct diag *d)
{
    struct figures *f = calloc(1, sizeof *f);
    if (!f)
        buf_no_memory();
    f->site = site;
    f->doc = doc;
    f->d = d;
    f->text = f->unknown = STR("");
    if (doc->page_lua.len)
        page_lua_run(f);
    return f;
}

void figures_free(struct figures *f)
{
    if (!f)
        return;
    sandbox_free(f->sandbox);
    arena_free(&f->arena);
    arena_free(&f->page_arena);
    free(f);
}

size_t figures_defined(const struct figures *f, const struct figure *const **list)
{
    *list = (const struct figure *const *)f->defined;
    return f->defined_count;
}

// Leaves the function that `return CODE` compiles to; each code is compiled once.
static bool compile_cell(struct figures *f, str code)
{
    lua_State *L = f->L;
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->cells);
    lua_pushlstring(L, code.ptr, code.len);
    if (lua_rawget(L, -2) != LUA_TNIL) {
        lua_replace(L, -2);
        return true;
    }
    lua_pop(L, 1);
    buf chunk = BUF_INIT;
    buf_lit(&chunk, "return ");
    buf_str(&chunk, code);
    bool ok = sandbox_load(f->sandbox, buf_view(&chunk), STR("cell"), STR_NONE, 1, f->d);
    buf_free(&chunk);
    if (ok) {
        lua_pushlstring(L, code.ptr, code.len);
        lua_pushvalue(L, -2);
        lua_rawset(L, -4);
        lua_replace(L, -2);
    } else {
        lua_pop(L, 1);
    }
    return ok;
}

// An unknown name explains an error better than what came of it; and where page.lua failed, that is
// explanation enough.
static bool report_unknown(struct figures *f, struct diag_pos at)
{
    if (!f->unknown.len)
        return false;
    if (!f->page_lua_failed)
        diag_add(f->d, D_FIGURE_UNKNOWN, at, "%.*s", STR_ARG(f->unknown));
    return true;
}

static bool call_cell(struct figures *f, struct diag_pos at)
{
    struct diag *quiet = diag_new((struct diag_options){.quiet = true}), *loud = f->d;
    buf packed = BUF_INIT;
    f->d = quiet;
    sandbox_errors_at(f->sandbox, &at);
    bool ok = sandbox_call(f->sandbox, 0, 1, f->doc->page_lua, quiet);
    f->d = loud;
    if (ok || !report_unknown(f, at)) {
        diag_pack(quiet, &packed);
        diag_unpack(f->d, buf_view(&packed));
    }
    buf_free(&packed);
    diag_free(quiet);
    return ok;
}

bool figures_evaluate(struct figures *f, str code, struct diag_pos at, struct shown *out)
{
    if (!state_open(f))
        return false;
    lua_State *L = f->L;
    f->unknown = STR("");
    sandbox_errors_at(f->sandbox, &at);
    bool ok = compile_cell(f, code) && call_cell(f, at);
    sandbox_errors_at(f->sandbox, NULL);
    if (!ok)
        return false;
    ok = shown_at(L, -1, out);
    if (!ok && !report_unknown(f, at))
        diag_add(f->d, D_FIGURE_SOURCE, at,
                 "the cell gives a %s; write given(...) around a number of the text's own",
                 luaL_typename(L, -1));
    lua_pop(L, 1);
    return ok;
}

bool figures_print(struct figures *f, str code, struct diag_pos at, buf *out)
{
    if (!state_open(f))
        return false;
    uint32_t line, col;
    f->unknown = STR("");
    diag_line_col(at.text, at.offset, &line, &col);
    bool ok = run_chunk(f, code, at.file, at.text, line, 0);
    buf_str(out, sandbox_output(f->sandbox));
    return ok;
}
