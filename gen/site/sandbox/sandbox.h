// Lua for content and templates: no way out, ordered pairs, seeded random, limits on instructions,
// time and memory.
#ifndef GEN_SITE_SANDBOX_H
#define GEN_SITE_SANDBOX_H

#include "gen/base/diag.h"

typedef struct lua_State lua_State;
struct sandbox;

struct sandbox_limits {
    uint64_t instructions;  // 0: default, 200 million
    uint64_t memory_bytes;  // 0: default, 64 MiB
    uint64_t time_ms;  // the processor's, of one run; 0: default, 60 seconds, which no run reaches
                       // before its instructions
};

// A state with base, coroutine, string, table, math and utf8 less what gives a way out or differs
// from run to run (io, os, package, debug, dofile, loadfile, string.dump and bytecode are absent;
// table functions and patterns count their work; pairs is ordered; library tables cannot be
// changed).
struct sandbox *sandbox_new(struct sandbox_limits limits);
void sandbox_free(struct sandbox *s);
lua_State *sandbox_state(struct sandbox *s);
// The sandbox that a state, or a coroutine of it, belongs to; and a pointer of the owner's that
// travels with it.
struct sandbox *sandbox_of(lua_State *L);
void sandbox_set_user(struct sandbox *s, void *user);
void *sandbox_user(lua_State *L);

// Compiles source as a chunk called file and leaves the function on the stack. text is what the
// reader knows as the file (the template, for a compiled template): messages show its lines; it
// must live as long as s. Line 1 of source is first_line of the file. False after lua-error.
bool sandbox_load(struct sandbox *s, str source, str file, str text, uint32_t first_line,
                  struct diag *d);
// For code that runs: compiles source, which must live as long as the sandbox, as a chunk called
// file and leaves the function on the stack. Its work counts on; an error is raised in L.
void sandbox_include(lua_State *L, str source, str file);
// Calls the function below its nargs arguments on the stack, under the limits, which start again.
// An error is recorded at the line it names, of file when it names none; false then, and function
// and arguments are off the stack. A passed limit cannot be caught in Lua.
bool sandbox_call(struct sandbox *s, int nargs, int nresults, str file, struct diag *d);
// From now on errors are recorded at this place, whatever line they name; NULL: at their line
// again.
void sandbox_errors_at(struct sandbox *s, const struct diag_pos *at);
// Makes the table on top of the stack (popped) the environment of chunks loaded from now on: reads
// go to it, then to the libraries; writes are errors.
void sandbox_environment(struct sandbox *s);
// Under this key the registry holds the environment of new chunks.
const void *sandbox_environment_key(void);
// The place of a line of a chunk, whose name is as Lua's messages have it.
struct diag_pos sandbox_position(const struct sandbox *s, str chunk_name, uint32_t line);
// Counts work done in C as instructions; raises the limit's error when it is passed.
void sandbox_charge(lua_State *L, uint64_t work);
// What the code printed since the last call; print() goes here.
str sandbox_output(struct sandbox *s);

#endif
