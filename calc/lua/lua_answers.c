// Owns the other answers as Lua tables.

#include <lua.h>

#include "calc/lua/lua_member.h"
#include "calc/lua/lua_push.h"

void lua_push_fit(lua_State *L, const struct vram_fit *f)
{
    member_open(L, "vram.fit");
    member_string(L, "schema", VRAM_SCHEMA);
    member_boolean(L, "fits", vram_verdict_fits(f->verdict));
    member_boolean(L, "within_error_bound", f->verdict == VRAM_VERDICT_TIGHT || f->verdict == VRAM_VERDICT_NEARLY);
    member_bytes(L, "process_bytes", f->process.bytes);
    member_bytes(L, "process_low_bytes", f->process.low);
    member_bytes(L, "process_high_bytes", f->process.high);
    member_string(L, "gpu", f->gpu_name);
    member_bytes(L, "gpu_bytes", f->gpu_bytes);
    member_capacity(L, &f->capacity);
}

void lua_push_solution(lua_State *L, const struct vram_solution *s)
{
    member_open(L, "vram.solution");
    member_string(L, "schema", VRAM_SCHEMA);
    member_string(L, "field", s->field);
    member_string(L, "goal", vram_goal_name(s->goal));
    member_string(L, "method", vram_method_name(s->method));
    member_count(L, "tried", s->tried);
    member_count(L, "configured", s->configured);
    if (s->found) {
        member_count(L, "value", s->value);
        member_bytes(L, "process_bytes", s->process_bytes);
    }
    if (s->safe_found)
        member_count(L, "safe_value", s->safe_value);
    member_string(L, "gpu", s->gpu_name);
    member_bytes(L, "gpu_bytes", s->gpu_bytes);
    member_capacity(L, &s->capacity);
    member_message(L, "limit", s->limit);
    member_message(L, "refusal", s->refusal);
}

static void push_card(lua_State *L, const struct vram_card *c)
{
    member_open(L, "vram.card");
    member_string(L, "gpu", c->gpu_name);
    member_count(L, "count", c->count);
    member_string(L, "change", c->change);
    member_bytes(L, "total_bytes", c->total_bytes);
    member_bytes(L, "gpu_bytes", c->gpu_bytes);
    member_bytes(L, "process_bytes", c->process_bytes);
    member_bytes(L, "margin_bytes", c->margin_bytes);
    member_boolean(L, "surely", c->surely);
}

