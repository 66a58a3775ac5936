// Base, coroutine and math functions of the sandbox: ordered pairs, limits that cannot be caught,
// no addresses, no clock.
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "gen/site/sandbox/sandbox_lib.h"

#define OUTPUT_MAX ((size_t)1 << 20)  // bytes that print() may leave
#define LOAD_MAX ((size_t)1 << 20)    // bytes of a chunk given to load()
#define COROUTINE_WORK 400            // a new coroutine's hook starts to count again

const char *sandbox_tolstring(lua_State *L, int index, size_t *len)
{
    int type = lua_type(L, index);
    bool named = luaL_getmetafield(L, index, "__tostring") != LUA_TNIL;
    if (named || type < LUA_TTABLE) {
        lua_pop(L, named ? 1 : 0);
        if (type != LUA_TLIGHTUSERDATA)
            return luaL_tolstring(L, index, len);
    }
    if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING)
        return lua_tolstring(L, -1, len);
    lua_pushstring(L, lua_typename(L, type));
    return lua_tolstring(L, -1, len);
}

static int base_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    sandbox_tolstring(L, 1, NULL);
    return 1;
}

static int base_print(lua_State *L)
{
    struct sandbox *s = sandbox_of(L);
    int n = lua_gettop(L);
    for (int i = 1; i <= n; i++) {
        size_t len;
        const char *text = sandbox_tolstring(L, i, &len);
        if (s->output.len + len > OUTPUT_MAX)
            return luaL_error(L, "too much printed");
        if (i > 1)
            buf_char(&s->output, '\t');
        buf_put(&s->output, text, len);
        lua_pop(L, 1);
    }
    buf_char(&s->output, '\n');
    return 0;
}

static void check_status(lua_State *L, int status)
{
    if (status == LUA_ERRMEM)
        sandbox_of(L)->tripped = "too much memory";
    sandbox_check(L);
}

static int after_pcall(lua_State *L, int status, lua_KContext extra)
{
    check_status(L, status);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_pushboolean(L, 0);
        lua_pushvalue(L, -2);
        return 2;
    }
    return lua_gettop(L) - (int)extra;
}

static int base_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, after_pcall);
    return after_pcall(L, status, 0);
}

// The handler (argument 2) runs when the error has unwound, not inside it: within a hook's error
// Lua would run it unhooked.
static int after_xpcall(lua_State *L, int status, lua_KContext extra)
{
    check_status(L, status);
    if (status == LUA_OK || status == LUA_YIELD)
        return lua_gettop(L) - (int)extra;
    lua_pushvalue(L, 2);
    lua_insert(L, -2);
    check_status(L, lua_pcall(L, 1, 1, 0));
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

static int base_xpcall(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushboolean(L, 1);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2);
    int status = lua_pcallk(L, n - 2, LUA_MULTRET, 0, 2, after_xpcall);
    return after_xpcall(L, status, 2);
}

struct key {
    int type;  // LUA_TNUMBER, LUA_TSTRING, LUA_TBOOLEAN
    bool is_integer;
    lua_Integer integer;
    lua_Number number;
    str text;  // held alive by the table
};

static int key_cmp(const void *pa, const void *pb)
{
    const struct key *a = pa, *b = pb;
    if (a->type != b->type)
        return a->type == LUA_TNUMBER   ? -1
               : b->type == LUA_TNUMBER ? 1
               : a->type == LUA_TSTRING ? -1
                                        : 1;
    if (a->type == LUA_TSTRING)
        return str_cmp(a->text, b->text);
    if (a->is_integer && b->is_integer)
        return (a->integer > b->integer) - (a->integer < b->integer);
    return (a->number > b->number) - (a->number < b->number);
}

// The key at index, which must be a number, a string or a boolean: other keys have no order of
// their own.
static struct key key_read(lua_State *L, int index)
{
    struct key k = {.type = lua_type(L, index)};
    if (k.type == LUA_TNUMBER) {
        k.is_integer = lua_isinteger(L, index);
        k.integer = k.is_integer ? lua_tointeger(L, index) : 0;
        k.number = lua_tonumber(L, index);
    } else if (k.type == LUA_TSTRING) {
        k.text.ptr = lua_tolstring(L, index, &k.text.len);
    } else if (k.type == LUA_TBOOLEAN) {
        k.is_integer = true;
        k.integer = lua_toboolean(L, index);
    } else {
        luaL_error(L, "pairs: a key is a %s, which has no order; use numbers, strings or booleans",
                   lua_typename(L, k.type));
    }
    return k;
}

