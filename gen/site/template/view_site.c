// The fields of `site` that templates read: looked up by name, made when asked for.
#include "gen/site/template/view_lib.h"

#include <string.h>

#include "gen/text/locale.h"

static void make_site_languages(struct view *v)
{
    lua_State *L = v->L;
    lua_createtable(L, (int)v->site->language_count, 0);
    for (size_t i = 0; i < v->site->language_count; i++) {
        const struct language *l = v->site->languages[i];
        lua_createtable(L, 0, 4);
        view_set_str(L, "tag", l->tag);
        view_set_str(L, "name", locale_native_name(l->locale));
        view_set_str(L, "dir", locale_rtl(l->locale) ? STR("rtl") : STR("ltr"));
        view_set_url(v, "home", v->vs->homes[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

// One list for each depth of page: its addresses go up to the root.
static void push_site_languages(struct view *v)
{
    lua_State *L = v->L;
    enum view_scope scope = v->scope;
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->site_lists);
    if (lua_rawgeti(L, -1, (lua_Integer)v->variant.depth + 1) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    v->scope = SCOPE_SITE;
    make_site_languages(v);
    v->scope = scope;
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, (lua_Integer)v->variant.depth + 1);
}

static void push_root(struct view *v)
{
    buf_clear(&v->scratch);
    view_put_root(v);
    view_push_str(v->L, buf_view(&v->scratch));
}

// {title, url, key} of each document of the menu in the page's language.
static void push_menu(struct view *v)
{
    static const struct view_menu none = {0};
    const struct view_menu *m = v->vs->menus ? &v->vs->menus[v->page->language->index] : &none;
    lua_createtable(v->L, (int)m->count, 0);
    for (size_t i = 0; i < m->count; i++) {
        lua_createtable(v->L, 0, 3);
        view_set_str(v->L, "title", m->links[i].title);
        view_set_str(v->L, "key", m->keys[i]);
        view_set_url(v, "url", m->links[i].url);
        lua_rawseti(v->L, -2, (lua_Integer)i + 1);
    }
}

static void push_title(struct view *v)
{
    view_push_str(v->L, v->site->settings.title);
}

static void push_base_url(struct view *v)
{
    view_push_str(v->L, v->site->settings.base_url);
}

static void push_repository(struct view *v)
{
    view_push_str(v->L, v->site->settings.repository);
}

static void push_source_language(struct view *v)
{
    view_push_str(v->L, v->site->settings.source_language);
}

static void push_generator(struct view *v)
{
    view_push_str(v->L, v->vs->generator);
}

static void push_csp(struct view *v)
{
    if (v->vs->csp.len)
        view_push_str(v->L, v->vs->csp);
    else
        lua_pushnil(v->L);
}

// A url of the page's language; "" when urls is NULL, or has none for it.
static void push_url_of(struct view *v, const str *urls)
{
    str url = urls ? urls[v->page->language->index] : STR_NONE;
    if (url.len)
        view_push_url(v, url);
    else
        lua_pushliteral(v->L, "");
}

static void push_home(struct view *v)
{
    view_push_url(v, v->vs->homes[v->page->language->index]);
}

static void push_calculator(struct view *v)
{
    push_url_of(v, v->vs->calculators);
}

static void push_search_index(struct view *v)
{
    push_url_of(v, v->vs->search_index);
}

static const struct {
    const char *name;
    void (*push)(struct view *v);
    enum view_scope scope;  // whose pages agree on it
    bool moves;             // it goes out from where the page lies
} fields[] = {
    {"title", push_title, SCOPE_SITE, false},
    {"base_url", push_base_url, SCOPE_SITE, false},
    {"repository", push_repository, SCOPE_SITE, false},
    {"source_language", push_source_language, SCOPE_SITE, false},
    {"generator", push_generator, SCOPE_SITE, false},
    {"csp", push_csp, SCOPE_SITE, false},
    {"languages", push_site_languages, SCOPE_SITE, true},
    {"root", push_root, SCOPE_SITE, true},
    {"home", push_home, SCOPE_LANGUAGE, true},
    {"menu", push_menu, SCOPE_LANGUAGE, true},
    {"calculator", push_calculator, SCOPE_LANGUAGE, true},
    {"search_index", push_search_index, SCOPE_LANGUAGE, true},
};

// Which a language has none of, wherever the page lies.
static bool is_empty_menu(const struct view *v, const char *name)
{
    return !strcmp(name, "menu") &&
           (!v->vs->menus || !v->vs->menus[v->page->language->index].count);
}

int view_site_index(lua_State *L)
{
    struct view *v = view_of(L);
    const char *name = luaL_checkstring(L, 2);
    v->L = L;  // a coroutine may ask
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(name, fields[i].name))
            continue;
        view_check_scope(v, fields[i].scope, "site", name);
        if (fields[i].moves && !is_empty_menu(v, name))
            view_trace_lose(v);
        fields[i].push(v);
        return 1;
    }
    return luaL_error(L, "site has no field \"%s\"", name);
}
