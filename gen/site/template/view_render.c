// Owns the templates of a site, compiled once, and renders pages with them.
#include "gen/site/template/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/text/address.h"
#include "gen/site/template/view_lib.h"
#include "gen/text/template.h"

#define TEMPLATE_MAX ((size_t)1 << 20)  // bytes of a template
#define GARBAGE_MAX 4096                // KiB of Lua's memory before it is collected, between pages
#define KEPT_MAX ((size_t)16 << 20)     // bytes of a language's once blocks that are kept at most

static struct view_template *template_find(const struct view *v, str name)
{
    for (size_t i = 0; i < v->template_count; i++)
        if (str_eq(v->templates[i].name, name))
            return &v->templates[i];
    return NULL;
}

static bool template_skip(void *ctx, str path, bool is_dir)
{
    (void)ctx;
    return is_dir || !str_ends(path, STR(".html"));
}

static bool template_read(struct view *v, str dir, str path, struct diag *d)
{
    buf bytes = BUF_INIT;
    str file = arena_printf(&v->arena, "%.*s/%.*s", STR_ARG(dir), STR_ARG(path));
    if (fs_read(file.ptr, TEMPLATE_MAX, &bytes) != 0) {
        diag_add(d, errno == EFBIG ? D_FILE_TOO_LARGE : D_IO_READ, DIAG_FILE(file), "%s",
                 strerror(errno));
        buf_free(&bytes);
        return false;
    }
    v->templates = arena_grow(&v->arena, v->templates, v->template_count, &v->template_cap,
                              v->template_count + 1, sizeof *v->templates);
    v->templates[v->template_count++] = (struct view_template){
        .name = arena_str(&v->arena, str_slice(path, 0, path.len - 5)),
        .file = file,
        .text = arena_str(&v->arena, buf_view(&bytes)),
    };
    buf_free(&bytes);
    return true;
}

static bool templates_read(struct view *v, struct diag *d)
{
    str dir = v->site->settings.templates_dir, bad = STR_NONE;
    struct fs_list list;
    if (fs_walk(arena_c(&v->arena, dir), &(struct fs_rules){.skip = template_skip}, &v->arena,
                &list, &bad) != 0) {
        diag_add(d, D_IO_READ, DIAG_FILE(bad.len ? bad : dir), "%s", strerror(errno));
        return false;
    }
    bool ok = true;
    for (size_t i = 0; i < list.count; i++)
        ok = template_read(v, dir, list.items[i].path, d) && ok;
    return ok;
}

// Compiles one template and puts its function into the table of functions, under its name.
static bool template_build(struct view *v, struct view_template *t, uint32_t *once_number,
                           struct diag *d)
{
    size_t bad = utf8_invalid(t->text);
    if (bad < t->text.len) {
        diag_add(d, t->text.ptr[bad] ? D_UTF8_INVALID : D_UTF8_NUL, DIAG_AT(t->file, t->text, bad),
                 DIAG_PLAIN);
        return false;
    }
    struct template compiled;
    buf chunk = BUF_INIT;
    bool ok = template_compile(t->text, t->file, *once_number, &v->arena, d, &compiled, &chunk);
    *once_number += compiled.once_count;
    t->includes = compiled.includes;
    t->include_count = compiled.include_count;
    ok = ok && sandbox_load(v->sandbox, buf_view(&chunk), t->file, t->text, 1, d);
    buf_free(&chunk);
    if (!ok)
        return false;
    int nargs = 0;
    for (const luaL_Reg *e = view_emitters; e->name; e++, nargs++) {
        lua_rawgeti(v->L, LUA_REGISTRYINDEX, v->field_names);
        lua_pushcclosure(v->L, e->func, 1);
    }
    if (!sandbox_call(v->sandbox, nargs, 1, t->file, d))
        return false;
    lua_rawgeti(v->L, LUA_REGISTRYINDEX, v->functions);
    view_push_str(v->L, t->name);
    lua_rotate(v->L, -3, -1);
    lua_rawset(v->L, -3);
    lua_pop(v->L, 1);
    return true;
}

// Follows the includes of t; every one must exist, and none may lead back.
static bool includes_check(struct view *v, struct view_template *t, struct diag *d)
{
    bool ok = true;
    t->visited = 1;
    for (size_t i = 0; i < t->include_count; i++) {
        const struct template_include *in = &t->includes[i];
        struct view_template *other = template_find(v, in->name);
        struct diag_pos at = DIAG_AT(t->file, t->text, in->offset);
        if (!other) {
            diag_add(d, D_TEMPLATE_MISSING, at, "%.*s", STR_ARG(in->name));
            ok = false;
        } else if (other->visited == 1) {
            diag_add(d, D_TEMPLATE_CYCLE, at, "%.*s", STR_ARG(in->name));
            ok = false;
        } else if (other->visited == 0) {
            ok = includes_check(v, other, d) && ok;
        }
    }
    t->visited = 2;
    return ok;
}

