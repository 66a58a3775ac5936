// The fields of `page` and `site` that templates read: looked up by name, made when asked for,
// checked against the scope.
#include <string.h>
#include <time.h>

#include "gen/text/address.h"
#include "gen/site/template/view_lib.h"

#define NO_LIST VIEW_LISTS

struct view_field {
    const char *name;
    void (*push)(struct view *v, const struct view_field *f);
    size_t offset;          // in struct view_page
    enum view_scope scope;  // whose pages agree on it
    enum view_list list;    // that it shows
};

static const void *member(const struct view *v, const struct view_field *f)
{
    return (const char *)v->page + f->offset;
}

static void push_text(struct view *v, const struct view_field *f)
{
    view_push_str(v->L, *(const str *)member(v, f));
}

static void push_csp(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, v->page->csp.len ? v->page->csp : v->vs->csp);
}

// "" is plain, so that a template can compare with it.
static void push_html(struct view *v, const struct view_field *f)
{
    str html = *(const str *)member(v, f);
    if (html.len)
        view_push_html(v->L, html);
    else
        lua_pushliteral(v->L, "");
}

static void push_bool(struct view *v, const struct view_field *f)
{
    lua_pushboolean(v->L, *(const bool *)member(v, f));
}

static void push_count(struct view *v, const struct view_field *f)
{
    lua_pushinteger(v->L, *(const uint32_t *)member(v, f));
}

void view_put_root(struct view *v)
{
    if (v->variant.depth == DEPTH_LOST) {
        buf_str(&v->scratch, v->base_path);
        buf_char(&v->scratch, '/');
        return;
    }
    for (uint32_t i = 0; i < v->variant.depth; i++)
        buf_lit(&v->scratch, "../");
}

str view_url(struct view *v, str url)
{
    buf_clear(&v->scratch);
    if (v->scope != SCOPE_DOCUMENT && v->scope != SCOPE_SITE && v->variant.depth != DEPTH_LOST) {
        address_relative(v->page->url, url, &v->scratch);
    } else {
        view_put_root(v);
        buf_str(&v->scratch, url);
    }
    return buf_view(&v->scratch);
}

void view_push_url(struct view *v, str url)
{
    view_push_str(v->L, view_url(v, url));
}

static void push_url(struct view *v, const struct view_field *f)
{
    str url = *(const str *)member(v, f);
    if (url.len)
        view_push_url(v, url);
    else
        lua_pushliteral(v->L, "");
}

void view_set_str(lua_State *L, const char *key, str s)
{
    view_push_str(L, s);
    lua_setfield(L, -2, key);
}

void view_set_url(struct view *v, const char *key, str url)
{
    view_push_url(v, url);
    lua_setfield(v->L, -2, key);
}

void view_push_date(struct view *v, int64_t seconds)
{
    if (seconds == INT64_MIN) {
        lua_pushnil(v->L);
        return;
    }
    struct tm tm;
    time_t t = (time_t)seconds;
    gmtime_r(&t, &tm);
    lua_createtable(v->L, 0, 2);
    buf_clear(&v->scratch);
    buf_printf(&v->scratch, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
    view_set_str(v->L, "iso", buf_view(&v->scratch));
    buf_clear(&v->scratch);
    locale_date(v->page->language->locale, seconds, DATE_LONG, &v->scratch);
    view_set_str(v->L, "text", buf_view(&v->scratch));
}

static void push_time(struct view *v, const struct view_field *f)
{
    view_push_date(v, *(const int64_t *)member(v, f));
}

// For others to load: absolute where the site's address is known.
static void push_image(struct view *v, const struct view_field *f)
{
    str url = *(const str *)member(v, f), base = v->site->settings.base_url;
    if (!url.len || !base.len || str_search(url, STR("://")) < url.len) {
        push_url(v, f);
        return;
    }
    buf_clear(&v->scratch);
    buf_printf(&v->scratch, "%.*s/%.*s", STR_ARG(base), STR_ARG(url));
    view_push_str(v->L, buf_view(&v->scratch));
}

static void push_link(struct view *v, const struct view_field *f)
{
    const struct view_link *link = member(v, f);
    if (!link->url.len) {
        lua_pushnil(v->L);
        return;
    }
    lua_createtable(v->L, 0, 2);
    view_set_str(v->L, "title", link->title);
    view_set_url(v, "url", link->url);
}

static void push_lang(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, v->page->language->tag);
}

