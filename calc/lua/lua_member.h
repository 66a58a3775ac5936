// Members of the table on top of the stack: each sets one under its key.

#ifndef CALC_LUA_MEMBER_H
#define CALC_LUA_MEMBER_H

#include "calc/vram.h"

struct lua_State;

// A new table of a kind; the tables of one kind share their units.
void member_open(struct lua_State *L, const char *kind);

void member_count(struct lua_State *L, const char *key, uint64_t n);
void member_signed(struct lua_State *L, const char *key, int64_t n);
void member_bytes(struct lua_State *L, const char *key, uint64_t n);
void member_string(struct lua_State *L, const char *key, const char *text);  // NULL is nil
void member_boolean(struct lua_State *L, const char *key, bool yes);
void member_message(struct lua_State *L, const char *key, const struct vram_message *m);  // NULL is nil
void member_messages(struct lua_State *L, const char *key, const struct vram_message *m, size_t count);
void member_capacity(struct lua_State *L, const struct vram_capacity *card);
void member_shape(struct lua_State *L, const uint64_t *dims, size_t count);

// The table on top becomes the index-th, from 0, of the list below it.
void member_append(struct lua_State *L, size_t index);

#endif
