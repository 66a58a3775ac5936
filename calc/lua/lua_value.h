// The values of a configuration's table.

#ifndef CALC_LUA_VALUE_H
#define CALC_LUA_VALUE_H

#include <lua.h>

// The value at the top of the stack as text for vram_set, which stays on the stack. A whole float
// is written without a point. Errors name the function and the key.
const char *lua_value(lua_State *L, const char *function, const char *key);

#endif
