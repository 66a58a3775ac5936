// The estimator in page.lua: `vram`, with results whose numbers are computed figures.
#include <string.h>

#include "calc/vram_lua.h"
#include "gen/site/figures/figures_lib.h"

#define RESULT_META "result of vram"

// A result is the table that vram gave, with the source of its numbers.
static void push_result(lua_State *L, int table, int source)
{
    table = lua_absindex(L, table);
    source = lua_absindex(L, source);
    lua_newuserdatauv(L, 0, 2);
    lua_pushvalue(L, table);
    lua_setiuservalue(L, -2, 1);
    lua_pushvalue(L, source);
    lua_setiuservalue(L, -2, 2);
    luaL_setmetatable(L, RESULT_META);
}

// The unit of a table's member, as the library gives it beside the table.
static str unit_of_member(lua_State *L, int table, int key)
{
    str unit = STR("");
    int top = lua_gettop(L);
    if (luaL_getmetafield(L, table, "units") == LUA_TTABLE) {
        lua_pushvalue(L, key);
        if (lua_rawget(L, -2) == LUA_TSTRING && str_eq(str_c(lua_tostring(L, -1)), STR("bytes")))
            unit = STR("B");
    }
    lua_settop(L, top);
    return unit;
}

static int result_index(lua_State *L)
{
    luaL_checkudata(L, 1, RESULT_META);
    lua_settop(L, 2);
    lua_getiuservalue(L, 1, 1);
    lua_getiuservalue(L, 1, 2);
    lua_pushvalue(L, 2);
    int type = lua_gettable(L, 3);
    if (type == LUA_TTABLE) {
        push_result(L, -1, 4);
    } else if (type == LUA_TNUMBER) {
        str source;
        source.ptr = lua_tolstring(L, 4, &source.len);
        figure_push(L, figure_new(L, lua_tonumber(L, -1), unit_of_member(L, 3, 2), FIGURE_COMPUTED,
                                  source));
    }
    return 1;
}

static int result_len(lua_State *L)
{
    luaL_checkudata(L, 1, RESULT_META);
    lua_getiuservalue(L, 1, 1);
    lua_pushinteger(L, luaL_len(L, -1));
    return 1;
}

// "key=value", with quotes where a shell needs them.
static void push_setting(lua_State *L, int key, int value)
{
    const char *name = luaL_tolstring(L, key, NULL);
    const char *text = luaL_tolstring(L, value, NULL);
    const char *quote = strpbrk(text, " ,()|&;<>$") ? "'" : "";
    lua_pushfstring(L, "%s=%s%s%s", name, quote, text, quote);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

// " batch_size=16 preset=gpt2": the configuration at index in order of key.
static void push_settings(lua_State *L, int index)
{
    luaL_Buffer b;
    lua_newtable(L);
    int keys = lua_gettop(L);
    lua_Integer n = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        push_setting(L, lua_gettop(L) - 1, lua_gettop(L));
        lua_rawseti(L, keys, ++n);
    }
    lua_getglobal(L, "table");
    lua_getfield(L, -1, "sort");
    lua_pushvalue(L, keys);
    lua_call(L, 1, 0);
    luaL_buffinit(L, &b);
    for (lua_Integer i = 1; i <= n; i++) {
        luaL_addchar(&b, ' ');
        lua_rawgeti(L, keys, i);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
}

// The command that repeats a call whose arguments are at 1 and 2: "vramcalc estimate batch_size=16
// preset=gpt2". A text is what the command reads, a name what it is asked for.
static void push_source(lua_State *L, const char *command)
{
    if (lua_istable(L, 1)) {
        push_settings(L, 1);
        lua_pushfstring(L, "vramcalc %s%s", command, lua_tostring(L, -1));
    } else if (strcmp(command, "explain-oom") == 0) {
        lua_pushliteral(L, "");
        if (lua_istable(L, 2))
            push_settings(L, 2);
        const char *settings = lua_tostring(L, -1);
        lua_pushfstring(L, "echo '%s' | vramcalc explain-oom -%s", luaL_tolstring(L, 1, NULL),
                        settings);
    } else {
        lua_pushfstring(L, "vramcalc %s | grep '%s'", command, luaL_tolstring(L, 1, NULL));
    }
}

// Upvalues: a function of vram, a unit and a command. What it returns as a table becomes a result,
// a number a figure in that unit.
static int call_wrapped(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_checkany(L, 1);
    push_source(L, lua_tostring(L, lua_upvalueindex(3)));
    lua_insert(L, 1);
    lua_settop(L, n + 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 2);
    sandbox_charge(L, 20000);
    lua_call(L, n, 1);
    str source;
    source.ptr = lua_tolstring(L, 1, &source.len);
    if (lua_istable(L, -1))
        push_result(L, -1, 1);
    else if (lua_isnumber(L, -1))
        figure_push(L,
                    figure_new(L, lua_tonumber(L, -1), str_c(lua_tostring(L, lua_upvalueindex(2))),
                               FIGURE_COMPUTED, source));
    return 1;
}

// Functions of a configuration and the commands that say the same. live_peak gives bytes; it is
// left out because estimate says more.
static const struct {
    const char *name, *unit, *command;
} wrapped[] = {
    {"estimate", "", "estimate"},
    {"compare", "", "compare"},
    {"advise", "", "advise"},
    {"fit", "", "fit"},
    {"max_batch", "", "max-batch"},
    {"explain_oom", "", "explain-oom"},
    {"gpu", "", "gpus"},
    {"gpus", "", "gpus"},
    {"step_seconds", "s", "advise"},
};

void figures_open_vram(lua_State *L)
{
    luaL_newmetatable(L, RESULT_META);
    lua_pushcfunction(L, result_index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, result_len);
    lua_setfield(L, -2, "__len");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_pushcfunction(L, luaopen_vram);
    lua_call(L, 0, 1);
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) {
        if (lua_getfield(L, -1, wrapped[i].name) == LUA_TFUNCTION) {
            lua_pushstring(L, wrapped[i].unit);
            lua_pushstring(L, wrapped[i].command);
            lua_pushcclosure(L, call_wrapped, 3);
            lua_setfield(L, -2, wrapped[i].name);
        } else {
            lua_pop(L, 1);
        }
    }
    lua_setfield(L, -2, "vram");
}
