// Where figures begin: given, computed, reported, claimed and measured in a page's Lua.
#include <math.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"

static uint32_t current_line(lua_State *L)
{
    lua_Debug ar;
    for (int level = 1; lua_getstack(L, level, &ar); level++)
        if (lua_getinfo(L, "l", &ar) && ar.currentline > 0)
            return (uint32_t)ar.currentline;
    return 0;
}

struct figure *figure_new(lua_State *L, double value, str unit, enum figure_kind kind, str source)
{
    struct figures *f = figures_of(L);
    sandbox_charge(L, 20 + source.len / 16);
    struct figure *g = arena_new(&f->arena, struct figure, 1);
    *g = (struct figure){
        .value = value,
        .unit = arena_str(&f->arena, unit),
        .kind = kind,
        .source = arena_str(&f->arena, source),
        .line = f->in_page_lua ? current_line(L) : 0,
    };
    return g;
}

static str opt_str(lua_State *L, int index)
{
    str s = STR("");
    s.ptr = luaL_optlstring(L, index, "", &s.len);
    return s;
}

// A configuration as text: "batch_size=16 dtype=float16", in order of key.
static str config_text(lua_State *L, int index)
{
    struct figures *f = figures_of(L);
    buf b = BUF_INIT;
    lua_getglobal(L, "pairs");
    lua_pushvalue(L, index);
    lua_call(L, 1, 2);
    for (lua_pushnil(L);;) {
        lua_pushvalue(L, -3);  // the iterator, its table, the last key
        lua_pushvalue(L, -3);
        lua_rotate(L, -3, -1);
        lua_call(L, 2, 2);
        if (lua_isnil(L, -2))
            break;
        size_t len;
        const char *key = luaL_tolstring(L, -2, &len);
        buf_printf(&b, "%s%s=", b.len ? " " : "", key);
        lua_pop(L, 1);
        buf_printf(&b, "%s", luaL_tolstring(L, -1, NULL));
        lua_pop(L, 2);
    }
    lua_pop(L, 4);
    str text = arena_str(&f->arena, buf_view(&b));
    buf_free(&b);
    return text;
}

static double checked_value(lua_State *L, int index, str *unit, bool *missing)
{
    struct figure *g = figure_at(L, index);
    double v = g ? g->value : luaL_checknumber(L, index);
    luaL_argcheck(L, isfinite(v), index, "not a finite number");
    *missing = g && g->missing;
    *unit = lua_isnoneornil(L, 2) && g ? g->unit : opt_str(L, 2);
    return v;
}

static int construct(lua_State *L, enum figure_kind kind)
{
    str unit, source;
    bool missing;
    double v = checked_value(L, 1, &unit, &missing);
    source = lua_istable(L, 3) ? config_text(L, 3) : opt_str(L, 3);
    struct figure *g = figure_new(L, v, unit, kind, str_trim(source));
    g->missing = missing;
    if (kind != FIGURE_GIVEN && !g->source.len) {
        struct figures *f = figures_of(L);
        luaL_where(L, 1);
        str where = str_c(lua_tostring(L, -1)), name;
        struct diag_pos pos = {0};
        if (g->line && str_cut(&where, ':', &name))
            pos = sandbox_position(f->sandbox, name, g->line);
        diag_add(f->d, D_FIGURE_SOURCE, pos, "%s(value, unit, source)", figure_kind_name(kind));
    }
    figure_push(L, g);
    return 1;
}

static int make_given(lua_State *L)
{
    return construct(L, FIGURE_GIVEN);
}
static int make_computed(lua_State *L)
{
    return construct(L, FIGURE_COMPUTED);
}
static int make_reported(lua_State *L)
{
    return construct(L, FIGURE_REPORTED);
}
static int make_claimed(lua_State *L)
{
    return construct(L, FIGURE_CLAIMED);
}

// measured("experiment", {key = value, ..., value = "name of the value"})
static int make_measured(lua_State *L)
{
    const char *experiment = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    struct figure *g = figure_new(L, 0, STR(""), FIGURE_MEASURED, STR(""));
    record_find(L, 2, experiment, g);
    figure_push(L, g);
    return 1;
}

void figures_open_makers(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"given", make_given},     {"computed", make_computed}, {"reported", make_reported},
        {"claimed", make_claimed}, {"measured", make_measured}, {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