static void key_push(lua_State *L, const struct key *k)
{
    if (k->type == LUA_TSTRING)
        lua_pushlstring(L, k->text.ptr, k->text.len);
    else if (k->type == LUA_TBOOLEAN)
        lua_pushboolean(L, k->integer != 0);
    else if (k->is_integer)
        lua_pushinteger(L, k->integer);
    else
        lua_pushnumber(L, k->number);
}

// Appends the keys of the table at 1, in order, to the new table on top of the stack.
static size_t keys_collect(lua_State *L)
{
    size_t count = 0, i = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
        count++;
    sandbox_charge(L, count);
    struct key *keys = lua_newuserdatauv(L, (count + 1) * sizeof *keys, 0);
    bool sorted = true;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        lua_pop(L, 1);
        keys[i] = key_read(L, -1);
        sorted = sorted && (i == 0 || key_cmp(&keys[i - 1], &keys[i]) < 0);
        i++;
        lua_pushnil(L);  // for the loop's pop
    }
    if (!sorted)
        qsort(keys, count, sizeof *keys, key_cmp);
    lua_createtable(L, (int)count, 0);
    for (i = 0; i < count; i++) {
        key_push(L, &keys[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return count;
}

// Upvalues: the ordered keys, and how many have been given. Keys that have become nil meanwhile are
// left out.
static int pairs_next(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
    lua_settop(L, 1);
    while (lua_rawgeti(L, lua_upvalueindex(1), ++i) != LUA_TNIL) {
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) {
            lua_pushinteger(L, i);
            lua_replace(L, lua_upvalueindex(2));
            return 2;
        }
        lua_pop(L, 2);
    }
    return 0;
}

static int after_pairs(lua_State *L, int status, lua_KContext extra)
{
    (void)L, (void)status, (void)extra;
    return 3;
}

static int base_pairs(lua_State *L)
{
    luaL_checkany(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 3, 0, after_pairs);
        return 3;
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    keys_collect(L);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, pairs_next, 2);
    lua_pushvalue(L, 1);
    return 2;
}

// The least key greater than the given one: next() walks in the order of pairs().
static int base_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    struct key after = {0}, best = {0};
    bool first = lua_isnil(L, 2), found = false;
    if (!first)
        after = key_read(L, 2);
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1), count++) {
        lua_pop(L, 1);
        struct key k = key_read(L, -1);
        if ((first || key_cmp(&k, &after) > 0) && (!found || key_cmp(&k, &best) < 0)) {
            best = k;
            found = true;
        }
        lua_pushnil(L);
    }
    sandbox_charge(L, count);
    if (!found) {
        lua_pushnil(L);
        return 1;
    }
    key_push(L, &best);
    lua_pushvalue(L, -1);
    lua_rawget(L, 1);
    return 2;
}

