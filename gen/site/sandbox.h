// Lua for content and templates: no way out, ordered pairs, seeded random, limits on instructions, time and memory.
#ifndef GEN_SITE_SANDBOX_H
#define GEN_SITE_SANDBOX_H

#include "gen/base/diag.h"

typedef struct lua_State lua_State;
struct sandbox;

struct sandbox_limits {
    uint64_t instructions;    // 0: default, 200 million
    uint64_t memory_bytes;    // 0: default, 64 MiB
};

// A state with base, string, table, math and utf8 less what gives a way out or differs from run to run (DESIGN: io, os,
// package, debug, dofile, loadfile, string.dump, bytecode; table.move and patterns bounded; pairs ordered).
struct sandbox *sandbox_new(struct sandbox_limits limits);
void sandbox_free(struct sandbox *s);
lua_State *sandbox_state(struct sandbox *s);
// Runs source as a chunk called file. Leaves its results (nresults, or LUA_MULTRET) on the stack. An error is recorded at the
// line it names, shifted so that line 1 of source is first_line of the file; false then. A passed limit cannot be caught in Lua.
bool sandbox_run(struct sandbox *s, str source, str file, uint32_t first_line, int nresults, struct diag *d);
// Calls the function below its nargs arguments on the stack, under the same limits.
bool sandbox_call(struct sandbox *s, int nargs, int nresults, str file, struct diag *d);
// What the code printed since the last call; print() goes here.
str sandbox_output(struct sandbox *s);

#endif
