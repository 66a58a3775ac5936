// What the files of the sandbox share: its state, and the functions that replace Lua's own.
#ifndef GEN_SITE_SANDBOX_LIB_H
#define GEN_SITE_SANDBOX_LIB_H

#include <lauxlib.h>
#include <lua.h>

#include "gen/site/sandbox/sandbox.h"

struct sandbox_chunk {
    char name[LUA_IDSIZE];  // as it is in Lua's messages
    str file, text;
    struct sandbox_chunk *next;
};

enum { SANDBOX_CLASSES = 16 };  // of small blocks

struct sandbox {
    lua_State *L;
    struct sandbox_limits limits;
    uint64_t work;         // instructions of this run, and what C functions charged
    uint64_t look_at;      // the work at which to look at the clock again
    uint64_t deadline_ns;  // CLOCK_PROCESS_CPUTIME_ID; 0 until the first look
    uint64_t used;         // bytes alive
    uint64_t churned;      // bytes allocated in this run, freed or not
    const char *tripped;   // which limit was passed in this run; NULL for none
    lua_Debug refused;     // where memory was refused last; currentline 0 when that is not known
    struct sandbox_slab *slabs;
    size_t slab_used;  // of the newest slab
    struct sandbox_free *free[SANDBOX_CLASSES];
    uint64_t random;  // state of math.random
    buf output;
    arena chunks_arena;
    struct sandbox_chunk *chunks;
    void *user;
    const struct diag_pos *errors_at;
};

// Library tables, in place of Lua's own functions of the same names.
extern const luaL_Reg sandbox_base[], sandbox_coroutine[], sandbox_table[], sandbox_string[],
    sandbox_math[];

// Lua's allocator: counts what is alive and what has been asked for. At the limit the hook collects
// what is garbage and then raises the error, at its line; one request that goes far beyond is
// refused here, which makes Lua collect, then fail.
void *sandbox_alloc(void *ud, void *ptr, size_t old_size, size_t new_size);
// Gives back what the allocator still holds, after lua_close.
void sandbox_alloc_free(struct sandbox *s);
// Raises the sticky error again when a limit was passed: called after everything that catches
// errors.
void sandbox_check(lua_State *L);
// Replaces string.format in the table on top of the stack by one that shows no addresses.
void sandbox_wrap_format(lua_State *L);
// tostring() without addresses: leaves a string on the stack.
const char *sandbox_tolstring(lua_State *L, int index, size_t *len);

#endif
