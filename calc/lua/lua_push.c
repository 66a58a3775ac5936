// Owns the making of Lua tables from the structs of vram.h.

#include "calc/lua/lua_push.h"

#include <lauxlib.h>
#include <lua.h>

// ---- members ---------------------------------------------------------------------------------

// A new table of a kind; the tables of one kind share their units.
static void open(lua_State *L, const char *kind)
{
    lua_createtable(L, 0, 16);
    if (luaL_newmetatable(L, kind)) {
        lua_newtable(L);
        lua_setfield(L, -2, "units");
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

static void set_count(lua_State *L, const char *key, uint64_t n)
{
    lua_pushinteger(L, (lua_Integer)n);
    lua_setfield(L, -2, key);
}

static void set_signed(lua_State *L, const char *key, int64_t n)
{
    lua_pushinteger(L, (lua_Integer)n);
    lua_setfield(L, -2, key);
}

static void set_bytes(lua_State *L, const char *key, uint64_t n)
{
    set_count(L, key, n);
    luaL_getmetafield(L, -1, "units");
    lua_pushstring(L, vram_unit_name(VRAM_UNIT_BYTES));
    lua_setfield(L, -2, key);
    lua_pop(L, 1);
}

// NULL is nil.
static void set_string(lua_State *L, const char *key, const char *text)
{
    if (!text)
        return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

static void set_boolean(lua_State *L, const char *key, bool yes)
{
    lua_pushboolean(L, yes);
    lua_setfield(L, -2, key);
}

// The table on top becomes the index-th, from 0, of the list below it.
static void append(lua_State *L, size_t index)
{
    lua_rawseti(L, -2, (lua_Integer)index + 1);
}

// A sentence; NULL is nil.
static void push_message(lua_State *L, const struct vram_message *m)
{
    open(L, "vram.message");
    set_string(L, "id", m->id);
    set_string(L, "field", m->field);
    set_string(L, "text", m->text);
    lua_newtable(L);
    for (size_t i = 0; i < m->arg_count; i++)
        if (m->args[i].text)
            set_string(L, m->args[i].name, m->args[i].text);
        else
            set_count(L, m->args[i].name, m->args[i].number);
    lua_setfield(L, -2, "args");
}

static void set_message(lua_State *L, const char *key, const struct vram_message *m)
{
    if (!m)
        return;
    push_message(L, m);
    lua_setfield(L, -2, key);
}

static void set_messages(lua_State *L, const char *key, const struct vram_message *m, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_message(L, &m[i]);
        append(L, i);
    }
    lua_setfield(L, -2, key);
}

// ---- configuration ---------------------------------------------------------------------------

void lua_push_config(lua_State *L, vram *v)
{
    const struct vram_field *f;
    char name[64], text[128];
    open(L, "vram.config");
    for (size_t i = 0; (f = vram_field_at(i)) != NULL; i++) {
        uint64_t n = 0;
        vram_get_u64(v, f->key, &n);
        if (f->type == VRAM_TYPE_ENUM)
            set_string(L, f->key, f->values[n]);
        else if (f->type == VRAM_TYPE_SET && vram_get(v, f->key, text, sizeof text) >= 0)
            set_string(L, f->key, text);
        else if (f->type == VRAM_TYPE_BOOL)
            set_boolean(L, f->key, n != 0);
        else if (f->type == VRAM_TYPE_VERSION) {
            vram_get(v, f->key, name, sizeof name);
            set_string(L, f->key, name);
        } else if (f->type == VRAM_TYPE_COUNT || n % 1000000 == 0)
            set_count(L, f->key, f->type == VRAM_TYPE_COUNT ? n : n / 1000000);
        else {
            lua_pushnumber(L, (lua_Number)n / 1e6);
            lua_setfield(L, -2, f->key);
        }
    }
    if (vram_get(v, "gpu", name, sizeof name) > 0 && vram_gpu_find(name))
        set_string(L, "gpu", name);
}

// ---- report ----------------------------------------------------------------------------------

static void set_bound(lua_State *L, const char *key, const struct vram_figure *f)
{
    open(L, "vram.bound");
    set_bytes(L, "low", f->low);
    set_bytes(L, "high", f->high);
    set_string(L, "basis", vram_basis_name(f->basis));
    if (f->tolerance_permille % 10 == 0)
        set_count(L, "tolerance_percent", f->tolerance_permille / 10);
    else {
        lua_pushnumber(L, f->tolerance_permille / 10.0);
        lua_setfield(L, -2, "tolerance_percent");
    }
    set_count(L, "measurements", f->measurements);
    set_message(L, "why", f->why);
    lua_setfield(L, -2, key);
}

static void set_bounds(lua_State *L, const struct vram_result *r)
{
    open(L, "vram.bounds");
    set_bound(L, "peak_live_bytes", &r->peak_live);
    set_bound(L, "peak_allocated_bytes", &r->peak_allocated);
    set_bound(L, "peak_reserved_bytes", &r->peak_reserved);
    set_bound(L, "context_bytes", &r->context);
    set_bound(L, "process_bytes", &r->process);
    lua_setfield(L, -2, "bounds");
}

static void set_counts(lua_State *L, const struct vram_result *r)
{
    set_count(L, "params", r->params);
    set_count(L, "reported_params", r->reported_params);
    set_count(L, "trained_params", r->trained_params);
    set_count(L, "decayed_params", r->decayed_params);
    set_count(L, "decayed_tensors", r->decayed_tensors);
    set_count(L, "nodecay_params", r->nodecay_params);
    set_count(L, "nodecay_tensors", r->nodecay_tensors);
    set_count(L, "tensors", r->tensors);
    set_count(L, "segments", r->segments);
    set_count(L, "events", r->events);
    set_count(L, "iterations", r->iterations);
}

static void set_figures(lua_State *L, const struct vram_result *r)
{
    set_bytes(L, "param_bytes", r->param_bytes);
    set_bytes(L, "grad_bytes", r->grad_bytes);
    set_bytes(L, "optim_bytes", r->optim_bytes);
    set_bytes(L, "buffer_bytes", r->buffer_bytes);
    set_bytes(L, "saved_bytes", r->saved_bytes);
    set_bytes(L, "peak_live_bytes", r->peak_live.bytes);
    set_bytes(L, "peak_requested_bytes", r->peak_requested_bytes);
    set_bytes(L, "peak_allocated_bytes", r->peak_allocated.bytes);
    set_bytes(L, "peak_reserved_bytes", r->peak_reserved.bytes);
    set_bytes(L, "context_bytes", r->context.bytes);
    set_bytes(L, "process_bytes", r->process.bytes);
    set_bytes(L, "first_step_peak_bytes", r->first_step_peak_bytes);
    set_bytes(L, "steady_end_bytes", r->steady_end_bytes);
    set_bytes(L, "eval_peak_bytes", r->eval_peak_bytes);
}

// The totals of a card: nvidia-smi's and CUDA's.
static void set_capacity(lua_State *L, const struct vram_capacity *card)
{
    set_bytes(L, "memory_bytes", card->total_bytes);
    set_bytes(L, "cuda_bytes", card->cuda_bytes);
    set_bytes(L, "cuda_low_bytes", card->cuda_low_bytes);
    set_bytes(L, "cuda_high_bytes", card->cuda_high_bytes);
    set_string(L, "cuda_basis", vram_capacity_name(card->basis));
    set_count(L, "cuda_seen", card->seen);
}

static void set_card(lua_State *L, const struct vram_result *r)
{
    if (!r->gpu_name)
        return;
    open(L, "vram.card");
    set_string(L, "name", r->gpu_name);
    set_bytes(L, "left_bytes", r->gpu_bytes);
    set_capacity(L, &r->capacity);
    lua_setfield(L, -2, "gpu");
    set_boolean(L, "fits", vram_verdict_fits(r->verdict));
}

static void set_lines(lua_State *L, const char *key, const struct vram_line *line, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        open(L, "vram.line");
        set_string(L, "name", line[i].name);
        set_string(L, "op", line[i].op);
        set_string(L, "category", vram_category_name(line[i].category));
        set_count(L, "count", line[i].count);
        set_bytes(L, "bytes", line[i].bytes);
        append(L, i);
    }
    lua_setfield(L, -2, key);
}

static void set_peak(lua_State *L, const struct vram_result *r)
{
    open(L, "vram.peak");
    set_string(L, "phase", r->peak_phase);
    set_string(L, "op", r->peak_op);
    if (r->peak_block >= 0)
        set_count(L, "block", (uint64_t)r->peak_block);
    lua_setfield(L, -2, "peak_at");
    open(L, "vram.breakdown");
    for (uint32_t c = 0; c < r->category_count; c++)
        set_bytes(L, vram_category_name(c), r->by_category[c]);
    lua_setfield(L, -2, "breakdown");
}

static void set_phases(lua_State *L, const struct vram_result *r)
{
    lua_createtable(L, (int)r->phase_count, 0);
    for (size_t i = 0; i < r->phase_count; i++) {
        open(L, "vram.phase");
        set_string(L, "name", r->phases[i].name);
        set_bytes(L, "peak_live_bytes", r->phases[i].peak_live_bytes);
        append(L, i);
    }
    lua_setfield(L, -2, "phases");
}

static void push_shape(lua_State *L, const uint64_t *dims, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushinteger(L, (lua_Integer)dims[i]);
        append(L, i);
    }
    lua_setfield(L, -2, "shape");
}

