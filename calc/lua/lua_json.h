// The library's own JSON as Lua values, for the binding.

#ifndef CALC_LUA_JSON_H
#define CALC_LUA_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct lua_State;

// Pushes the value that text holds: objects and arrays as tables, whole numbers as integers, null as nil.
// Returns false, with nothing pushed, where it is not JSON or nests more than 32 deep.
bool lua_json_push(struct lua_State *L, const char *text, size_t len);

#endif
