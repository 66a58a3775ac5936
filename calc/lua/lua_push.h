// The library's answers as Lua tables, under the keys of its JSON.
//
// Each table has a metatable whose field `units` gives the unit of its numbers by key ("bytes"); keys that are not
// there are plain counts.

#ifndef CALC_LUA_PUSH_H
#define CALC_LUA_PUSH_H

#include "calc/vram.h"

struct lua_State;

// Each leaves one table on the stack.
void lua_push_result(struct lua_State *L, vram *v);  // of the last run, with the configuration
void lua_push_fit(struct lua_State *L, const struct vram_fit *f);
void lua_push_solution(struct lua_State *L, const struct vram_solution *s);
void lua_push_cards(struct lua_State *L, const struct vram_cards *c);
void lua_push_serving(struct lua_State *L, const struct vram_serving *s);
void lua_push_segments(struct lua_State *L, const struct vram_segments *s);
void lua_push_advice(struct lua_State *L, vram *v, const struct vram_advice *a, vram *spare);
void lua_push_oom(struct lua_State *L, const struct vram_oom *o);
void lua_push_snapshot(struct lua_State *L, const struct vram_snapshot *s);
void lua_push_comparison(struct lua_State *L, const struct vram_comparison *c);
void lua_push_config(struct lua_State *L, vram *v);
void lua_push_param(struct lua_State *L, const struct vram_param *p);
void lua_push_event(struct lua_State *L, const struct vram_event *e);
void lua_push_gpu(struct lua_State *L, const struct vram_gpu *g);

#endif