static void push_dir(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, locale_rtl(v->page->language->locale) ? STR("rtl") : STR("ltr"));
}

// The numbering system of BCP 47 that scripts format numbers in; nothing where it is the language's
// own.
static void push_digits(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, v->site->settings.latin_digits ? STR("latn") : STR(""));
}

static const struct language *body_language(const struct view *v)
{
    return v->page->page ? v->page->page->language : v->page->language;
}

static void push_body_lang(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, body_language(v)->tag);
}

static void push_body_dir(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, locale_rtl(body_language(v)->locale) ? STR("rtl") : STR("ltr"));
}

static void push_source_language_name(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, locale_native_name(body_language(v)->locale));
}

static void push_language_name(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, locale_native_name(v->page->language->locale));
}

static void push_locale(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, locale_region(v->page->language->locale));
}

static void push_key(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, v->page->document ? v->page->document->key : STR_NONE);
}

static void push_section(struct view *v, const struct view_field *f)
{
    (void)f;
    view_push_str(v->L, v->page->document ? v->page->document->section : STR_NONE);
}

#define AT(m) offsetof(struct view_page, m)
// In any order: the first look-up of a name remembers its row.
static const struct view_field fields[] = {
    {"title", push_text, AT(title), SCOPE_PAGE, NO_LIST},
    {"lede", push_text, AT(lede), SCOPE_PAGE, NO_LIST},
    {"description", push_text, AT(description), SCOPE_PAGE, NO_LIST},
    {"lang", push_lang, 0, SCOPE_LANGUAGE, NO_LIST},
    {"language_name", push_language_name, 0, SCOPE_LANGUAGE, NO_LIST},
    {"locale", push_locale, 0, SCOPE_LANGUAGE, NO_LIST},
    {"csp", push_csp, 0, SCOPE_PAGE, NO_LIST},
    {"dir", push_dir, 0, SCOPE_LANGUAGE, NO_LIST},
    {"digits", push_digits, 0, SCOPE_LANGUAGE, NO_LIST},
    {"body", push_html, AT(body), SCOPE_PAGE, NO_LIST},
    {"body_lang", push_body_lang, 0, SCOPE_PAGE, NO_LIST},
    {"body_dir", push_body_dir, 0, SCOPE_PAGE, NO_LIST},
    {"is_fallback", push_bool, AT(is_fallback), SCOPE_DOCUMENT, NO_LIST},
    {"source_language_name", push_source_language_name, 0, SCOPE_PAGE, NO_LIST},
    {"key", push_key, 0, SCOPE_DOCUMENT, NO_LIST},
    {"section", push_section, 0, SCOPE_DOCUMENT, NO_LIST},
    {"kind", push_text, AT(kind), SCOPE_PAGE, NO_LIST},
    {"robots", push_text, AT(robots), SCOPE_PAGE, NO_LIST},
    {"layout", push_text, AT(layout), SCOPE_PAGE, NO_LIST},
    {"canonical", push_text, AT(canonical), SCOPE_PAGE, NO_LIST},
    {"alternates", view_push_alternates, 0, SCOPE_DOCUMENT, VIEW_ALTERNATES},
    {"translations", view_push_translations, 0, SCOPE_DOCUMENT, VIEW_TRANSLATIONS},
    {"crumbs", view_push_crumbs, 0, SCOPE_PAGE, VIEW_CRUMBS},
    {"contents", view_push_contents, 0, SCOPE_PAGE, VIEW_CONTENTS},
    {"contents_html", view_push_contents_html, 0, SCOPE_PAGE, VIEW_CONTENTS},
    {"previous", push_link, AT(previous), SCOPE_PAGE, NO_LIST},
    {"next", push_link, AT(next), SCOPE_PAGE, NO_LIST},
    {"children", view_push_children, 0, SCOPE_PAGE, VIEW_CHILDREN},
    {"toc", view_push_toc, 0, SCOPE_PAGE, NO_LIST},
    {"toc_html", view_push_toc_html, 0, SCOPE_PAGE, NO_LIST},
    {"edit_url", push_text, AT(edit_url), SCOPE_PAGE, NO_LIST},
    {"report_url", push_text, AT(report_url), SCOPE_PAGE, NO_LIST},
    {"reading_minutes", push_count, AT(reading_minutes), SCOPE_PAGE, NO_LIST},
    {"updated", push_time, AT(updated), SCOPE_PAGE, NO_LIST},
    {"published", push_time, AT(published), SCOPE_PAGE, NO_LIST},
    {"provenance", view_push_provenance, 0, SCOPE_PAGE, VIEW_PROVENANCE},
    {"stale_count", push_count, AT(stale_count), SCOPE_PAGE, NO_LIST},
    {"figures", view_push_figures, 0, SCOPE_PAGE, VIEW_FIGURES},
    {"unmeasured", push_count, AT(unmeasured), SCOPE_PAGE, VIEW_FIGURES},
    {"markdown_url", push_url, AT(markdown_url), SCOPE_PAGE, NO_LIST},
    {"feed_url", push_url, AT(feed_url), SCOPE_PAGE, NO_LIST},
    {"target", push_url, AT(target), SCOPE_PAGE, NO_LIST},
    {"json_ld", push_html, AT(json_ld), SCOPE_PAGE, VIEW_JSON_LD},
    {"image", push_image, AT(image), SCOPE_PAGE, NO_LIST},
    {"has_math", push_bool, AT(has_math), SCOPE_PAGE, NO_LIST},
};
#define FIELD_COUNT (sizeof fields / sizeof *fields)

