// Figures as Lua values: combined by arithmetic that carries kind and source, and how they are
// shown.
#include <math.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"

struct figures *figures_of(lua_State *L)
{
    return sandbox_user(L);
}

const char *figure_kind_name(enum figure_kind kind)
{
    static const char *const names[] = {
#define X(id, name) [FIGURE_##id] = #name,
        FIGURE_KINDS(X)
#undef X
    };
    return names[kind];
}

bool figure_is_bytes(str unit, double *scale)
{
    enum byte_unit u;
    if (!byte_unit_parse(unit, &u))
        return false;
    *scale = byte_unit_size(u);
    return true;
}

struct figure *figure_at(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TUSERDATA)
        return NULL;
    struct figure **held = luaL_testudata(L, index, FIGURE_META);
    if (held)
        return *held;
    struct shown *s = luaL_testudata(L, index, SHOWN_META);
    return s ? s->figure : NULL;
}

void figure_push(lua_State *L, struct figure *f)
{
    struct figure **held = lua_newuserdatauv(L, sizeof *held, 0);
    *held = f;
    luaL_setmetatable(L, FIGURE_META);
}

// An operand: bytes in bytes, a plain number as a given one without a source.
struct operand {
    double value;
    str unit;
    const struct figure *figure;
};

static struct operand operand_at(lua_State *L, int index)
{
    struct figure *g = figure_at(L, index);
    if (!g)
        return (struct operand){luaL_checknumber(L, index), STR(""), NULL};
    double scale = 1;
    bool bytes = figure_is_bytes(g->unit, &scale);
    return (struct operand){g->value * scale, bytes ? STR("B") : g->unit, g};
}

static bool source_holds(str sources, str one)
{
    str part;
    while (sources.len) {
        size_t end = str_search(sources, STR("; "));
        part = str_slice(sources, 0, end);
        if (str_eq(part, one))
            return true;
        sources = str_slice(sources, end + 2, sources.len);
    }
    return false;
}

// Both sources, the same one once.
static str joined_source(struct figures *f, const struct figure *a, const struct figure *b)
{
    str x = a ? a->source : STR(""), y = b ? b->source : STR("");
    if (!x.len || source_holds(y, x))
        return y;
    if (!y.len || source_holds(x, y))
        return x;
    return arena_printf(&f->arena, "%.*s; %.*s", STR_ARG(x), STR_ARG(y));
}

// A sum is what its weakest part is; a comparison of two kinds is neither of them: it was not
// reported but computed.
static enum figure_kind combined_kind(const struct figure *a, const struct figure *b, bool compares)
{
    if (!a || !b)
        return a ? a->kind : b ? b->kind : FIGURE_GIVEN;
    if (compares && a->kind != b->kind)
        return FIGURE_COMPUTED;
    return a->kind > b->kind ? a->kind : b->kind;
}

static int combine_as(lua_State *L, double value, str unit, const struct figure *a,
                      const struct figure *b, bool compares)
{
    enum figure_kind kind = combined_kind(a, b, compares);
    bool missing = (a && a->missing) || (b && b->missing);
    if (!missing && !isfinite(value))
        return luaL_error(L, "the result is not a finite number");
    struct figure *g =
        figure_new(L, missing ? 0 : value, unit, kind, joined_source(figures_of(L), a, b));
    g->missing = missing;
    g->stale = (a && a->stale) || (b && b->stale);
    figure_push(L, g);
    return 1;
}

static int combine(lua_State *L, double value, str unit, const struct figure *a,
                   const struct figure *b)
{
    return combine_as(L, value, unit, a, b, false);
}

// Sums keep their unit; a plain number beside a figure is taken as the same.
static str unit_of_sum(lua_State *L, const struct operand *a, const struct operand *b)
{
    if (!a->figure || str_eq(a->unit, b->unit))
        return b->unit;
    if (b->figure)
        luaL_error(L, "a value in \"%s\" and one in \"%s\" cannot be added or compared",
                   a->unit.ptr, b->unit.ptr);
    return a->unit;
}

static int figure_add(lua_State *L)
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    return combine(L, a.value + b.value, unit_of_sum(L, &a, &b), a.figure, b.figure);
}

