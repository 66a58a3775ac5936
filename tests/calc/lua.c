// lua: runs a Lua program with the estimator: lua FILE.lua [ARGUMENT ...]. The program finds the
// library as `vram`, its arguments as `arg`, and modules in the folders of LUA_PATH. Exit code 1
// after an error, which goes to stderr.

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

#include "calc/vram_lua.h"

static void set_arguments(lua_State *L, int argc, char **argv)
{
    lua_createtable(L, argc, 0);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - 1);
    }
    lua_setglobal(L, "arg");
}

static int with_traceback(lua_State *L)
{
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: lua FILE.lua [ARGUMENT ...]\n", stderr);
        return 2;
    }
    lua_State *L = luaL_newstate();
    if (!L) {
        fputs("lua: no memory\n", stderr);
        return 1;
    }
    luaL_openlibs(L);
    luaL_requiref(L, "vram", luaopen_vram, 1);
    set_arguments(L, argc, argv);
    lua_settop(L, 0);
    lua_pushcfunction(L, with_traceback);
    int failed = luaL_loadfile(L, argv[1]) || lua_pcall(L, 0, 0, 1);
    if (failed)
        fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed ? 1 : 0;
}