unsigned view_lists_named(str text)
{
    unsigned lists = 0;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].list != NO_LIST && !(lists & VIEW_BIT(fields[i].list)) &&
            str_search(text, str_c(fields[i].name)) < text.len)
            lists |= VIEW_BIT(fields[i].list);
    return lists;
}

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

// index of the field called by the string at 2; FIELD_COUNT when there is none. The first upvalue
// is name -> index.
static size_t field_find(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNUMBER) {
        size_t i = (size_t)lua_tointeger(L, -1);
        lua_pop(L, 1);
        return i;
    }
    lua_pop(L, 1);
    const char *name = luaL_checkstring(L, 2);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            lua_pushvalue(L, 2);
            lua_pushinteger(L, (lua_Integer)i);
            lua_rawset(L, lua_upvalueindex(1));
            return i;
        }
    }
    return FIELD_COUNT;
}

// A list is made once a page; those of the document once a document and variant.
static void push_list(struct view *v, const struct view_field *f, size_t index)
{
    lua_State *L = v->L;
    bool shared = f->scope == SCOPE_DOCUMENT && v->page->document;
    lua_Integer slot = (lua_Integer)index;
    if (shared)
        slot += (lua_Integer)(FIELD_COUNT * (2 * v->variant.depth + v->variant.is_fallback));
    lua_rawgeti(L, LUA_REGISTRYINDEX, shared ? v->document_lists : v->lists);
    if (lua_rawgeti(L, -1, slot) != LUA_TNIL) {
        lua_replace(L, -2);
        return;
    }
    lua_pop(L, 1);
    if (f->list != NO_LIST && !(v->page->lists & VIEW_BIT(f->list)))
        luaL_error(L, "page.%s is read by a name that is put together: a template must name it",
                   f->name);
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

int view_page_index(lua_State *L)
{
    struct view *v = view_of(L);
    size_t i = field_find(L);
    if (i == FIELD_COUNT)
        return luaL_error(L, "page has no field \"%s\"", lua_tostring(L, 2));
    const struct view_field *f = &fields[i];
    v->L = L;  // a coroutine may ask
    view_check_scope(v, f->scope, "page", f->name);
    if (f->list != NO_LIST || f->push == view_push_toc)
        push_list(v, f, i);
    else
        f->push(v, f);
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
