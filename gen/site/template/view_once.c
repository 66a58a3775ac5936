// {% once %} blocks: rendered once for a site, a language or a document, and spliced for the page's
// current translation.
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/template/view_lib.h"

// In a document's block only one thing differs from page to page: which translation is the current
// one. Rendered for each page it takes 30 % more of a full build of 38,000 pages in 40 languages,
// and 2 % of one of 1,600 in 13. So the block is rendered twice, once as if none were current and
// once as if all were. Each time that it asks about an item, a segment begins; the page takes the
// segments of its own item from the second rendering, and the rest from the first.
bool view_is_current(struct view *v, size_t item)
{
    struct view_recording *r = v->recording;
    view_trace_lose(v);
    if (r) {
        if (!r->count || r->segments[r->count - 1].item != item) {
            r->segments = arena_grow(&v->once_arena[SCOPE_DOCUMENT], r->segments, r->count, &r->cap,
                                     r->count + 1, sizeof *r->segments);
            r->segments[r->count++] = (struct view_segment){item, v->out->len - r->start};
        }
    }
    return v->marking < 0 ? item == v->page->current : v->marking == 1;
}

void view_once_forget(struct view *v, enum view_scope scope)
{
    arena_reset(&v->once_arena[scope]);
    v->once[scope] = (struct map){0};
    v->once_forgotten += scope != SCOPE_DOCUMENT;
}

// A local of the template seen from inside the block may belong to a page. Emitters have two
// underscores.
static void check_upvalues(lua_State *L, int function)
{
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, function, i)); i++) {
        lua_pop(L, 1);
        if (strcmp(name, "_ENV") != 0 && strncmp(name, "__", 2) != 0)
            luaL_error(L,
                       "the local '%s' cannot be used inside {%% once %%}: the block is kept for "
                       "other pages",
                       name);
    }
}

struct once_key {
    uint32_t number, language, depth;
    uint32_t is_fallback;
};

// Number, owner and variant; for a language also the page's folder, because addresses start from
// there.
static void make_key(const struct view *v, enum view_scope scope, uint32_t number, buf *out)
{
    struct once_key k = {.number = number, .depth = v->variant.depth};
    buf_clear(out);
    if (scope == SCOPE_LANGUAGE)
        k.language = v->page->language->index;
    if (scope == SCOPE_DOCUMENT)
        k.is_fallback = v->variant.is_fallback;
    buf_put(out, &k, sizeof k);
    if (scope == SCOPE_LANGUAGE)
        buf_str(out, path_folder(v->page->url));
}

// Renders the body (argument 3) behind what is in the output, takes it off again and keeps a copy.
static void render(lua_State *L, struct view *v, enum view_scope scope, int marking,
                   struct view_once *into)
{
    struct view_recording recording = {.start = v->out->len}, *outer = v->recording;
    int outer_marking = v->marking, variant = marking == 1;
    v->recording = scope == SCOPE_DOCUMENT ? &recording : outer;
    v->marking = marking;
    lua_pushvalue(L, 3);
    lua_call(L, 0, 0);
    v->recording = outer;
    v->marking = outer_marking;
    into->bytes[variant] =
        arena_str(&v->once_arena[scope], str_slice(buf_view(v->out), recording.start, v->out->len));
    v->out->len = recording.start;
    into->segments[variant] = recording.segments;
    into->segment_count = recording.count;
}

static bool same_segments(const struct view_once *o, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (o->segments[0][i].item != o->segments[1][i].item)
            return false;
    return count == o->segment_count;
}

static str segment(const struct view_once *o, int variant, size_t i)
{
    size_t end =
        i + 1 < o->segment_count ? o->segments[variant][i + 1].from : o->bytes[variant].len;
    return str_slice(o->bytes[variant], o->segments[variant][i].from, end);
}

