// The Lua binding: tables in, tables out.

#include "calc/vram_lua.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "calc/lua/lua_push.h"
#include "calc/lua/lua_value.h"
#include "calc/vram.h"

#define HANDLE "vram.handle"

// ---- memory and the handle ---------------------------------------------------------------------

static void *state_alloc(void *ctx, size_t bytes)
{
    void *ud;
    lua_Alloc alloc = lua_getallocf(ctx, &ud);
    return alloc(ud, NULL, LUA_TUSERDATA, bytes);
}

static void state_free(void *ctx, void *ptr, size_t bytes)
{
    void *ud;
    lua_Alloc alloc = lua_getallocf(ctx, &ud);
    alloc(ud, ptr, bytes, 0);
}

static lua_State *main_thread(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State *main = lua_tothread(L, -1);
    lua_pop(L, 1);
    return main;
}

static int handle_close(lua_State *L)
{
    vram **box = luaL_checkudata(L, 1, HANDLE);
    vram_free(*box);
    *box = NULL;
    return 0;
}

// A new handle in a box that frees it; the box is left on the stack.
static vram *handle_push(lua_State *L)
{
    vram **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    luaL_setmetatable(L, HANDLE);
    struct vram_mem mem = {state_alloc, state_free, main_thread(L)};
    *box = vram_new(&mem);
    if (!*box)
        luaL_error(L, "vram: not enough memory");
    return *box;
}

static const char *function_name(lua_State *L)
{
    return lua_tostring(L, lua_upvalueindex(1));
}

// Raises the handle's error, with the key that caused it where there is one.
static void raise(lua_State *L, const vram *v, const char *key)
{
    const struct vram_message *m = vram_error(v);
    const char *where = "", *text = lua_push_sentence(L, m);
    if (m->line)
        where = lua_pushfstring(L, " (%s:%d:%d)", m->file ? m->file : "text", (int)m->line,
                                (int)m->col);
    if (key)
        luaL_error(L, "vram.%s: %s: %s%s", function_name(L), key, text, where);
    luaL_error(L, "vram.%s: %s%s", function_name(L), text, where);
}

// ---- configurations ----------------------------------------------------------------------------

static void set_key(lua_State *L, vram *v, int table, const char *key)
{
    int top = lua_gettop(L);
    if (lua_getfield(L, table, key) != LUA_TNIL &&
        vram_set(v, key, lua_value(L, function_name(L), key)))
        raise(L, v, key);
    lua_settop(L, top);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Sets the table's fields: mode, because a preset looks at it, preset, because it sets others, gpu,
// then the rest by name, so that the same table always gives the same error.
static void set_table(lua_State *L, vram *v, int table)
{
    static const char *const first[] = {"mode", "preset", "gpu"};
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "vram.%s: the fields of a configuration have names, [%s] has none",
                       function_name(L), luaL_tolstring(L, -2, NULL));
        count++;
    }
    const char **keys = lua_newuserdatauv(L, (count + 1) * sizeof *keys, 0);
    size_t n = 0;
    for (lua_pushnil(L); n < count && lua_next(L, table); lua_pop(L, 1))
        keys[n++] = lua_tostring(L, -2);
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        set_key(L, v, table, first[i]);
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i], "mode") != 0 && strcmp(keys[i], "preset") != 0 &&
            strcmp(keys[i], "gpu") != 0)
            set_key(L, v, table, keys[i]);
}

// Argument arg as a configuration in a handle, which stays on the stack. No argument: the defaults.
static vram *handle_for(lua_State *L, int arg)
{
    int type =
        lua_type(L, arg);  // before the handle takes the place of an argument that is not there
    vram *v = handle_push(L);
    if (type == LUA_TSTRING) {
        size_t len;
        const char *text = lua_tolstring(L, arg, &len);
        if (vram_parse(v, VRAM_KIND_FLAT, text, len, NULL, NULL, NULL))
            raise(L, v, NULL);
    } else if (type != LUA_TNONE && type != LUA_TNIL) {
        luaL_checktype(L, arg, LUA_TTABLE);
        set_table(L, v, arg);
    }
    return v;
}

// ---- functions ---------------------------------------------------------------------------------

static int f_estimate(lua_State *L)
{
    vram *v = handle_for(L, 1);
    if (vram_run(v))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_RESULT, vram_result(v), v);
    return 1;
}

static int f_compare(lua_State *L)
{
    const struct vram_comparison *c;
    vram *v = handle_for(L, 1);
    if (vram_compare(v, &c))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_COMPARISON, c, NULL);
    return 1;
}

static int f_advise(lua_State *L)
{
    const struct vram_advice *a;
    vram *v = handle_for(L, 1), *spare = handle_push(L);
    if (vram_advise(v, &a))
        raise(L, v, NULL);
    if (a->plan_found)
        vram_take_advice(v, VRAM_PLAN, spare);
    lua_push(L, VRAM_OBJECT_ADVICE, a, spare);
    return 1;
}

