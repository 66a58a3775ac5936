// Owns the report and the configuration as Lua tables.

#include "calc/lua/lua_push.h"

#include <lua.h>

#include "calc/lua/lua_member.h"

// ---- configuration ---------------------------------------------------------------------------

void lua_push_config(lua_State *L, vram *v)
{
    const struct vram_field *f;
    char name[64], text[128];
    member_open(L, "vram.config");
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        uint64_t n = 0;
        vram_get_u64(v, f->key, &n);
        if (f->type == VRAM_TYPE_ENUM)
            member_string(L, f->key, f->values[n]);
        else if (f->type == VRAM_TYPE_SET && vram_get(v, f->key, text, sizeof text) >= 0)
            member_string(L, f->key, text);
        else if (f->type == VRAM_TYPE_BOOL)
            member_boolean(L, f->key, n != 0);
        else if (f->type == VRAM_TYPE_VERSION) {
            vram_get(v, f->key, name, sizeof name);
            member_string(L, f->key, name);
        } else if (f->type == VRAM_TYPE_COUNT || n % 1000000 == 0)
            member_count(L, f->key, f->type == VRAM_TYPE_COUNT ? n : n / 1000000);
        else {
            lua_pushnumber(L, (lua_Number)n / 1e6);
            lua_setfield(L, -2, f->key);
        }
    }
    if (vram_get(v, "gpu", name, sizeof name) > 0 && vram_gpu_find(name))
        member_string(L, "gpu", name);
}

// ---- report ----------------------------------------------------------------------------------

static void set_bound(lua_State *L, const char *key, const struct vram_figure *f)
{
    member_open(L, "vram.bound");
    member_bytes(L, "low", f->low);
    member_bytes(L, "high", f->high);
    member_string(L, "basis", vram_basis_name(f->basis));
    if (f->tolerance_permille % 10 == 0)
        member_count(L, "tolerance_percent", f->tolerance_permille / 10);
    else {
        lua_pushnumber(L, f->tolerance_permille / 10.0);
        lua_setfield(L, -2, "tolerance_percent");
    }
    member_count(L, "measurements", f->measurements);
    member_message(L, "why", f->why);
    lua_setfield(L, -2, key);
}

static void set_bounds(lua_State *L, const struct vram_result *r)
{
    member_open(L, "vram.bounds");
    set_bound(L, "peak_live_bytes", &r->peak_live);
    set_bound(L, "peak_allocated_bytes", &r->peak_allocated);
    set_bound(L, "peak_reserved_bytes", &r->peak_reserved);
    set_bound(L, "context_bytes", &r->context);
    set_bound(L, "process_bytes", &r->process);
    lua_setfield(L, -2, "bounds");
}

static void set_counts(lua_State *L, const struct vram_result *r)
{
    member_count(L, "params", r->params);
    member_count(L, "reported_params", r->reported_params);
    member_count(L, "trained_params", r->trained_params);
    member_count(L, "decayed_params", r->decayed_params);
    member_count(L, "decayed_tensors", r->decayed_tensors);
    member_count(L, "nodecay_params", r->nodecay_params);
    member_count(L, "nodecay_tensors", r->nodecay_tensors);
    member_count(L, "tensors", r->tensors);
    member_count(L, "segments", r->segments);
    member_count(L, "events", r->events);
    member_count(L, "iterations", r->iterations);
}

