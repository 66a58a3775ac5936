// Measured figures: the records of measurements searched for the newest result that fits.
#include <math.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/site/source/measurements.h"

// Whether the Lua value at index equals a JSON value.
static bool same_value(lua_State *L, int index, const struct rjson *v)
{
    switch (lua_type(L, index)) {
    case LUA_TSTRING:
        return v && v->kind == RJSON_STRING && strcmp(lua_tostring(L, index), v->text) == 0;
    case LUA_TBOOLEAN: return v && v->kind == RJSON_BOOL && v->truth == lua_toboolean(L, index);
    case LUA_TNUMBER: return rjson_number(v) == lua_tonumber(L, index);
    default: return false;
    }
}

// One key of the query at -2, its value at -1: about the record, the result or its configuration.
static bool query_holds(lua_State *L, const struct measurement *r, const struct rjson *result)
{
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    if (strcmp(key, "value") == 0 || strcmp(key, "protocol") == 0 || strcmp(key, "optional") == 0)
        return true;  // what is wanted, how new it must be, and whether it must be there
    if (strcmp(key, "record") == 0)
        return lua_type(L, -1) == LUA_TSTRING && str_eq(r->id, str_c(lua_tostring(L, -1)));
    if (strcmp(key, "engine") == 0)
        return same_value(L, -1, rjson_get(result, "engine"));
    if (strcmp(key, "device") == 0) {
        str wanted = lua_type(L, -1) == LUA_TSTRING ? str_c(lua_tostring(L, -1)) : STR("");
        return wanted.len && str_has(r->device, wanted);
    }
    return same_value(L, -1, rjson_get(rjson_get(result, "config"), key));
}

static bool result_fits(lua_State *L, int query, const struct measurement *r,
                        const struct rjson *result, const char *experiment)
{
    if (strcmp(measurement_text(result, "experiment"), experiment) != 0 ||
        strcmp(measurement_text(result, "status"), "ok") != 0)
        return false;
    bool fits = true;
    for (lua_pushnil(L); lua_next(L, query); lua_pop(L, 1))
        fits = fits && query_holds(L, r, result);
    return fits;
}

// The newest protocol of an experiment that any record knows, or that the query asks for.
static int64_t newest_protocol(lua_State *L, int query, const struct measurements *list,
                               const char *experiment)
{
    int64_t newest = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct rjson *p =
            rjson_get(rjson_get(rjson_get(list->items[i].root, "tool"), "protocols"), experiment);
        newest = p && p->integer > newest ? p->integer : newest;
    }
    lua_getfield(L, query, "protocol");
    int64_t asked = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
    lua_pop(L, 1);
    return asked > newest ? asked : newest;
}

// Units of the schema as ours: a count and a ratio are plain numbers.
static const char *unit_name(const char *unit)
{
    return strcmp(unit, "count") == 0 || strcmp(unit, "ratio") == 0 ? "" : unit;
}

// "NVIDIA GeForce RTX 4070, driver 550.54, 2026-11-20, vramprobe 1.0, torch-eager: RECORD"
static str provenance(struct figures *f, const struct measurement *r, const struct rjson *result)
{
    const struct rjson *tool = rjson_get(r->root, "tool"),
                       *software = rjson_get(r->root, "software");
    buf b = BUF_INIT;
    buf_str(&b, r->device);
    if (*measurement_text(software, "driver"))
        buf_printf(&b, ", driver %s", measurement_text(software, "driver"));
    if (*measurement_text(software, "torch"))
        buf_printf(&b, ", PyTorch %s", measurement_text(software, "torch"));
    buf_printf(&b, ", %.10s, %s %s, %s: %.*s", measurement_text(r->root, "created_utc"),
               measurement_text(tool, "name"), measurement_text(tool, "version"),
               measurement_text(result, "engine"), STR_ARG(r->id));
    str s = arena_str(&f->arena, buf_view(&b));
    buf_free(&b);
    return s;
}

static void fill(struct figures *f, const struct measurement *r, const struct rjson *result,
                 const struct rjson *value, struct figure *out)
{
    out->value = rjson_number(rjson_get(value, "value"));
    out->unit = arena_str(&f->arena, str_c(unit_name(measurement_text(value, "unit"))));
    out->source = provenance(f, r, result);
    out->missing = false;
}

static struct diag_pos call_position(lua_State *L, struct figures *f, uint32_t line)
{
    lua_Debug ar;
    if (line && lua_getstack(L, 1, &ar) && lua_getinfo(L, "S", &ar))
        return sandbox_position(f->sandbox, str_c(ar.short_src), line);
    return DIAG_FILE(f->doc->page_lua);
}

void record_find(lua_State *L, int query, const char *experiment, struct figure *out)
{
    struct figures *f = figures_of(L);
    const struct measurements *list = &figures_of(L)->site->measurements;
    lua_getfield(L, query, "value");
    str name = str_c(lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "");
    luaL_argcheck(L, name.len, query, "value = \"name of the value\" is missing");
    out->missing = true;
    out->source = arena_printf(&f->arena, "%s: %.*s", experiment, STR_ARG(name));
    for (size_t i = 0; i < list->count && out->missing; i++) {
        for (const struct rjson *result = rjson_get(list->items[i].root, "results")->first; result;
             result = result->next) {
            const struct rjson *value = rjson_get(rjson_get(result, "values"), name.ptr);
            sandbox_charge(L, 20);
            if (!isfinite(rjson_number(rjson_get(value, "value"))) ||
                !result_fits(L, query, &list->items[i], result, experiment))
                continue;
            fill(f, &list->items[i], result, value, out);
            out->stale = rjson_get(result, "protocol")->integer <
                         newest_protocol(L, query, list, experiment);
            break;
        }
    }
    lua_pop(L, 1);
    lua_getfield(L, query, "optional");
    bool optional = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (out->missing && optional)
        return;
    if (out->missing)
        diag_add(f->d, D_FIGURE_MISSING, call_position(L, f, out->line), "%.*s",
                 STR_ARG(out->source));
    else if (out->stale)
        diag_add(f->d, D_FIGURE_STALE, call_position(L, f, out->line), "%.*s",
                 STR_ARG(out->source));
}