static int f_fit(lua_State *L)
{
    const struct vram_fit *fit;
    vram *v = handle_for(L, 1);
    if (vram_fit(v, &fit))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_FIT, fit, NULL);
    return 1;
}

static int f_max_batch(lua_State *L)
{
    const struct vram_max_batch *m;
    vram *v = handle_for(L, 1);
    if (vram_max_batch(v, &m))
        raise(L, v, NULL);
    if (m->refusal)
        return luaL_error(L, "vram.%s: %s", function_name(L), lua_push_sentence(L, m->refusal));
    lua_pushinteger(L, (lua_Integer)m->batch_size);
    return 1;
}

static int f_solve(lua_State *L)
{
    const struct vram_solution *s;
    const char *field = luaL_checkstring(L, 1);
    vram *v = handle_for(L, 2);
    if (vram_solve(v, field, &s))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_SOLUTION, s, NULL);
    return 1;
}

static int f_cards(lua_State *L)
{
    const struct vram_cards *c;
    vram *v = handle_for(L, 1);
    if (vram_cards(v, &c))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_CARDS, c, NULL);
    return 1;
}

static int f_serve(lua_State *L)
{
    const struct vram_serving *s;
    vram *v = handle_for(L, 1);
    if (vram_serve(v, &s))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_SERVING, s, NULL);
    return 1;
}

static int f_segments(lua_State *L)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        VRAM_MOMENTS(X)
#undef X
            NULL};
    const struct vram_segments *s;
    bool number = lua_isinteger(L, 2);
    uint32_t moment = number ? VRAM_MOMENT_EVENT
                             : (uint32_t)luaL_checkoption(L, 2, names[VRAM_MOMENT_GROWTH], names);
    lua_Integer event = number ? lua_tointeger(L, 2) : 0;
    vram *v = handle_for(L, 1);
    if (vram_segments(v, moment, event < 0 ? UINT64_MAX : (uint64_t)event, &s))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_SEGMENTS, s, NULL);
    return 1;
}

static int f_live_peak(lua_State *L)
{
    uint64_t bytes;
    vram *v = handle_for(L, 1);
    if (vram_live_peak(v, &bytes))
        raise(L, v, NULL);
    lua_pushinteger(L, (lua_Integer)bytes);
    return 1;
}

static int f_step_seconds(lua_State *L)
{
    double seconds;
    vram *v = handle_for(L, 1);
    if (vram_step_seconds(v, &seconds))
        raise(L, v, NULL);
    lua_pushnumber(L, seconds);
    return 1;
}

static int f_explain_oom(lua_State *L)
{
    size_t len;
    const struct vram_oom *oom;
    const char *text = luaL_checklstring(L, 1, &len);
    bool with_config = !lua_isnoneornil(L, 2);
    vram *v = handle_for(L, 2);
    if (vram_explain_oom(v, text, len, with_config, &oom))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_OOM, oom, NULL);
    return 1;
}

static int f_snapshot(lua_State *L)
{
    size_t len;
    const struct vram_snapshot *snapshot;
    const char *data = luaL_checklstring(L, 1, &len);
    bool with_config = !lua_isnoneornil(L, 2);
    vram *v = handle_for(L, 2);
    if (vram_read_snapshot(v, data, len, NULL, with_config, &snapshot))
        raise(L, v, NULL);
    lua_push(L, VRAM_OBJECT_SNAPSHOT, snapshot, NULL);
    return 1;
}

static int push_text(lua_State *L, vram *v, int code)
{
    size_t len;
    if (code)
        raise(L, v, NULL);
    const char *text = vram_text(v, &len);
    lua_pushlstring(L, text, len);
    return 1;
}

static int f_emit(lua_State *L)
{
    static const char *const names[] = {
#define X(id, name) name,
        VRAM_FORMATS(X)
#undef X
            NULL};
    int format = luaL_checkoption(L, 2, "text", names);
    vram *v = handle_for(L, 1);
    int code = vram_run(v);
    return push_text(L, v,
                     code ? code : vram_write(v, VRAM_ANSWER_REPORT, (enum vram_format)format, 0));
}

static int f_timeline(lua_State *L)
{
    vram *v = handle_for(L, 1);
    return push_text(L, v, vram_write(v, VRAM_ANSWER_TIMELINE, VRAM_FORMAT_SVG, 0));
}

static int add_warning(lua_State *L)
{
    const struct vram_message *m = lua_touserdata(L, 2);
    lua_pushfstring(L, "%d:%d: %s", (int)m->line, (int)m->col, lua_push_sentence(L, m));
    lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
    return 0;
}

// Into the table on the top of the stack. Lua's errors must not leave the library in its midst.
static void collect_warning(void *ctx, const struct vram_message *m)
{
    lua_State *L = ctx;
    if (m->code != VRAM_OK)
        return;
    lua_pushcfunction(L, add_warning);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, (void *)m);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK)
        lua_pop(L, 1);
}