static void set_figures(lua_State *L, const struct vram_result *r)
{
    member_bytes(L, "param_bytes", r->param_bytes);
    member_bytes(L, "grad_bytes", r->grad_bytes);
    member_bytes(L, "optim_bytes", r->optim_bytes);
    member_bytes(L, "buffer_bytes", r->buffer_bytes);
    member_bytes(L, "saved_bytes", r->saved_bytes);
    member_bytes(L, "peak_live_bytes", r->peak_live.bytes);
    member_bytes(L, "peak_requested_bytes", r->peak_requested_bytes);
    member_bytes(L, "peak_allocated_bytes", r->peak_allocated.bytes);
    member_bytes(L, "peak_reserved_bytes", r->peak_reserved.bytes);
    member_bytes(L, "context_bytes", r->context.bytes);
    member_bytes(L, "process_bytes", r->process.bytes);
    member_bytes(L, "first_step_peak_bytes", r->first_step_peak_bytes);
    member_bytes(L, "steady_end_bytes", r->steady_end_bytes);
    member_bytes(L, "eval_peak_bytes", r->eval_peak_bytes);
    member_bytes(L, "cards_allocated_bytes", r->cards_allocated_bytes);
}

static void set_card(lua_State *L, const struct vram_result *r)
{
    if (!r->gpu_name)
        return;
    member_open(L, "vram.card");
    member_string(L, "name", r->gpu_name);
    member_bytes(L, "left_bytes", r->gpu_bytes);
    member_capacity(L, &r->capacity);
    lua_setfield(L, -2, "gpu");
    member_boolean(L, "fits", vram_verdict_fits(r->verdict));
}

static void set_lines(lua_State *L, const char *key, const struct vram_line *line, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        member_open(L, "vram.line");
        member_string(L, "name", line[i].name);
        member_string(L, "op", line[i].op);
        member_string(L, "category", vram_category_name(line[i].category));
        member_count(L, "count", line[i].count);
        member_bytes(L, "bytes", line[i].bytes);
        member_append(L, i);
    }
    lua_setfield(L, -2, key);
}

static void set_peak(lua_State *L, const struct vram_result *r)
{
    member_open(L, "vram.peak");
    member_string(L, "phase", r->peak_phase);
    member_string(L, "op", r->peak_op);
    if (r->peak_block >= 0)
        member_count(L, "block", (uint64_t)r->peak_block);
    lua_setfield(L, -2, "peak_at");
    member_open(L, "vram.breakdown");
    for (uint32_t c = 0; c < r->category_count; c++)
        member_bytes(L, vram_category_name(c), r->by_category[c]);
    lua_setfield(L, -2, "breakdown");
}

static void set_phases(lua_State *L, const struct vram_result *r)
{
    lua_createtable(L, (int)r->phase_count, 0);
    for (size_t i = 0; i < r->phase_count; i++) {
        member_open(L, "vram.phase");
        member_string(L, "name", r->phases[i].name);
        member_bytes(L, "peak_live_bytes", r->phases[i].peak_live_bytes);
        member_append(L, i);
    }
    lua_setfield(L, -2, "phases");
}

static void set_parameters(lua_State *L, const struct vram_result *r)
{
    lua_createtable(L, (int)r->parameter_count, 0);
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct vram_tensor *t = &r->parameters[i];
        uint64_t dims[2] = {t->rows, t->cols};
        member_open(L, "vram.tensor");
        member_string(L, "name", t->name);
        member_count(L, "count", t->count);
        member_shape(L, dims, t->cols ? 2 : 1);
        member_count(L, "elements", t->elements);
        member_boolean(L, "decayed", t->decayed);
        member_boolean(L, "trained", t->trained);
        member_append(L, i);
    }
    lua_setfield(L, -2, "parameters");
}

void lua_push_result(lua_State *L, vram *v)
{
    const struct vram_result *r = vram_result(v);
    member_open(L, "vram.result");
    member_string(L, "schema", VRAM_SCHEMA);
    member_string(L, "regime", vram_regime_name(r->regime));
    set_counts(L, r);
    set_figures(L, r);
    set_card(L, r);
    set_bounds(L, r);
    set_peak(L, r);
    set_lines(L, "at_peak", r->at_peak, r->at_peak_count);
    set_lines(L, "saved", r->saved, r->saved_count);
    set_phases(L, r);
    set_parameters(L, r);
    member_messages(L, "notes", r->notes, r->note_count);
    lua_push_config(L, v);
    lua_setfield(L, -2, "config");
}