static void set_parameters(lua_State *L, const struct vram_result *r)
{
    lua_createtable(L, (int)r->parameter_count, 0);
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct vram_tensor *t = &r->parameters[i];
        uint64_t dims[2] = {t->rows, t->cols};
        open(L, "vram.tensor");
        set_string(L, "name", t->name);
        set_count(L, "count", t->count);
        push_shape(L, dims, t->cols ? 2 : 1);
        set_count(L, "elements", t->elements);
        set_boolean(L, "decayed", t->decayed);
        set_boolean(L, "trained", t->trained);
        append(L, i);
    }
    lua_setfield(L, -2, "parameters");
}

void lua_push_result(lua_State *L, vram *v)
{
    const struct vram_result *r = vram_result(v);
    open(L, "vram.result");
    set_string(L, "schema", VRAM_SCHEMA);
    set_string(L, "regime", vram_regime_name(r->regime));
    set_counts(L, r);
    set_figures(L, r);
    set_card(L, r);
    set_bounds(L, r);
    set_peak(L, r);
    set_lines(L, "at_peak", r->at_peak, r->at_peak_count);
    set_lines(L, "saved", r->saved, r->saved_count);
    set_phases(L, r);
    set_parameters(L, r);
    set_messages(L, "notes", r->notes, r->note_count);
    lua_push_config(L, v);
    lua_setfield(L, -2, "config");
}