void lua_push_cards(lua_State *L, const struct vram_cards *c)
{
    member_open(L, "vram.cards");
    member_string(L, "schema", VRAM_SCHEMA);
    lua_createtable(L, (int)c->card_count, 0);
    for (size_t i = 0; i < c->card_count; i++) {
        push_card(L, &c->cards[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, "cards");
    member_count(L, "tried", c->tried);
    member_message(L, "note", c->note);
    member_message(L, "refusal", c->refusal);
}

static void push_block(lua_State *L, const struct vram_block *b)
{
    member_open(L, "vram.block");
    member_bytes(L, "bytes", b->bytes);
    member_string(L, "state", vram_block_state_name(b->state));
    if (b->state != VRAM_BLOCK_USED)
        return;
    member_bytes(L, "requested_bytes", b->requested);
    member_string(L, "category", vram_category_name(b->category));
    member_string(L, "tensor", b->name);
    member_signed(L, "layer", b->layer);
}

static void push_segment(lua_State *L, const struct vram_segment *g)
{
    member_open(L, "vram.segment");
    member_bytes(L, "bytes", g->bytes);
    member_bytes(L, "used_bytes", g->used_bytes);
    member_bytes(L, "largest_free_bytes", g->largest_free_bytes);
    member_boolean(L, "small", g->small);
    member_count(L, "stream", g->stream);
    lua_createtable(L, (int)g->block_count, 0);
    for (size_t i = 0; i < g->block_count; i++) {
        push_block(L, &g->blocks[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, "blocks");
}

void lua_push_segments(lua_State *L, const struct vram_segments *s)
{
    member_open(L, "vram.segments");
    member_string(L, "schema", VRAM_SCHEMA);
    member_string(L, "moment", vram_moment_name(s->moment));
    member_count(L, "event", s->event);
    member_count(L, "events", s->events);
    member_bytes(L, "event_bytes", s->event_bytes);
    member_boolean(L, "event_is_free", s->event_is_free);
    member_string(L, "tensor", s->name);
    member_string(L, "op", s->op);
    member_string(L, "phase", s->phase);
    member_bytes(L, "reserved_bytes", s->reserved_bytes);
    member_bytes(L, "allocated_bytes", s->allocated_bytes);
    member_bytes(L, "requested_bytes", s->requested_bytes);
    member_bytes(L, "pending_bytes", s->pending_bytes);
    member_count(L, "free_blocks", s->free_blocks);
    member_bytes(L, "largest_free_bytes", s->largest_free_bytes);
    lua_createtable(L, (int)s->segment_count, 0);
    for (size_t i = 0; i < s->segment_count; i++) {
        push_segment(L, &s->segments[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, "segments");
}

void lua_push_serving(lua_State *L, const struct vram_serving *s)
{
    member_open(L, "vram.serving");
    member_string(L, "schema", VRAM_SCHEMA);
    member_string(L, "server", s->server);
    member_count(L, "params", s->params);
    member_bytes(L, "weights_bytes", s->weights_bytes);
    member_bytes(L, "work_bytes", s->work_bytes);
    member_bytes(L, "context_bytes", s->context_bytes);
    member_bytes(L, "pool_bytes", s->pool_bytes);
    member_bytes(L, "token_bytes", s->token_bytes);
    member_count(L, "block_tokens", s->block_tokens);
    member_count(L, "blocks", s->blocks);
    member_count(L, "tokens", s->tokens);
    member_count(L, "length", s->length);
    member_count(L, "sequences", s->sequences);
    member_count(L, "longest", s->longest);
    member_string(L, "gpu", s->gpu_name);
    member_bytes(L, "gpu_bytes", s->gpu_bytes);
    member_capacity(L, &s->capacity);
    member_message(L, "note", s->note);
    member_message(L, "refusal", s->refusal);
}

static void push_change(lua_State *L, const struct vram_change *c)
{
    member_open(L, "vram.change");
    member_string(L, "id", c->id);
    member_string(L, "change", c->what);
    member_string(L, "effect", vram_effect_name(c->effect));
    member_message(L, "result", c->result);
    member_message(L, "how", c->how);
    member_message(L, "refused", c->refusal);
    member_bytes(L, "process_bytes", c->process_bytes);
    member_bytes(L, "saved_bytes", c->saved_bytes);
    if (c->cost_predicted)
        member_signed(L, "slowdown_permille", c->cost_permille);
    member_message(L, "slowdown_basis", c->cost_basis);
    member_boolean(L, "fits", c->fits);
    member_string(L, "line", c->line);
    member_boolean(L, "by_tensors", c->by_tensors);
}

// spare gets the plan's configuration.
static void set_plan(lua_State *L, vram *v, const struct vram_advice *a, vram *spare)
{
    size_t n = 0;
    member_open(L, "vram.plan");
    member_bytes(L, "process_bytes", a->plan_process_bytes);
    member_signed(L, "slowdown_permille", a->plan_cost_permille);
    lua_newtable(L);
    for (size_t i = 0; i < a->change_count; i++)
        if (a->changes[i].in_plan) {
            lua_pushstring(L, a->changes[i].what);
            member_append(L, n++);
        }
    lua_setfield(L, -2, "changes");
    vram_take_advice(v, VRAM_PLAN, spare);
    lua_push_config(L, spare);
    lua_setfield(L, -2, "config");
    lua_setfield(L, -2, "plan");
}

void lua_push_advice(lua_State *L, vram *v, const struct vram_advice *a, vram *spare)
{
    member_open(L, "vram.advice");
    member_string(L, "schema", VRAM_SCHEMA);
    member_bytes(L, "process_bytes", a->process_bytes);
    if (a->gpu_bytes) {
        member_bytes(L, "gpu_bytes", a->gpu_bytes);
        member_capacity(L, &a->capacity);
        member_boolean(L, "fits", a->fits);
    }
    member_string(L, "framework", a->framework);
    lua_createtable(L, (int)a->change_count, 0);
    for (size_t i = 0; i < a->change_count; i++) {
        push_change(L, &a->changes[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, "changes");
    if (a->plan_found)
        set_plan(L, v, a, spare);
}

static void set_size(lua_State *L, const char *key, const struct vram_size *s)
{
    if (s->present)
        member_bytes(L, key, s->bytes);
}

static void push_suspect(lua_State *L, const struct vram_suspect *t)
{
    member_open(L, "vram.suspect");
    member_string(L, "name", t->name);
    member_string(L, "op", t->op);
    member_string(L, "phase", t->phase);
    member_string(L, "category", vram_category_name(t->category));
    member_bytes(L, "bytes", t->bytes);
    member_bytes(L, "live_bytes", t->live_bytes);
    if (!t->shape.dims)
        return;
    member_shape(L, t->shape.dim, t->shape.dims);
    member_bytes(L, "element_bytes", t->shape.element_bytes);
}

void lua_push_oom(lua_State *L, const struct vram_oom *o)
{
    member_open(L, "vram.oom");
    member_string(L, "schema", VRAM_SCHEMA);
    member_string(L, "source", o->source);
    member_message(L, "about", o->about);
    set_size(L, "tried_bytes", &o->tried);
    set_size(L, "total_bytes", &o->total);
    set_size(L, "free_bytes", &o->free);
    set_size(L, "allocated_bytes", &o->allocated);
    set_size(L, "reserved_bytes", &o->reserved);
    set_size(L, "unallocated_bytes", &o->unallocated);
    set_size(L, "in_use_bytes", &o->in_use);
    member_string(L, "compile", o->compile);
    lua_createtable(L, (int)o->tensor_count, 0);
    for (size_t i = 0; i < o->tensor_count; i++) {
        push_suspect(L, &o->tensors[i]);
        member_append(L, i);
    }
    lua_setfield(L, -2, "tensors");
    lua_createtable(L, (int)o->shape_count, 0);
    for (size_t i = 0; i < o->shape_count; i++) {
        member_open(L, "vram.shape");
        member_bytes(L, "bytes", o->shapes[i].bytes);
        member_shape(L, o->shapes[i].dim, o->shapes[i].dims);
        member_bytes(L, "element_bytes", o->shapes[i].element_bytes);
        member_append(L, i);
    }
    lua_setfield(L, -2, "shapes");
    member_messages(L, "hints", o->hints, o->hint_count);
}

void lua_push_comparison(lua_State *L, const struct vram_comparison *c)
{
    member_open(L, "vram.comparison");
    member_string(L, "schema", VRAM_SCHEMA);
    member_bytes(L, "peak_live_bytes", c->peak_live_bytes);
    lua_createtable(L, (int)c->formula_count, 0);
    for (size_t i = 0; i < c->formula_count; i++) {
        const struct vram_formula *f = &c->formulas[i];
        member_open(L, "vram.formula");
        member_string(L, "id", f->id);
        member_string(L, "name", f->name);
        if (!f->too_large) {
            member_bytes(L, "bytes", f->bytes);
            member_signed(L, "difference_permille", f->difference_permille);
        }
        member_message(L, "because", f->because);
        member_append(L, i);
    }
    lua_setfield(L, -2, "formulas");
}

void lua_push_param(lua_State *L, const struct vram_param *p)
{
    member_open(L, "vram.param");
    member_string(L, "name", p->name);
    if (p->block >= 0)
        member_count(L, "block", (uint64_t)p->block);
    member_count(L, "rows", p->rows);
    member_count(L, "cols", p->cols);
    member_bytes(L, "bytes", p->bytes);
    member_boolean(L, "decayed", p->decayed);
    member_boolean(L, "trained", p->trained);
}

void lua_push_event(lua_State *L, const struct vram_event *e)
{
    member_open(L, "vram.event");
    member_bytes(L, "bytes", e->bytes);
    member_bytes(L, "live", e->live);
    member_count(L, "id", e->id);
    member_boolean(L, "is_free", e->is_free);
    if (e->block >= 0)
        member_count(L, "block", (uint64_t)e->block);
    member_string(L, "name", e->name);
    member_string(L, "op", e->op);
    member_string(L, "phase", e->phase);
    member_string(L, "category", vram_category_name(e->category));
}

void lua_push_gpu(lua_State *L, const struct vram_gpu *g)
{
    struct vram_capacity card;
    member_open(L, "vram.gpu");
    member_string(L, "name", g->name);
    if (vram_gpu_capacity(g, NULL, &card))
        member_capacity(L, &card);
    member_count(L, "bandwidth_mb_s", g->bandwidth_mb_s);
    member_count(L, "fp16_gflops", g->fp16_gflops);
    member_count(L, "bf16_gflops", g->bf16_gflops);
    member_count(L, "fp32_gflops", g->fp32_gflops);
    member_count(L, "compute_capability", g->compute_capability);
    member_count(L, "sm_count", g->sm_count);
    member_string(L, "source", g->source);
}
