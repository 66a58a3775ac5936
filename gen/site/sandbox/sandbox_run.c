// Owns a sandboxed Lua state: the hook that counts, running chunks, and errors as diagnostics.
#include "gen/site/sandbox/sandbox.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gen/site/sandbox/sandbox_lib.h"

#define HOOK_COUNT 200
#define LOOK_COUNT 65536  // instructions between two looks at the clock, which costs a system call
#define CHURN_PER_MEMORY \
    64  // bytes that a run may allocate in all, as a multiple of what may be alive
#define SEED UINT64_C(0x9e3779b97f4a7c15)

static const char key_env = 0;  // its address is the registry's key of the chunks' environment

const void *sandbox_environment_key(void)
{
    return &key_env;
}

// The processor's time and not the wall's: whether a script passes its limit must not depend on
// what else is running.
static uint64_t used_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct sandbox *sandbox_of(lua_State *L)
{
    return *(struct sandbox **)lua_getextraspace(L);
}

void sandbox_set_user(struct sandbox *s, void *user)
{
    s->user = user;
}

void *sandbox_user(lua_State *L)
{
    return sandbox_of(L)->user;
}

void sandbox_errors_at(struct sandbox *s, const struct diag_pos *at)
{
    s->errors_at = at;
}

lua_State *sandbox_state(struct sandbox *s)
{
    return s->L;
}

void sandbox_check(lua_State *L)
{
    const char *why = sandbox_of(L)->tripped;
    if (why)
        luaL_error(L, "%s", why);
}

static bool time_passed(struct sandbox *s)
{
    if (s->work < s->look_at)
        return false;
    s->look_at = s->work + LOOK_COUNT;
    uint64_t now = used_ns();
    if (!s->deadline_ns)
        s->deadline_ns = now + s->limits.time_ms * 1000000u;
    return now > s->deadline_ns;
}

static const char *limit_passed(struct sandbox *s)
{
    if (s->work > s->limits.instructions)
        return "too many instructions";
    if (s->churned / CHURN_PER_MEMORY > s->limits.memory_bytes)
        return "too much memory allocated";
    return time_passed(s) ? "too much time" : NULL;
}

static void charge(struct sandbox *s, uint64_t work)
{
    s->work = work > UINT64_MAX - s->work ? UINT64_MAX : s->work + work;
    if (!s->tripped)
        s->tripped = limit_passed(s);
}

void sandbox_charge(lua_State *L, uint64_t work)
{
    charge(sandbox_of(L), work);
    sandbox_check(L);
}

// In a hook level 0 is the function that runs: its line is the error's.
static void count_hook(lua_State *L, lua_Debug *ar)
{
    struct sandbox *s = sandbox_of(L);
    (void)ar;
    charge(s, HOOK_COUNT);
    if (!s->tripped && s->used > s->limits.memory_bytes) {
        lua_gc(L, LUA_GCCOLLECT);
        if (s->used > s->limits.memory_bytes)
            s->tripped = "too much memory";
    }
    if (!s->tripped)
        return;
    luaL_where(L, 0);
    lua_pushstring(L, s->tripped);
    lua_concat(L, 2);
    lua_error(L);
}

static int library_locked(lua_State *L)
{
    return luaL_error(L, "the table of a library, or of the page, cannot be changed");
}

// Pushes a proxy of the table at index, which can be read through it and not changed.
static void push_locked(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    lua_newtable(L);
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, library_locked);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

static void open_library(lua_State *L, const char *name, lua_CFunction open, const luaL_Reg *ours,
                         const char *const *removed)
{
    luaL_requiref(L, name, open, 0);
    if (ours)
        luaL_setfuncs(L, ours, 0);
    if (ours == sandbox_string)
        sandbox_wrap_format(L);
    for (; removed && *removed; removed++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *removed);
    }
    if (open == luaopen_base) {
        lua_pop(L, 1);
        return;
    }
    push_locked(L, -1);
    lua_setglobal(L, name);
    lua_pop(L, 1);
}

// The methods of strings read the library itself; scripts cannot reach it.
static void lock_string_methods(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
}