static bool templates_build(struct view *v, struct diag *d)
{
    uint32_t once_number = 1;
    bool ok = true;
    for (size_t i = 0; i < v->template_count; i++)
        ok = template_build(v, &v->templates[i], &once_number, d) && ok;
    for (size_t i = 0; i < v->template_count; i++)
        if (v->templates[i].visited == 0)
            ok = includes_check(v, &v->templates[i], d) && ok;
    if (!template_find(v, STR("page"))) {
        diag_add(d, D_TEMPLATE_MISSING, DIAG_FILE(v->site->settings.templates_dir), "page.html");
        ok = false;
    }
    return ok;
}

// A metatable that Lua code cannot reach, for userdata and tables called name.
static void make_meta(lua_State *L, const char *name, const luaL_Reg *methods, lua_CFunction index)
{
    luaL_newmetatable(L, name);
    if (methods)
        luaL_setfuncs(L, methods, 0);
    if (index) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, view_of(L)->field_names);
        lua_pushcclosure(L, index, 1);
        lua_setfield(L, -2, "__index");
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

static void push_object(lua_State *L, const char *meta)
{
    lua_newuserdatauv(L, 0, 0);
    luaL_setmetatable(L, meta);
}

static int prepare(lua_State *L)
{
    struct view *v = view_of(L);
    lua_newtable(L);
    v->field_names = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    v->once_bodies = luaL_ref(L, LUA_REGISTRYINDEX);
    make_meta(L, VIEW_PAGE_META, NULL, view_page_index);
    make_meta(L, VIEW_GIVEN_META, NULL, view_given_index);
    make_meta(L, VIEW_SITE_META, NULL, view_site_index);
    make_meta(L, VIEW_TRANSLATION_META, NULL, view_translation_index);
    make_meta(L, VIEW_HTML_META, view_html_methods, NULL);
    lua_newtable(L);
    v->functions = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    v->lists = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    v->document_lists = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    v->messages = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    v->site_lists = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_newtable(L);
    luaL_setfuncs(L, view_functions, 0);
    push_object(L, VIEW_PAGE_META);
    lua_setfield(L, -2, "page");
    push_object(L, VIEW_GIVEN_META);
    lua_setfield(L, -2, "given");
    push_object(L, VIEW_SITE_META);
    lua_setfield(L, -2, "site");
    sandbox_environment(v->sandbox);
    return 0;
}

static uint64_t hash_templates(struct view *v)
{
    buf all = BUF_INIT;
    for (size_t i = 0; i < v->template_count; i++) {
        buf_str(&all, v->templates[i].name);
        buf_char(&all, '\0');
        buf_str(&all, v->templates[i].text);
        buf_char(&all, '\0');
    }
    uint64_t hash = str_hash(buf_view(&all));
    buf_free(&all);
    return hash;
}

struct view *view_open(const struct site *site, const struct view_site *vs, struct diag *d)
{
    struct view *v = calloc(1, sizeof *v);
    struct sandbox *s = v ? sandbox_new((struct sandbox_limits){0}) : NULL;
    if (!s) {
        free(v);
        diag_add(d, D_LUA_LIMIT, (struct diag_pos){0}, "no memory for Lua");
        return NULL;
    }
    *v = (struct view){.site = site,
                       .vs = vs,
                       .sandbox = s,
                       .L = sandbox_state(s),
                       .scratch = BUF_INIT,
                       .html = BUF_INIT,
                       .switcher = {.html = BUF_INIT},
                       .trace = {.key = BUF_INIT},
                       .scope = SCOPE_PAGE,
                       .marking = -1,
                       .asset_bytes = (vs->asset_count + 7) / 8};
    v->assets = v->page_assets = arena_new(&v->arena, uint8_t, v->asset_bytes);
    sandbox_set_user(s, v);
    lua_pushcfunction(v->L, prepare);
    bool ok = sandbox_call(s, 0, 0, site->settings.templates_dir, d) && templates_read(v, d) &&
              templates_build(v, d);
    if (!ok) {
        view_free(v);
        return NULL;
    }
    v->hash = hash_templates(v);
    lua_gc(v->L, LUA_GCCOLLECT);
    return v;
}

void view_free(struct view *v)
{
    if (!v)
        return;
    sandbox_free(v->sandbox);
    view_contents_free(v);
    for (size_t i = 0; v->stays && i < v->site->language_count; i++)
        buf_free(&v->stays[i].folder);
    arena_free(&v->arena);
    for (int i = 0; i < SCOPE_PAGE; i++)
        arena_free(&v->once_arena[i]);
    arena_free(&v->trace.arena), arena_free(&v->walk_arena);
    buf_free(&v->scratch), buf_free(&v->html), buf_free(&v->switcher.html), buf_free(&v->trace.key);
    free(v);
}

bool view_has(const struct view *v, str layout)
{
    return template_find(v, layout) != NULL;
}

unsigned view_lists(struct view *v)
{
    for (size_t i = 0; i < v->template_count && !v->lists_known; i++)
        v->wanted_lists |= view_lists_named(v->templates[i].text);
    v->lists_known = true;
    return v->wanted_lists;
}

