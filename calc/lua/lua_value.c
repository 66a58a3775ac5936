// Owns the values of a configuration's table as texts for vram_set.

#include "calc/lua/lua_value.h"

#include <lauxlib.h>

// The items of the list at the top of the stack with + between them, as lists and sets are written.
static const char *list_text(lua_State *L, const char *function, const char *key)
{
    int list = lua_gettop(L);
    lua_Integer count = luaL_len(L, list);
    lua_pushliteral(L, "");
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_geti(L, list, i) == LUA_TTABLE)
            luaL_error(L, "vram.%s: %s: a list in a list", function, key);
        const char *item = lua_value(L, function, key);
        lua_pushfstring(L, "%s%s%s", lua_tostring(L, list + 1), i > 1 ? "+" : "", item);
        lua_replace(L, list + 1);
        lua_settop(L, list + 1);
    }
    return lua_tostring(L, list + 1);
}

const char *lua_value(lua_State *L, const char *function, const char *key)
{
    switch (lua_type(L, -1)) {
    case LUA_TTABLE: return list_text(L, function, key);
    case LUA_TBOOLEAN: return lua_toboolean(L, -1) ? "true" : "false";
    case LUA_TNUMBER: {
        int whole;
        lua_Integer n = lua_tointegerx(L, -1, &whole);
        if (whole)
            return lua_pushfstring(L, "%I", (LUAI_UACINT)n);
        return luaL_tolstring(L, -1, NULL);
    }
    case LUA_TSTRING: return lua_tostring(L, -1);
    default:
        luaL_error(
            L, "vram.%s: %s: a number, a string, a boolean or a list of them is needed, not a %s",
            function, key, luaL_typename(L, -1));
        return NULL;
    }
}