static int open_all(lua_State *L)
{
    static const char *const base_removed[] = {"dofile", "loadfile", "warn", NULL};
    static const char *const string_removed[] = {"dump", NULL};
    open_library(L, "_G", luaopen_base, sandbox_base, base_removed);
    open_library(L, "coroutine", luaopen_coroutine, sandbox_coroutine, NULL);
    open_library(L, "table", luaopen_table, sandbox_table, NULL);
    open_library(L, "string", luaopen_string, sandbox_string, string_removed);
    open_library(L, "math", luaopen_math, sandbox_math, NULL);
    open_library(L, "utf8", luaopen_utf8, NULL, NULL);
    lock_string_methods(L);
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushglobaltable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_env);
    return 0;
}

struct sandbox *sandbox_new(struct sandbox_limits limits)
{
    struct sandbox *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->limits.instructions = limits.instructions ? limits.instructions : 200000000;
    s->limits.memory_bytes = limits.memory_bytes ? limits.memory_bytes : (uint64_t)64 << 20;
    s->limits.time_ms = limits.time_ms ? limits.time_ms : 60000;
    s->output = BUF_INIT;
    s->L = lua_newstate(sandbox_alloc, s);
    if (!s->L) {
        sandbox_alloc_free(s);
        free(s);
        return NULL;
    }
    *(struct sandbox **)lua_getextraspace(s->L) = s;
    lua_pushcfunction(s->L, open_all);
    if (lua_pcall(s->L, 0, 0, 0) != LUA_OK) {
        sandbox_free(s);
        return NULL;
    }
    lua_sethook(s->L, count_hook, LUA_MASKCOUNT, HOOK_COUNT);
    return s;
}

void sandbox_free(struct sandbox *s)
{
    if (!s)
        return;
    s->tripped = NULL;
    s->look_at = UINT64_MAX;
    s->work = 0;
    lua_close(s->L);
    sandbox_alloc_free(s);
    buf_free(&s->output);
    arena_free(&s->chunks_arena);
    free(s);
}

void sandbox_environment(struct sandbox *s)
{
    lua_State *L = s->L;
    if (!lua_getmetatable(L, -1)) {
        lua_createtable(L, 0, 1);
        lua_pushglobaltable(L);
        lua_setfield(L, -2, "__index");
        lua_setmetatable(L, -2);
    } else {
        lua_pop(L, 1);
    }
    push_locked(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_env);
    lua_pop(L, 1);
}

// Messages show at most LUA_IDSIZE - 1 bytes of a name, so a long one is shown by its end.
static struct sandbox_chunk *chunk_note(struct sandbox *s, str file, str text)
{
    for (struct sandbox_chunk *c = s->chunks; c; c = c->next) {
        if (str_eq(c->file, file)) {
            c->text = text;
            return c;
        }
    }
    struct sandbox_chunk *c = arena_new(&s->chunks_arena, struct sandbox_chunk, 1);
    size_t room = LUA_IDSIZE - 2;
    str tail = str_slice(file, file.len > room ? file.len - room : 0, file.len);
    memcpy(c->name, tail.ptr, tail.len);
    for (size_t i = 0; i < tail.len; i++)
        if (c->name[i] == '\n' || c->name[i] == '\0')
            c->name[i] = '?';
    c->file = arena_str(&s->chunks_arena, file);
    c->text = text;
    c->next = s->chunks;
    s->chunks = c;
    return c;
}

// Offset of the first byte of a line that is no blank.
static size_t line_offset(str text, uint32_t line)
{
    size_t at = 0;
    for (uint32_t n = 1; n < line && at < text.len; n++)
        at += str_find(str_slice(text, at, text.len), '\n') + 1;
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
        at++;
    return at < text.len ? at : text.len;
}

static struct diag_pos chunk_position(const struct sandbox_chunk *c, uint32_t line)
{
    if (c->text.len && line)
        return DIAG_AT(c->file, c->text, line_offset(c->text, line));
    struct diag_pos pos = DIAG_FILE(c->file);
    pos.line = line;
    return pos;
}

struct diag_pos sandbox_position(const struct sandbox *s, str chunk_name, uint32_t line)
{
    for (const struct sandbox_chunk *c = s->chunks; c; c = c->next)
        if (str_eq(chunk_name, str_c(c->name)))
            return chunk_position(c, line);
    return DIAG_FILE(chunk_name);
}