static int base_setmetatable(lua_State *L)
{
    static const char *const refused[] = {"__gc", "__mode"};
    int type = lua_type(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    for (size_t i = 0; type == LUA_TTABLE && i < 2; i++) {
        lua_pushstring(L, refused[i]);
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_error(L, "setmetatable: %s is not available here", refused[i]);
        lua_pop(L, 1);
    }
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

static int base_rawset(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    luaL_checkany(L, 3);
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "cannot change a protected table");
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 1;
}

// load(text [, name [, mode [, env]]]): text only; no functions that deliver pieces.
static int base_load(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    const char *name = luaL_optstring(L, 2, "=load");
    bool has_env = !lua_isnone(L, 4);
    luaL_argcheck(L, len <= LOAD_MAX, 1, "more than 1 MiB");
    sandbox_charge(L, len);
    if (luaL_loadbufferx(L, text, len, name, "t") != LUA_OK) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    if (has_env)
        lua_pushvalue(L, 4);
    else
        lua_rawgetp(L, LUA_REGISTRYINDEX, sandbox_environment_key());
    lua_setupvalue(L, -2, 1);
    return 1;
}

static int base_collectgarbage(lua_State *L)
{
    static const char *const names[] = {"collect", "step", NULL};
    luaL_checkoption(L, 1, "collect", names);
    lua_pushinteger(L, 0);
    return 1;
}

const luaL_Reg sandbox_base[] = {
    {"tostring", base_tostring},
    {"print", base_print},
    {"pcall", base_pcall},
    {"xpcall", base_xpcall},
    {"pairs", base_pairs},
    {"next", base_next},
    {"setmetatable", base_setmetatable},
    {"rawset", base_rawset},
    {"load", base_load},
    {"collectgarbage", base_collectgarbage},
    {NULL, NULL},
};

static int co_create(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    sandbox_charge(L, COROUTINE_WORK);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    return 1;
}

// Resumes co with the nargs values on L's stack; -1 with the error on top, or the number of values.
static int resume(lua_State *L, lua_State *co, int nargs)
{
    int nresults;
    sandbox_charge(L, 1);
    if (!lua_checkstack(co, nargs)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, nargs);
    int status = lua_resume(co, L, nargs, &nresults);
    check_status(L, status);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, nresults + 1)) {
        lua_pop(co, nresults);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, nresults);
    return nresults;
}

static bool resumable(lua_State *L, lua_State *co)
{
    lua_Debug ar;
    if (co == L || (lua_status(co) == LUA_OK && lua_getstack(co, 0, &ar)))
        lua_pushliteral(L, "cannot resume non-suspended coroutine");
    else if (lua_status(co) == LUA_OK && lua_gettop(co) == 0)
        lua_pushliteral(L, "cannot resume dead coroutine");
    else if (lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD)
        lua_pushliteral(L, "cannot resume dead coroutine");
    else
        return true;
    return false;
}

static int co_resume(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    int n = resumable(L, co) ? resume(L, co, lua_gettop(L) - 1) : -1;
    lua_pushboolean(L, n >= 0);
    lua_insert(L, n >= 0 ? -(n + 1) : -2);
    return n >= 0 ? n + 1 : 2;
}

static int wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int n = resumable(L, co) ? resume(L, co, lua_gettop(L)) : -1;
    return n >= 0 ? n : lua_error(L);
}

static int co_wrap(lua_State *L)
{
    co_create(L);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

static int co_close(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    lua_Debug ar;
    luaL_argexpected(L, co, 1, "coroutine");
    if (co == L || (lua_status(co) == LUA_OK && lua_getstack(co, 0, &ar)))
        return luaL_error(L, "cannot close a running coroutine");
    int status = lua_resetthread(co);
    sandbox_check(L);
    lua_pushboolean(L, status == LUA_OK);
    if (status == LUA_OK)
        return 1;
    lua_xmove(co, L, 1);
    return 2;
}

const luaL_Reg sandbox_coroutine[] = {
    {"create", co_create}, {"resume", co_resume}, {"wrap", co_wrap},
    {"close", co_close},   {NULL, NULL},
};

// SRC: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), SplitMix64.
static uint64_t random_next(struct sandbox *s)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int math_random(lua_State *L)
{
    uint64_t r = random_next(sandbox_of(L));
    if (lua_gettop(L) == 0) {
        lua_pushnumber(L, (lua_Number)(r >> 11) * 0x1p-53);
        return 1;
    }
    lua_Integer low = lua_gettop(L) > 1 ? luaL_checkinteger(L, 1) : 1;
    lua_Integer high = luaL_checkinteger(L, lua_gettop(L) > 1 ? 2 : 1);
    luaL_argcheck(L, low <= high, lua_gettop(L) > 1 ? 2 : 1, "interval is empty");
    uint64_t span = (uint64_t)high - (uint64_t)low;
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + (span == UINT64_MAX ? r : r % (span + 1))));
    return 1;
}

static int math_randomseed(lua_State *L)
{
    sandbox_of(L)->random = (uint64_t)luaL_checkinteger(L, 1);
    return 0;
}

const luaL_Reg sandbox_math[] = {
    {"random", math_random}, {"randomseed", math_randomseed}, {NULL, NULL}};
