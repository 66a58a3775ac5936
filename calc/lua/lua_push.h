// The library's answers as Lua tables, under the keys of its JSON.
//
// Each table has a metatable whose field `units` gives the unit of its numbers by key ("bytes");
// keys that are not there are plain counts. A member without a value is nil.

#ifndef CALC_LUA_PUSH_H
#define CALC_LUA_PUSH_H

#include "calc/vram.h"

struct lua_State;

// Each leaves one table on the stack. config: the handle of a result, or one that has taken the
// plan of an advice; else NULL.
void lua_push(struct lua_State *L, enum vram_object kind, const void *object, vram *config);
void lua_push_config(struct lua_State *L, vram *v);

// A message's sentence, in the words of a script, on the stack.
const char *lua_push_sentence(struct lua_State *L, const struct vram_message *m);

#endif