void view_once_emit(struct view *v, const struct view_once *o)
{
    size_t done = 0;
    for (size_t i = 0; i < v->asset_bytes && o->assets; i++)
        v->assets[i] |= o->assets[i];
    for (size_t i = 0; i < o->segment_count; i++) {
        if (o->segments[0][i].item != v->page->current)
            continue;
        str plain = segment(o, 0, i);
        size_t at = (size_t)(plain.ptr - o->bytes[0].ptr);
        buf_str(v->out, str_slice(o->bytes[0], done, at));
        buf_str(v->out, segment(o, 1, i));
        done = at + plain.len;
    }
    buf_str(v->out, str_slice(o->bytes[0], done, o->bytes[0].len));
}

// The splice must be what the block prints for this page when it is simply run.
static void verify(lua_State *L, struct view *v, const struct view_once *o)
{
    size_t start = v->out->len;
    view_once_emit(v, o);
    size_t middle = v->out->len;
    lua_pushvalue(L, 3);
    lua_call(L, 0, 0);
    str spliced = str_slice(buf_view(v->out), start, middle),
        plain = str_slice(buf_view(v->out), middle, v->out->len);
    bool same = str_eq(spliced, plain);
    v->out->len = start;
    if (!same)
        luaL_error(L, "in {%% once \"document\" %%}, `current` may decide only what is printed "
                      "before the next item is asked");
}

static struct view_once *make(lua_State *L, struct view *v, enum view_scope scope)
{
    struct view_once o = {0};
    enum view_scope outer = v->scope;
    uint8_t *own_assets = arena_new(&v->once_arena[scope], uint8_t, v->asset_bytes);
    check_upvalues(L, 3);
    v->scope = scope;
    v->assets = own_assets;
    render(L, v, scope, scope == SCOPE_DOCUMENT ? 0 : v->marking, &o);
    if (scope == SCOPE_DOCUMENT && o.segment_count) {
        size_t count = o.segment_count;
        render(L, v, scope, 1, &o);
        if (!same_segments(&o, count))
            luaL_error(L, "a {%% once \"document\" %%} block asks other questions for the current "
                          "translation");
        verify(L, v, &o);
    }
    v->scope = outer;
    v->assets = v->page_assets;
    o.assets = own_assets;
    struct view_once *kept = arena_new(&v->once_arena[scope], struct view_once, 1);
    *kept = o;
    return kept;
}

const struct view_once *view_once_kept(struct view *v, enum view_scope scope, uint32_t number)
{
    make_key(v, scope, number, &v->scratch);
    return map_get(&v->once[scope], buf_view(&v->scratch));
}

// Its function has nothing of a page in it: it can make the block for other pages, too.
static void keep_body(lua_State *L, struct view *v, uint32_t number)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->once_bodies);
    lua_pushvalue(L, 3);
    lua_rawseti(L, -2, number);
    lua_pop(L, 1);
}

int view_once(lua_State *L)
{
    static const char *const names[] = {"site", "language", "document", NULL};
    struct view *v = view_of(L);
    enum view_scope scope = (enum view_scope)luaL_checkoption(L, 1, NULL, names);
    if (v->scope != SCOPE_PAGE) {
        if (v->scope != scope && scope != SCOPE_SITE)
            return luaL_error(L, "{%% once \"%s\" %%} inside {%% once \"%s\" %%}", names[scope],
                              names[v->scope]);
        lua_settop(L, 3);
        lua_call(L, 0, 0);  // the outer block keeps it
        return 0;
    }
    uint32_t number = (uint32_t)luaL_checkinteger(L, 2);
    view_trace_once(v, scope, number);
    const struct view_once *o = view_once_kept(v, scope, number);
    if (!o) {
        lua_settop(L, 3);
        o = make(L, v, scope);
        keep_body(L, v, number);
        make_key(v, scope, number, &v->scratch);
        bool is_new;
        *map_put(&v->once[scope], &v->once_arena[scope], buf_view(&v->scratch), &is_new) =
            (void *)(uintptr_t)o;
    }
    view_once_emit(v, o);
    view_trace_resume(v);
    return 0;
}
