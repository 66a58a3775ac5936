// Owns the members of the tables that answers become.

#include "calc/lua/lua_member.h"

#include <lauxlib.h>
#include <lua.h>

// A new table of a kind; the tables of one kind share their units.
void member_open(lua_State *L, const char *kind)
{
    lua_createtable(L, 0, 16);
    if (luaL_newmetatable(L, kind)) {
        lua_newtable(L);
        lua_setfield(L, -2, "units");
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

void member_count(lua_State *L, const char *key, uint64_t n)
{
    lua_pushinteger(L, (lua_Integer)n);
    lua_setfield(L, -2, key);
}

void member_signed(lua_State *L, const char *key, int64_t n)
{
    lua_pushinteger(L, (lua_Integer)n);
    lua_setfield(L, -2, key);
}

void member_bytes(lua_State *L, const char *key, uint64_t n)
{
    member_count(L, key, n);
    luaL_getmetafield(L, -1, "units");
    lua_pushstring(L, vram_unit_name(VRAM_UNIT_BYTES));
    lua_setfield(L, -2, key);
    lua_pop(L, 1);
}

// NULL is nil.
void member_string(lua_State *L, const char *key, const char *text)
{
    if (!text)
        return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

void member_boolean(lua_State *L, const char *key, bool yes)
{
    lua_pushboolean(L, yes);
    lua_setfield(L, -2, key);
}

// The table on top becomes the index-th, from 0, of the list below it.
void member_append(lua_State *L, size_t index)
{
    lua_rawseti(L, -2, (lua_Integer)index + 1);
}

// A sentence; NULL is nil.
static void push_message(lua_State *L, const struct vram_message *m)
{
    member_open(L, "vram.message");
    member_string(L, "id", m->id);
    member_string(L, "field", m->field);
    member_string(L, "text", m->text);
    lua_newtable(L);
    for (size_t i = 0; i < m->arg_count; i++)
        if (m->args[i].text)
            member_string(L, m->args[i].name, m->args[i].text);
        else
            member_count(L, m->args[i].name, m->args[i].number);
    lua_setfield(L, -2, "args");
}

void member_message(lua_State *L, const char *key, const struct vram_message *m)
{
    if (!m)
        return;
    push_message(L, m);
    lua_setfield(L, -2, key);
}

void member_messages(lua_State *L, const char *key, const struct vram_message *m, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_message(L, &m[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, key);
}

// The totals of a card: nvidia-smi's and CUDA's.
void member_capacity(lua_State *L, const struct vram_capacity *card)
{
    member_bytes(L, "memory_bytes", card->total_bytes);
    member_bytes(L, "cuda_bytes", card->cuda_bytes);
    member_bytes(L, "cuda_low_bytes", card->cuda_low_bytes);
    member_bytes(L, "cuda_high_bytes", card->cuda_high_bytes);
    member_string(L, "cuda_basis", vram_capacity_name(card->basis));
    member_count(L, "cuda_seen", card->seen);
}

void member_shape(lua_State *L, const uint64_t *dims, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, (lua_Integer)dims[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, "shape");
}