// ---- other answers ---------------------------------------------------------------------------

void lua_push_fit(lua_State *L, const struct vram_fit *f)
{
    open(L, "vram.fit");
    set_string(L, "schema", VRAM_SCHEMA);
    set_boolean(L, "fits", vram_verdict_fits(f->verdict));
    set_boolean(L, "within_error_bound", f->verdict == VRAM_VERDICT_TIGHT || f->verdict == VRAM_VERDICT_NEARLY);
    set_bytes(L, "process_bytes", f->process.bytes);
    set_bytes(L, "process_low_bytes", f->process.low);
    set_bytes(L, "process_high_bytes", f->process.high);
    set_string(L, "gpu", f->gpu_name);
    set_bytes(L, "gpu_bytes", f->gpu_bytes);
    set_capacity(L, &f->capacity);
}

static void push_change(lua_State *L, const struct vram_change *c)
{
    open(L, "vram.change");
    set_string(L, "id", c->id);
    set_string(L, "change", c->what);
    set_string(L, "effect", vram_effect_name(c->effect));
    set_message(L, "result", c->result);
    set_message(L, "how", c->how);
    set_message(L, "refused", c->refusal);
    set_bytes(L, "process_bytes", c->process_bytes);
    set_bytes(L, "saved_bytes", c->saved_bytes);
    if (c->cost_predicted)
        set_signed(L, "slowdown_permille", c->cost_permille);
    set_message(L, "slowdown_basis", c->cost_basis);
    set_boolean(L, "fits", c->fits);
}

// spare gets the plan's configuration.
static void set_plan(lua_State *L, vram *v, const struct vram_advice *a, vram *spare)
{
    size_t n = 0;
    open(L, "vram.plan");
    set_bytes(L, "process_bytes", a->plan_process_bytes);
    set_signed(L, "slowdown_permille", a->plan_cost_permille);
    lua_newtable(L);
    for (size_t i = 0; i < a->change_count; i++)
        if (a->changes[i].in_plan) {
            lua_pushstring(L, a->changes[i].what);
            append(L, n++);
        }
    lua_setfield(L, -2, "changes");
    vram_take_advice(v, VRAM_PLAN, spare);
    lua_push_config(L, spare);
    lua_setfield(L, -2, "config");
    lua_setfield(L, -2, "plan");
}

void lua_push_advice(lua_State *L, vram *v, const struct vram_advice *a, vram *spare)
{
    open(L, "vram.advice");
    set_string(L, "schema", VRAM_SCHEMA);
    set_bytes(L, "process_bytes", a->process_bytes);
    if (a->gpu_bytes) {
        set_bytes(L, "gpu_bytes", a->gpu_bytes);
        set_capacity(L, &a->capacity);
        set_boolean(L, "fits", a->fits);
    }
    lua_createtable(L, (int)a->change_count, 0);
    for (size_t i = 0; i < a->change_count; i++) {
        push_change(L, &a->changes[i]);
        append(L, i);
    }
    lua_setfield(L, -2, "changes");
    if (a->plan_found)
        set_plan(L, v, a, spare);
}