static int figure_sub(lua_State *L)
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    return combine(L, a.value - b.value, unit_of_sum(L, &a, &b), a.figure, b.figure);
}

static int figure_mul(lua_State *L)
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    if (a.unit.len && b.unit.len)
        return luaL_error(L, "a value in \"%s\" times one in \"%s\" has no unit here", a.unit.ptr,
                          b.unit.ptr);
    return combine(L, a.value * b.value, a.unit.len ? a.unit : b.unit, a.figure, b.figure);
}

static int figure_div(lua_State *L)
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    str unit = a.unit;
    if (str_eq(a.unit, b.unit))
        unit = STR("");
    else if (b.unit.len)
        unit = arena_printf(&figures_of(L)->arena, "%.*s/%.*s", STR_ARG(a.unit), STR_ARG(b.unit));
    return combine_as(L, a.value / b.value, unit, a.figure, b.figure, str_eq(a.unit, b.unit));
}

static int figure_idiv(lua_State *L)
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    if (b.unit.len && !str_eq(a.unit, b.unit))
        return luaL_error(L, "// between different units");
    return combine(L, floor(a.value / b.value), b.unit.len ? STR("") : a.unit, a.figure, b.figure);
}

static int figure_mod(lua_State *L)
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    return combine(L, a.value - floor(a.value / b.value) * b.value, unit_of_sum(L, &a, &b),
                   a.figure, b.figure);
}

static int figure_pow(lua_State *L)
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    if (a.unit.len || b.unit.len)
        return luaL_error(L, "powers are for plain numbers");
    return combine(L, pow(a.value, b.value), STR(""), a.figure, b.figure);
}

static int figure_unm(lua_State *L)
{
    struct operand a = operand_at(L, 1);
    return combine(L, -a.value, a.unit, a.figure, NULL);
}

static int compare(lua_State *L, bool (*holds)(double, double))
{
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    unit_of_sum(L, &a, &b);
    lua_pushboolean(L, holds(a.value, b.value));
    return 1;
}

static bool is_less(double a, double b)
{
    return a < b;
}
static bool is_not_more(double a, double b)
{
    return a <= b;
}
static bool is_same(double a, double b)
{
    return a == b;
}
static int figure_lt(lua_State *L)
{
    return compare(L, is_less);
}
static int figure_le(lua_State *L)
{
    return compare(L, is_not_more);
}
static int figure_eq(lua_State *L)
{
    return compare(L, is_same);
}

static void push_plain(lua_State *L, double v)
{
    if (v == floor(v) && fabs(v) < 9007199254740992.0)
        lua_pushinteger(L, (lua_Integer)v);
    else
        lua_pushnumber(L, v);
}

static int figure_tostring(lua_State *L)
{
    struct figure *g = figure_at(L, 1);
    if (g->missing)
        lua_pushliteral(L, "not measured yet");
    else
        push_plain(L, g->value);
    luaL_tolstring(L, -1, NULL);
    return 1;
}

static int figure_concat(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    luaL_tolstring(L, 2, NULL);
    lua_concat(L, 2);
    return 1;
}

static int figure_index(lua_State *L)
{
    struct figure *g = figure_at(L, 1);
    const char *name = luaL_checkstring(L, 2);
    if (strcmp(name, "value") == 0)
        push_plain(L, g->value);
    else if (strcmp(name, "unit") == 0)
        lua_pushlstring(L, g->unit.ptr, g->unit.len);
    else if (strcmp(name, "kind") == 0)
        lua_pushstring(L, figure_kind_name(g->kind));
    else if (strcmp(name, "source") == 0)
        lua_pushlstring(L, g->source.ptr, g->source.len);
    else if (strcmp(name, "missing") == 0)
        lua_pushboolean(L, g->missing);
    else
        return luaL_error(L, "a figure has no field \"%s\"", name);
    return 1;
}

static int push_shown(lua_State *L, enum shown_style style, struct figure *g, enum byte_unit unit,
                      int decimals)
{
    struct shown *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (struct shown){g, style, unit, decimals, STR("")};
    luaL_setmetatable(L, SHOWN_META);
    return 1;
}

