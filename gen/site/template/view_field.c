// How templates read fields of `page`: looked up by name, checked against the scope, put into Lua.
#include <string.h>

#include "gen/site/template/view_lib.h"

// Whether a block that is kept for scope may read what pages share only within field.
static bool scope_allows(enum view_scope block, enum view_scope field)
{
    return block == SCOPE_PAGE || field == SCOPE_SITE || field == block;
}

void view_check_scope(struct view *v, enum view_scope scope, const char *object, const char *name)
{
    static const char *const names[] = {"site", "language", "document", "page"};
    if (!scope_allows(v->scope, scope))
        luaL_error(v->L, "%s.%s belongs to the %s: it cannot be read in {%% once \"%s\" %%}",
                   object, name, names[scope], names[v->scope]);
}

static size_t index_of(lua_State *L, int name)
{
    const char *wanted = luaL_checkstring(L, name);
    size_t count;
    const struct view_field *fields = view_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, wanted) == 0)
            return i;
    luaL_error(L, "page has no field \"%s\"", wanted);
    return 0;
}

bool view_field_is_filled(const struct view *v, const struct view_field *f)
{
    return f->list == VIEW_LISTS || (v->page->lists & VIEW_BIT(f->list));
}

void view_field_check(struct view *v, const struct view_field *f)
{
    if (!view_field_is_filled(v, f))
        luaL_error(v->L, "page.%s is read by a name that is put together: a template must name it",
                   f->name);
}

const struct view_field *view_field_named(lua_State *L, int name)
{
    struct view *v = view_of(L);
    size_t count;
    v->L = L;  // a coroutine may ask
    lua_pushvalue(L, name);
    bool known = lua_rawget(L, lua_upvalueindex(1)) == LUA_TNUMBER;
    size_t i = known ? (size_t)lua_tointeger(L, -1) : index_of(L, name);
    lua_pop(L, 1);
    if (!known) {
        lua_pushvalue(L, name);
        lua_pushinteger(L, (lua_Integer)i);
        lua_rawset(L, lua_upvalueindex(1));
    }
    const struct view_field *f = view_fields(&count) + i;
    view_check_scope(v, f->scope, "page", f->name);
    return f;
}

// A list is made once a page; those of the document once a document and variant.
static void push_list(struct view *v, const struct view_field *f)
{
    lua_State *L = v->L;
    bool shared = f->scope == SCOPE_DOCUMENT && v->page->document;
    size_t count;
    lua_Integer slot = f - view_fields(&count);
    if (shared)
        slot += (lua_Integer)(count * (2 * v->variant.depth + v->variant.is_fallback));
    lua_rawgeti(L, LUA_REGISTRYINDEX, shared ? v->document_lists : v->lists);
    if (lua_rawgeti(L, -1, slot) != LUA_TNIL) {
        lua_replace(L, -2);
        return;
    }
    lua_pop(L, 1);
    view_field_check(v, f);
    enum view_scope scope = v->scope;
    if (shared)
        v->scope = SCOPE_DOCUMENT;  // for its addresses
    f->push(v, f);
    v->scope = scope;
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, slot);
    lua_replace(L, -2);
    *(shared ? &v->document_lists_used : &v->lists_used) = true;
}

// HTML that is empty is plain text, so that a template can compare with it.
static void push_value(struct view *v, const struct view_field *f, struct view_value x)
{
    lua_State *L = v->L;
    switch (x.kind) {
    case VALUE_NONE: lua_pushnil(L); return;
    case VALUE_BOOL: lua_pushboolean(L, x.number != 0); return;
    case VALUE_NUMBER: lua_pushinteger(L, (lua_Integer)x.number); return;
    case VALUE_TEXT: view_push_str(L, x.text); return;
    default: break;
    }
    if (!x.text.len) {
        lua_pushliteral(L, "");
        return;
    }
    if (x.kind == VALUE_MADE)
        view_push_html_copy(L, x.text);
    else
        view_push_html(L, x.text);
    struct view_html *html = lua_touserdata(L, -1);
    html->field = f;
}

int view_page_index(lua_State *L)
{
    const struct view_field *f = view_field_named(L, 2);
    struct view *v = view_of(L);
    if (f->push) {
        if (f->list == VIEW_LISTS && f->push != view_push_toc)
            f->push(v, f);
        else
            push_list(v, f);
        view_trace_lose(v);  // what is in a table cannot be followed
        return 1;
    }
    view_field_check(v, f);
    struct view_value x = f->value(v, f);
    view_trace_ask(v, ASK_VALUE, f, x);
    push_value(v, f, x);
    return 1;
}

// given.NAME: whether a page has something there.
int view_given_index(lua_State *L)
{
    const struct view_field *f = view_field_named(L, 2);
    struct view *v = view_of(L);
    view_field_check(v, f);
    struct view_value x = f->value(v, f);
    view_trace_ask(v, ASK_GIVEN, f, x);
    lua_pushboolean(L, view_is_given(x));
    return 1;
}

// A translation's `current`: everything else is in its table.
int view_translation_index(lua_State *L)
{
    const char *name = lua_tostring(L, 2);
    if (!name || strcmp(name, "current") != 0)
        return luaL_error(L, "a translation has no field \"%s\"",
                          name ? name : luaL_typename(L, 2));
    lua_rawgeti(L, 1, 1);
    lua_pushboolean(L, view_is_current(view_of(L), (size_t)lua_tointeger(L, -1)));
    return 1;
}
