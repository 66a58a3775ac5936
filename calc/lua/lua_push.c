// Owns the library's answers and configurations as Lua tables.

#include "calc/lua/lua_push.h"

#include <lauxlib.h>
#include <lua.h>

// Below the table that is being filled are its key and the table that it goes into.
struct fill {
    lua_State *L;
    vram *config;
    int depth;
};

// The key of what is pushed next: its name, or its place in a list.
static void push_key(const struct fill *f, const char *key)
{
    if (key)
        lua_pushstring(f->L, key);
    else
        lua_pushinteger(f->L, (lua_Integer)lua_rawlen(f->L, -1) + 1);
}

// A new table of a kind; the tables of one kind share their units.
static void push_table(lua_State *L, const char *kind)
{
    lua_createtable(L, 0, kind ? 16 : 0);
    if (!kind)
        return;
    if (luaL_newmetatable(L, kind)) {
        lua_newtable(L);
        lua_setfield(L, -2, "units");
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

static void fill_open(void *ctx, const char *key, const char *kind)
{
    struct fill *f = ctx;
    luaL_checkstack(f->L, 6, NULL);
    if (f->depth++)
        push_key(f, key);
    push_table(f->L, kind);
}

static void fill_close(void *ctx, const char *kind)
{
    struct fill *f = ctx;
    (void)kind;
    if (--f->depth)
        lua_rawset(f->L, -3);
}

static void fill_difference(void *ctx, const char *key, int64_t n)
{
    struct fill *f = ctx;
    push_key(f, key);
    lua_pushinteger(f->L, n);
    lua_rawset(f->L, -3);
}

static void fill_number(void *ctx, const char *key, uint64_t n, uint32_t unit)
{
    struct fill *f = ctx;
    fill_difference(f, key, (int64_t)n);
    if (unit == VRAM_UNIT_NONE)
        return;
    luaL_getmetafield(f->L, -1, "units");
    lua_pushstring(f->L, vram_unit_name(unit));
    lua_setfield(f->L, -2, key);
    lua_pop(f->L, 1);
}

static void fill_fixed(void *ctx, const char *key, uint64_t n, unsigned decimals)
{
    struct fill *f = ctx;
    uint64_t one = 1;
    while (decimals-- > 0)
        one *= 10;
    push_key(f, key);
    if (n % one == 0)
        lua_pushinteger(f->L, (lua_Integer)(n / one));
    else
        lua_pushnumber(f->L, (lua_Number)n / (lua_Number)one);
    lua_rawset(f->L, -3);
}

static void fill_text(void *ctx, const char *key, const char *text)
{
    struct fill *f = ctx;
    if (!text)
        return;
    push_key(f, key);
    lua_pushstring(f->L, text);
    lua_rawset(f->L, -3);
}

static void fill_truth(void *ctx, const char *key, bool yes)
{
    struct fill *f = ctx;
    push_key(f, key);
    lua_pushboolean(f->L, yes);
    lua_rawset(f->L, -3);
}

static void fill_config(void *ctx, const char *key)
{
    struct fill *f = ctx;
    push_key(f, key);
    lua_push_config(f->L, f->config);
    lua_rawset(f->L, -3);
}

void lua_push(lua_State *L, enum vram_object kind, const void *object, vram *config)
{
    static const struct vram_visitor visitor = {fill_open,       fill_close,  fill_number,
                                                fill_difference, fill_fixed,  fill_text,
                                                fill_truth,      fill_config, VRAM_DOOR_LUA};
    struct fill f = {L, config, 0};
    vram_visit(kind, object, &visitor, &f);
}

const char *lua_push_sentence(lua_State *L, const struct vram_message *m)
{
    char text[VRAM_SENTENCE];
    vram_say(m, VRAM_DOOR_LUA, text);
    return lua_pushstring(L, text);
}

void lua_push_config(lua_State *L, vram *v)
{
    const struct vram_field *field;
    char text[160];  // a list of the most numbers
    struct fill f = {L, v, 1};
    push_table(L, "vram.config");
    for (size_t i = 0; (field = vram_field_at(i)) != NULL; i++) {
        uint64_t n = 0;
        vram_get_u64(v, field->key, &n);
        if (field->type == VRAM_TYPE_ENUM)
            fill_text(&f, field->key, field->values[n]);
        else if (field->type == VRAM_TYPE_BOOL)
            fill_truth(&f, field->key, n != 0);
        else if (field->type == VRAM_TYPE_COUNT || field->type == VRAM_TYPE_FRACTION)
            fill_fixed(&f, field->key, n, field->type == VRAM_TYPE_FRACTION ? 6 : 0);
        else if (vram_get(v, field->key, text, sizeof text) >= 0)
            fill_text(&f, field->key, text);
    }
    if (vram_get(v, "gpu", text, sizeof text) > 0 && vram_gpu_find(text))
        fill_text(&f, "gpu", text);
}