// "NAME:LINE: message", as Lua writes it: takes the place off *message. NULL when it has none.
static const struct sandbox_chunk *place_cut(const struct sandbox *s, str *message, uint32_t *line)
{
    for (const struct sandbox_chunk *c = s->chunks; c; c = c->next) {
        str name = str_c(c->name), rest = *message, digits;
        if (!str_starts(rest, name) || rest.len == name.len || rest.ptr[name.len] != ':')
            continue;
        rest = str_slice(rest, name.len + 1, rest.len);
        uint64_t number;
        if (!str_cut(&rest, ':', &digits) || !str_u64(digits, &number))
            continue;
        *message = str_trim(rest);
        *line = (uint32_t)number;
        return c;
    }
    return NULL;
}

// Nothing here may allocate or run Lua: there is no protected call around it.
static str error_text(lua_State *L)
{
    if (lua_type(L, -1) != LUA_TSTRING)
        return STR("an error that is no text; call error() with a string");
    str message;
    message.ptr = lua_tolstring(L, -1, &message.len);
    return message;
}

// Records the error on top of the stack and pops it.
static void record_error(struct sandbox *s, int status, str file, struct diag *d)
{
    str message = error_text(s->L);
    uint32_t line = 0;
    const struct sandbox_chunk *c = place_cut(s, &message, &line);
    struct diag_pos pos = c ? chunk_position(c, line) : DIAG_FILE(file);
    if (status == LUA_ERRMEM) {
        s->tripped = "too much memory";
        if (s->refused.currentline > 0)
            pos =
                sandbox_position(s, str_c(s->refused.short_src), (uint32_t)s->refused.currentline);
    }
    if (s->errors_at)
        pos = *s->errors_at;
    if (s->tripped)
        diag_add(d, D_LUA_LIMIT, pos, "%s", s->tripped);
    else
        diag_add(d, D_LUA_ERROR, pos, "%.*s", STR_ARG(message));
    lua_pop(s->L, 1);
}

struct loading {
    str source;
    uint32_t newlines;
};

static const char *read_source(lua_State *L, void *ud, size_t *size)
{
    static const char lines[] = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n";
    struct loading *p = ud;
    (void)L;
    if (p->newlines) {
        *size = p->newlines < sizeof lines - 1 ? p->newlines : sizeof lines - 1;
        p->newlines -= (uint32_t)*size;
        return lines;
    }
    str all = p->source;
    p->source = STR_NONE;
    *size = all.len;
    return all.len ? all.ptr : NULL;
}

static void run_begin(struct sandbox *s)
{
    s->work = s->churned = s->deadline_ns = 0;
    s->look_at = LOOK_COUNT;
    s->tripped = NULL;
    s->refused.currentline = 0;
    s->random = SEED;
    buf_clear(&s->output);
}

bool sandbox_load(struct sandbox *s, str source, str file, str text, uint32_t first_line,
                  struct diag *d)
{
    struct sandbox_chunk *c = chunk_note(s, file, text);
    char name[LUA_IDSIZE + 1] = "=";
    memcpy(name + 1, c->name, sizeof c->name);
    struct loading p = {source, first_line ? first_line - 1 : 0};
    run_begin(s);
    int status = lua_load(s->L, read_source, &p, name, "t");
    if (status != LUA_OK) {
        record_error(s, status, file, d);
        return false;
    }
    lua_rawgetp(s->L, LUA_REGISTRYINDEX, &key_env);
    lua_setupvalue(s->L, -2, 1);
    return true;
}

void sandbox_include(lua_State *L, str source, str file)
{
    struct sandbox *s = sandbox_of(L);
    struct sandbox_chunk *c = chunk_note(s, file, source);
    char name[LUA_IDSIZE + 1] = "=";
    memcpy(name + 1, c->name, sizeof c->name);
    struct loading p = {source, 0};
    sandbox_charge(L, source.len);
    if (lua_load(L, read_source, &p, name, "t") != LUA_OK)
        lua_error(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &key_env);
    lua_setupvalue(L, -2, 1);
}

bool sandbox_call(struct sandbox *s, int nargs, int nresults, str file, struct diag *d)
{
    run_begin(s);
    int status = lua_pcall(s->L, nargs, nresults, 0);
    if (status == LUA_OK)
        return true;
    record_error(s, status, file, d);
    return false;
}

str sandbox_output(struct sandbox *s)
{
    return buf_view(&s->output);
}