static void set_size(lua_State *L, const char *key, const struct vram_size *s)
{
    if (s->present)
        set_bytes(L, key, s->bytes);
}

static void push_suspect(lua_State *L, const struct vram_suspect *t)
{
    open(L, "vram.suspect");
    set_string(L, "name", t->name);
    set_string(L, "op", t->op);
    set_string(L, "phase", t->phase);
    set_string(L, "category", vram_category_name(t->category));
    set_bytes(L, "bytes", t->bytes);
    set_bytes(L, "live_bytes", t->live_bytes);
    if (!t->shape.dims)
        return;
    push_shape(L, t->shape.dim, t->shape.dims);
    set_bytes(L, "element_bytes", t->shape.element_bytes);
}

void lua_push_oom(lua_State *L, const struct vram_oom *o)
{
    open(L, "vram.oom");
    set_string(L, "schema", VRAM_SCHEMA);
    set_size(L, "tried_bytes", &o->tried);
    set_size(L, "total_bytes", &o->total);
    set_size(L, "free_bytes", &o->free);
    set_size(L, "allocated_bytes", &o->allocated);
    set_size(L, "reserved_bytes", &o->reserved);
    set_size(L, "unallocated_bytes", &o->unallocated);
    set_string(L, "compile", o->compile);
    lua_createtable(L, (int)o->tensor_count, 0);
    for (size_t i = 0; i < o->tensor_count; i++) {
        push_suspect(L, &o->tensors[i]);
        append(L, i);
    }
    lua_setfield(L, -2, "tensors");
    lua_createtable(L, (int)o->shape_count, 0);
    for (size_t i = 0; i < o->shape_count; i++) {
        open(L, "vram.shape");
        set_bytes(L, "bytes", o->shapes[i].bytes);
        push_shape(L, o->shapes[i].dim, o->shapes[i].dims);
        set_bytes(L, "element_bytes", o->shapes[i].element_bytes);
        append(L, i);
    }
    lua_setfield(L, -2, "shapes");
    set_messages(L, "hints", o->hints, o->hint_count);
}

void lua_push_comparison(lua_State *L, const struct vram_comparison *c)
{
    open(L, "vram.comparison");
    set_string(L, "schema", VRAM_SCHEMA);
    set_bytes(L, "peak_live_bytes", c->peak_live_bytes);
    lua_createtable(L, (int)c->formula_count, 0);
    for (size_t i = 0; i < c->formula_count; i++) {
        const struct vram_formula *f = &c->formulas[i];
        open(L, "vram.formula");
        set_string(L, "id", f->id);
        set_string(L, "name", f->name);
        if (!f->too_large) {
            set_bytes(L, "bytes", f->bytes);
            set_signed(L, "difference_permille", f->difference_permille);
        }
        set_message(L, "because", f->because);
        append(L, i);
    }
    lua_setfield(L, -2, "formulas");
}

void lua_push_param(lua_State *L, const struct vram_param *p)
{
    open(L, "vram.param");
    set_string(L, "name", p->name);
    if (p->block >= 0)
        set_count(L, "block", (uint64_t)p->block);
    set_count(L, "rows", p->rows);
    set_count(L, "cols", p->cols);
    set_bytes(L, "bytes", p->bytes);
    set_boolean(L, "decayed", p->decayed);
    set_boolean(L, "trained", p->trained);
}

void lua_push_event(lua_State *L, const struct vram_event *e)
{
    open(L, "vram.event");
    set_bytes(L, "bytes", e->bytes);
    set_bytes(L, "live", e->live);
    set_count(L, "id", e->id);
    set_boolean(L, "is_free", e->is_free);
    if (e->block >= 0)
        set_count(L, "block", (uint64_t)e->block);
    set_string(L, "name", e->name);
    set_string(L, "op", e->op);
    set_string(L, "phase", e->phase);
    set_string(L, "category", vram_category_name(e->category));
}

void lua_push_gpu(lua_State *L, const struct vram_gpu *g)
{
    struct vram_capacity card;
    open(L, "vram.gpu");
    set_string(L, "name", g->name);
    if (vram_gpu_capacity(g, NULL, &card))
        set_capacity(L, &card);
    set_count(L, "bandwidth_mb_s", g->bandwidth_mb_s);
    set_count(L, "fp16_gflops", g->fp16_gflops);
    set_count(L, "bf16_gflops", g->bf16_gflops);
    set_count(L, "fp32_gflops", g->fp32_gflops);
    set_count(L, "compute_capability", g->compute_capability);
    set_count(L, "sm_count", g->sm_count);
    set_string(L, "source", g->source);
}