static struct figure *checked_figure(lua_State *L, int index)
{
    struct figure *g = figure_at(L, index);
    if (!g)
        luaL_argerror(L, index,
                      lua_isnumber(L, index)
                          ? "a bare number has no source; write given(...) or computed(...)"
                          : "a figure is wanted");
    return g;
}

static int checked_decimals(lua_State *L, int index, int otherwise)
{
    lua_Integer n = luaL_optinteger(L, index, otherwise);
    luaL_argcheck(L, n >= -1 && n <= 9, index, "decimals are 0 to 9");
    return (int)n;
}

// MiB(x, decimals) and its like: the upvalue is the unit.
static int show_bytes(lua_State *L)
{
    enum byte_unit u = (enum byte_unit)lua_tointeger(L, lua_upvalueindex(1));
    struct figure *g = checked_figure(L, 1);
    double scale;
    if (!g->missing && !figure_is_bytes(g->unit, &scale))
        return luaL_error(L, "the figure's unit is \"%s\", not bytes", g->unit.ptr);
    return push_shown(L, SHOWN_BYTES, g, u, checked_decimals(L, 2, byte_unit_decimals(u)));
}

static int show_percent(lua_State *L)
{
    return push_shown(L, SHOWN_PERCENT, checked_figure(L, 1), UNIT_B, checked_decimals(L, 2, 0));
}

static int show_number(lua_State *L)
{
    return push_shown(L, SHOWN_NUMBER, checked_figure(L, 1), UNIT_B, checked_decimals(L, 2, -1));
}

static int show_integer(lua_State *L)
{
    return push_shown(L, SHOWN_NUMBER, checked_figure(L, 1), UNIT_B, 0);
}

// ratio(a, b, decimals): how many times b fits in a.
static int show_ratio(lua_State *L)
{
    int decimals = checked_decimals(L, 3, 1);
    lua_settop(L, 2);
    figure_div(L);
    return push_shown(L, SHOWN_RATIO, checked_figure(L, -1), UNIT_B, decimals);
}

// difference(a, b, decimals): by how much a is more than b, in percent of b, with its sign.
static int show_difference(lua_State *L)
{
    int decimals = checked_decimals(L, 3, 0);
    lua_settop(L, 2);
    struct operand a = operand_at(L, 1), b = operand_at(L, 2);
    unit_of_sum(L, &a, &b);
    combine_as(L, (a.value - b.value) / b.value, STR(""), a.figure, b.figure, true);
    return push_shown(L, SHOWN_SIGNED_PERCENT, checked_figure(L, -1), UNIT_B, decimals);
}

bool shown_at(lua_State *L, int index, struct shown *out)
{
    struct shown *s = luaL_testudata(L, index, SHOWN_META);
    struct figure *g = figure_at(L, index);
    *out = s ? *s : (struct shown){g, SHOWN_DEFAULT, UNIT_MiB, -1, STR("")};
    return s || g || chart_at(L, index, &out->html);
}

static const luaL_Reg methods[] = {
    {"__add", figure_add},       {"__sub", figure_sub},     {"__mul", figure_mul},
    {"__div", figure_div},       {"__idiv", figure_idiv},   {"__mod", figure_mod},
    {"__pow", figure_pow},       {"__unm", figure_unm},     {"__lt", figure_lt},
    {"__le", figure_le},         {"__eq", figure_eq},       {"__tostring", figure_tostring},
    {"__concat", figure_concat}, {"__index", figure_index}, {NULL, NULL},
};

static const luaL_Reg functions[] = {
    {"percent", show_percent}, {"number", show_number},         {"integer", show_integer},
    {"ratio", show_ratio},     {"difference", show_difference}, {NULL, NULL},
};

void figures_open_values(lua_State *L)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
    static const char *const metas[] = {FIGURE_META, SHOWN_META};
    for (size_t i = 0; i < 2; i++) {
        luaL_newmetatable(L, metas[i]);
        luaL_setfuncs(L, methods, 0);
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
        lua_pop(L, 1);
    }
    figures_open_makers(L);
    luaL_setfuncs(L, functions, 0);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        enum byte_unit u = UNIT_B;
        byte_unit_parse(str_c(units[i]), &u);
        lua_pushinteger(L, u);
        lua_pushcclosure(L, show_bytes, 1);
        lua_setfield(L, -2, units[i]);
    }
}