static int f_config(lua_State *L)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        VRAM_KINDS(X)
#undef X
            NULL};
    bool several = lua_istable(L, 1);
    lua_Integer count = several ? luaL_len(L, 1) : 1;
    int kind = luaL_checkoption(L, 2, several ? "auto" : "flat", names);
    vram *v = handle_push(L);
    lua_newtable(L);
    luaL_checkstack(L, 8, NULL);
    int warnings = lua_gettop(L);
    for (lua_Integer i = 1; i <= count; i++) {
        size_t len;
        if (several)
            lua_geti(L, 1, i);
        const char *text = luaL_checklstring(L, several ? -1 : 1, &len);
        lua_pushvalue(L, warnings);
        if (vram_parse(v, (enum vram_kind)kind, text, len, NULL, collect_warning, L))
            raise(L, v, NULL);
        lua_settop(L, warnings);
    }
    lua_push_config(L, v);
    lua_insert(L, warnings);
    return 2;
}

static int f_params(lua_State *L)
{
    struct vram_param p;
    vram *v = handle_for(L, 1);
    if (vram_check(v))
        raise(L, v, NULL);
    lua_newtable(L);
    for (uint64_t i = 0; vram_param_at(v, i, &p) == VRAM_OK; i++) {
        lua_push(L, VRAM_OBJECT_PARAM, &p, NULL);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

// The walk must not be left by an error in the middle of the library: errors are caught here and
// raised again when it has returned.
struct walk {
    lua_State *L;
    lua_Integer count;
    int function;  // stack index, 0 to collect
};

enum { WALK_STOPPED = 1, WALK_FAILED = 2 };

static int walk_step(lua_State *L)
{
    struct walk *w = lua_touserdata(L, 1);
    lua_push(L, VRAM_OBJECT_EVENT, lua_touserdata(L, 2), NULL);
    if (!w->function) {
        lua_rawseti(L, 3, ++w->count);
        return 0;
    }
    lua_pushvalue(L, 3);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    return 1;
}

static int walk_event(void *ctx, const struct vram_event *e)
{
    struct walk *w = ctx;
    lua_State *L = w->L;
    lua_pushcfunction(L, walk_step);
    lua_pushlightuserdata(L, w);
    lua_pushlightuserdata(L, (void *)e);
    lua_pushvalue(L, w->function ? w->function : -4);
    if (lua_pcall(L, 3, w->function ? 1 : 0, 0) != LUA_OK)
        return WALK_FAILED;
    if (!w->function)
        return 0;
    bool stop = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return stop ? WALK_STOPPED : 0;
}

static int f_trace(lua_State *L)
{
    struct walk w = {.L = L, .function = lua_isnoneornil(L, 2) ? 0 : 2};
    if (w.function)
        luaL_checktype(L, 2, LUA_TFUNCTION);
    vram *v = handle_for(L, 1);
    luaL_checkstack(L, 8, NULL);
    if (!w.function)
        lua_newtable(L);
    int code = vram_trace(v, walk_event, &w);
    if (code == WALK_FAILED)
        return lua_error(L);
    if (code && code != WALK_STOPPED)
        raise(L, v, NULL);
    return w.function ? 0 : 1;
}

static int f_gpu(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    const struct vram_gpu *g = vram_gpu_find(name);
    if (!g)
        return luaL_error(L, "vram.gpu: no GPU is called '%s'", name);
    lua_push(L, VRAM_OBJECT_GPU, g, NULL);
    return 1;
}

static int f_gpus(lua_State *L)
{
    const struct vram_gpu *g;
    lua_newtable(L);
    for (size_t i = 0; (g = vram_gpu_at(i)); i++) {
        lua_push(L, VRAM_OBJECT_GPU, g, NULL);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

int luaopen_vram(lua_State *L)
{
    static const luaL_Reg functions[] = {{"estimate", f_estimate},
                                         {"live_peak", f_live_peak},
                                         {"step_seconds", f_step_seconds},
                                         {"params", f_params},
                                         {"trace", f_trace},
                                         {"compare", f_compare},
                                         {"advise", f_advise},
                                         {"fit", f_fit},
                                         {"max_batch", f_max_batch},
                                         {"solve", f_solve},
                                         {"cards", f_cards},
                                         {"serve", f_serve},
                                         {"segments", f_segments},
                                         {"explain_oom", f_explain_oom},
                                         {"snapshot", f_snapshot},
                                         {"config", f_config},
                                         {"gpu", f_gpu},
                                         {"gpus", f_gpus},
                                         {"emit", f_emit},
                                         {"timeline", f_timeline},
                                         {NULL, NULL}};
    luaL_newmetatable(L, HANDLE);
    lua_pushcfunction(L, handle_close);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__gc");
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
    lua_newtable(L);
    for (const luaL_Reg *f = functions; f->name; f++) {
        lua_pushstring(L, f->name);
        lua_pushcclosure(L, f->func, 1);
        lua_setfield(L, -2, f->name);
    }
    lua_pushstring(L, vram_version());
    lua_setfield(L, -2, "version");
    return 1;
}
