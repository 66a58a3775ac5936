// Table functions of the sandbox: every step is counted, and sort is stable and safe with any
// comparison.
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "gen/site/sandbox/sandbox_lib.h"

// Length by the language's own rule (__len included), bounded to what can be counted through.
static lua_Integer checked_length(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TTABLE);
    lua_Integer n = luaL_len(L, index);
    if (n < 0 || n > INT32_MAX)
        luaL_error(L, "the table's length is out of range");
    return n;
}

static int table_insert(lua_State *L)
{
    lua_Integer end = checked_length(L, 1) + 1, at = end;
    int n = lua_gettop(L);
    if (n == 3) {
        at = luaL_checkinteger(L, 2);
        luaL_argcheck(L, at >= 1 && at <= end, 2, "position out of bounds");
    } else if (n != 2) {
        return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    sandbox_charge(L, (uint64_t)(end - at));
    for (lua_Integer i = end; i > at; i--) {
        lua_geti(L, 1, i - 1);
        lua_seti(L, 1, i);
    }
    lua_seti(L, 1, at);
    return 0;
}

static int table_remove(lua_State *L)
{
    lua_Integer end = checked_length(L, 1), at = luaL_optinteger(L, 2, end);
    if (lua_gettop(L) > 1)
        luaL_argcheck(L, (end == 0 && at == 0) || (at >= 1 && at <= end + 1), 2,
                      "position out of bounds");
    lua_geti(L, 1, at);
    if (at < end)
        sandbox_charge(L, (uint64_t)(end - at));
    for (; at < end; at++) {
        lua_geti(L, 1, at + 1);
        lua_seti(L, 1, at);
    }
    lua_pushnil(L);
    lua_seti(L, 1, at);
    return 1;
}

static int table_concat(lua_State *L)
{
    size_t sep_len;
    luaL_checktype(L, 1, LUA_TTABLE);
    const char *sep = luaL_optlstring(L, 2, "", &sep_len);
    lua_Integer from = luaL_optinteger(L, 3, 1);
    lua_Integer to = lua_isnoneornil(L, 4) ? checked_length(L, 1) : luaL_checkinteger(L, 4);
    luaL_Buffer b;
    lua_settop(L, 4);
    if (from <= to)
        sandbox_charge(L, (uint64_t)to - (uint64_t)from);
    luaL_buffinit(L, &b);
    for (lua_Integer i = from; i <= to; i++) {
        lua_geti(L, 1, i);
        if (!lua_isstring(L, -1))
            return luaL_error(L, "invalid value (at index %I) in table for 'concat'",
                              (LUAI_UACINT)i);
        luaL_addvalue(&b);
        if (i == to)
            break;  // i + 1 may not exist
        luaL_addlstring(&b, sep, sep_len);
    }
    luaL_pushresult(&b);
    return 1;
}

static int table_move(lua_State *L)
{
    lua_Integer from = luaL_checkinteger(L, 2), end = luaL_checkinteger(L, 3),
                to = luaL_checkinteger(L, 4);
    int target = lua_isnoneornil(L, 5) ? 1 : 5;
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, target, LUA_TTABLE);
    if (end >= from) {
        uint64_t n = (uint64_t)end - (uint64_t)from;
        sandbox_charge(L, n);
        luaL_argcheck(L, n < INT32_MAX && (to <= 0 || (uint64_t)to + n <= LUA_MAXINTEGER), 4,
                      "too many elements");
        bool forward =
            to > end || to <= from || (target != 1 && !lua_compare(L, 1, target, LUA_OPEQ));
        for (uint64_t k = 0; k <= n; k++) {
            lua_Integer i = (lua_Integer)(forward ? k : n - k);
            lua_geti(L, 1, from + i);
            lua_seti(L, target, to + i);
        }
    }
    lua_pushvalue(L, target);
    return 1;
}

// The values are copied to a table at VALUES; what is sorted are their numbers. A merge sort asks
// about each pair once and keeps equal values in place, whatever the comparison answers.
enum { COMPARE = 2, VALUES = 3 };

static bool comes_before(lua_State *L, int a, int b)
{
    bool has_function = !lua_isnil(L, COMPARE);
    if (has_function)
        lua_pushvalue(L, COMPARE);
    lua_rawgeti(L, VALUES, a);
    lua_rawgeti(L, VALUES, b);
    bool answer;
    if (has_function) {
        lua_call(L, 2, 1);
        answer = lua_toboolean(L, -1);
        lua_pop(L, 1);
    } else {
        answer = lua_compare(L, -2, -1, LUA_OPLT);
        lua_pop(L, 2);
    }
    return answer;
}

static void merge(lua_State *L, const int *from, int *to, int low, int middle, int high)
{
    int a = low, b = middle;
    for (int k = low; k < high; k++) {
        bool second = a == middle || (b < high && comes_before(L, from[b], from[a]));
        to[k] = second ? from[b++] : from[a++];
    }
}

static int table_sort(lua_State *L)
{
    int n = (int)checked_length(L, 1);
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    sandbox_charge(L, (uint64_t)n);
    lua_createtable(L, n, 0);
    int *order = lua_newuserdatauv(L, (size_t)n * 2 * sizeof *order + 1, 0), *other = order + n;
    for (int i = 0; i < n; i++) {
        order[i] = i + 1;
        lua_geti(L, 1, i + 1);
        lua_rawseti(L, VALUES, i + 1);
    }
    for (int64_t width = 1; width < n; width *= 2) {
        sandbox_charge(L, (uint64_t)n);
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t middle = low + width < n ? low + width : n,
                    high = low + 2 * width < n ? low + 2 * width : n;
            merge(L, order, other, (int)low, (int)middle, (int)high);
        }
        int *swap = order;
        order = other;
        other = swap;
    }
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, VALUES, order[i]);
        lua_seti(L, 1, i + 1);
    }
    return 0;
}

const luaL_Reg sandbox_table[] = {
    {"insert", table_insert}, {"remove", table_remove}, {"concat", table_concat},
    {"move", table_move},     {"sort", table_sort},     {NULL, NULL},
};