str view_assets(const struct view *v)
{
    return (str){(const char *)v->page_assets, v->asset_bytes};
}

void view_assets_clear(struct view *v)
{
    v->assets = v->page_assets;
    memset(v->page_assets, 0, v->asset_bytes);
}

uint64_t view_hash(const struct view *v)
{
    return v->hash;
}

static void forget_lists(struct view *v, int *reference, bool *used)
{
    if (!*used)
        return;
    lua_newtable(v->L);
    lua_rawseti(v->L, LUA_REGISTRYINDEX, *reference);
    *used = false;
}

static uint32_t depth_of(str url)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < url.len; i++)
        depth += url.ptr[i] == '/';
    return depth;
}

// Pages of a language mostly follow each other in a folder; what holds for one holds for the next.
static void note_stay(struct view *v)
{
    if (!v->stays) {
        v->stays = arena_new(&v->arena, struct view_stay, v->site->language_count);
        for (size_t i = 0; i < v->site->language_count; i++)
            v->stays[i].folder = BUF_INIT;
    }
    struct view_stay *stay = &v->stays[v->page->language->index];
    str folder = path_folder(v->page->url);
    if (!stay->number || !str_eq(buf_view(&stay->folder), folder)) {
        buf_clear(&stay->folder);
        buf_str(&stay->folder, folder);
        stay->number = ++v->stay_count;
    }
    v->stay = v->variant.depth == DEPTH_LOST ? 0 : stay->number;
}

static void page_begin(struct view *v, const struct view_page *p, struct diag *d, buf *out)
{
    v->L = sandbox_state(v->sandbox);
    v->page = p;
    v->d = d;
    v->out = out;
    bool lost = p->is_lost && v->site->settings.base_url.len;
    v->variant = (struct view_variant){lost ? DEPTH_LOST : depth_of(p->url), p->is_fallback};
    note_stay(v);
    v->base_path = address_base_path(v->site->settings.base_url);
    v->scope = SCOPE_PAGE;
    v->marking = -1;
    v->recording = NULL;
    v->html_field = NULL;
    view_assets_clear(v);
    if (!p->document || v->document != p->document) {
        view_once_forget(v, SCOPE_DOCUMENT);
        v->document_is_new = true;
    }
    v->document = p->document;
    if (v->once_arena[SCOPE_LANGUAGE].total > KEPT_MAX)
        view_once_forget(v, SCOPE_LANGUAGE);
}

void view_enter(struct view *v)
{
    forget_lists(v, &v->lists, &v->lists_used);
    if (v->document_is_new)
        forget_lists(v, &v->document_lists, &v->document_lists_used);
    v->document_is_new = false;
}

// In Lua, so that a passed limit of memory is an error and not the end: argument 1 is the
// template's function.
static int render(lua_State *L)
{
    view_enter(view_of(L));
    lua_call(L, 0, 0);
    return 0;
}

static bool render_in_lua(struct view *v, const struct view_template *t)
{
    lua_State *L = v->L;
    lua_pushcfunction(L, render);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->functions);
    lua_pushlstring(L, t->name.ptr, t->name.len);
    lua_rawget(L, -2);
    lua_replace(L, -2);
    return sandbox_call(v->sandbox, 1, 0, t->file, v->d);
}

#ifdef BASE_HOSTILE
// What was rendered without Lua is what Lua renders.
static void verify(struct view *v, const struct view_template *t, size_t start)
{
    buf played = BUF_INIT;
    buf_str(&played, str_slice(buf_view(v->out), start, v->out->len));
    v->out->len = start;
    if (!render_in_lua(v, t) ||
        !str_eq(buf_view(&played), str_slice(buf_view(v->out), start, v->out->len)))
        __builtin_trap();
    buf_free(&played);
}
#endif

bool view_render(struct view *v, const struct view_page *p, struct diag *d, buf *out)
{
    const struct view_template *t = template_find(v, p->layout);
    size_t start = out->len;
    bool may_record;
    if (!t)
        t = template_find(v, STR("page"));
    page_begin(v, p, d, out);
    lua_gc(v->L, LUA_GCSTOP);
    enum view_play play = view_trace_play(v, t, &may_record);
    if (play == PLAY_UNKNOWN) {
        out->len = start;
        view_assets_clear(v);
        if (may_record)
            view_trace_begin(v, t);
        play = render_in_lua(v, t) ? PLAY_DONE : PLAY_FAILED;
        view_trace_end(v, play == PLAY_DONE);
    }
#ifdef BASE_HOSTILE
    else if (play == PLAY_DONE)
        verify(v, t, start);
#endif
    if (lua_gc(v->L, LUA_GCCOUNT) > GARBAGE_MAX)
        lua_gc(v->L, LUA_GCCOLLECT);
    if (play == PLAY_FAILED)
        v->document = NULL;  // what was half made for the document is made again
    return play == PLAY_DONE;
}
