// The functions that templates call: words, numbers and dates of the page's language, addresses,
// and raw HTML.
#include <math.h>
#include <string.h>

#include "gen/site/documents/links.h"
#include "gen/site/template/view_lib.h"
#include "gen/base/escape.h"

#define ARGUMENTS_MAX 16

// What follows belongs to a language: a block kept for other owners may not hold it.
static const struct language *page_language(lua_State *L, const char *function)
{
    struct view *v = view_of(L);
    if (v->scope == SCOPE_DOCUMENT || v->scope == SCOPE_SITE)
        luaL_error(L, "%s() depends on the language: it cannot be used in this {%% once %%} block",
                   function);
    return v->page->language;
}

// Collects {name = value} from the table at 2. HTML values are held back: a mark replaces the i-th
// of them.
static size_t read_arguments(lua_State *L, struct catalog_argument *args, bool *has_html)
{
    static const char *const marks[ARGUMENTS_MAX] = {
        "\001A", "\001B", "\001C", "\001D", "\001E", "\001F", "\001G", "\001H",
        "\001I", "\001J", "\001K", "\001L", "\001M", "\001N", "\001O", "\001P"};
    size_t n = 0;
    *has_html = false;
    if (lua_isnoneornil(L, 2))
        return 0;
    luaL_checktype(L, 2, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 2); n++) {
        if (n == ARGUMENTS_MAX || lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "t: at most %d values, each with a name", ARGUMENTS_MAX);
        struct catalog_argument *a = &args[n];
        *a = (struct catalog_argument){0};
        a->name.ptr = lua_tolstring(L, -2, &a->name.len);
        const struct view_html *html = view_to_html(L, -1);
        if (html) {
            if (html->field)
                view_trace_lose(view_of(L));
            a->text = str_c(marks[n]);
            *has_html = true;
        } else if (lua_type(L, -1) == LUA_TNUMBER) {
            a->is_number = true;
            a->number = lua_tonumber(L, -1);
        } else if (lua_type(L, -1) == LUA_TSTRING) {
            a->text.ptr = lua_tolstring(L, -1, &a->text.len);
        } else {
            luaL_error(L, "t: the value of '%s' is a %s", a->name.ptr, luaL_typename(L, -1));
        }
        lua_pop(L, 1);  // the table at 2 keeps the value alive
    }
    return n;
}

// Numbers as text of the language, one behind the other in numbers.
static void format_numbers(const struct locale *l, struct catalog_argument *args, size_t n,
                           buf *numbers)
{
    size_t ends[ARGUMENTS_MAX];
    for (size_t i = 0; i < n; i++) {
        if (args[i].is_number)
            locale_number(l, args[i].number, -1, numbers);
        ends[i] = numbers->len;
    }
    for (size_t i = 0; i < n; i++)
        if (args[i].is_number)
            args[i].text = str_slice(buf_view(numbers), i ? ends[i - 1] : 0, ends[i]);
}

// Text as HTML, with the held back values (of the table at 2) in their places.
static void put_html(lua_State *L, str text, const struct catalog_argument *args, buf *out)
{
    str part;
    while (text.len) {
        size_t mark = str_find(text, '\001');
        escape_text(out, str_slice(text, 0, mark));
        part = str_slice(text, mark, text.len);
        if (!part.len)
            return;
        size_t i = part.len > 1 ? (size_t)(part.ptr[1] - 'A') : ARGUMENTS_MAX;
        if (i < ARGUMENTS_MAX) {
            lua_pushlstring(L, args[i].name.ptr, args[i].name.len);
            lua_rawget(L, 2);
            const struct view_html *h = view_to_html(L, -1);
            if (h)
                buf_str(out, h->html);
            lua_pop(L, 1);
        }
        text = str_slice(part, 2, part.len);
    }
}

static void missing_key(lua_State *L, str key)
{
    struct view *v = view_of(L);
    lua_Debug ar;
    struct diag_pos at = {0};
    if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "Sl", &ar))
        at = sandbox_position(v->sandbox, str_c(ar.short_src),
                              (uint32_t)(ar.currentline > 0 ? ar.currentline : 0));
    view_trace_lose(v);  // each page says it
    diag_add(v->d, D_CATALOG_MISSING, at, "%.*s, in every language", STR_ARG(key));
}

// Pushes what text means: itself, or HTML when it comes from another language or holds HTML.
static void push_message(lua_State *L, const struct language *language, str text,
                         const struct catalog_argument *args, bool has_html, bool other_language)
{
    buf html = BUF_INIT;
    if (!has_html && !other_language) {
        view_push_str(L, text);
        return;
    }
    if (other_language)
        buf_printf(&html, "<span lang=\"%.*s\">", STR_ARG(catalog_fallback_tag(language->catalog)));
    put_html(L, text, args, &html);
    if (other_language)
        buf_lit(&html, "</span>");
    view_push_html_copy(L, buf_view(&html));
    struct view_html *words = lua_touserdata(L, -1);
    words->is_words = true;
    buf_free(&html);
}

// The table of a language's messages without arguments, which are made once.
static void push_message_cache(lua_State *L, const struct language *language)
{
    struct view *v = view_of(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->messages);
    if (lua_rawgeti(L, -1, (lua_Integer)language->index + 1) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, (lua_Integer)language->index + 1);
}

// t("key", {name = value})
static int view_t(lua_State *L)
{
    struct view *v = view_of(L);
    const struct language *language = page_language(L, "t");
    struct catalog_argument args[ARGUMENTS_MAX];
    bool has_html, other_language = false, plain = lua_isnoneornil(L, 2);
    str key;
    key.ptr = luaL_checklstring(L, 1, &key.len);
    lua_settop(L, 2);
    if (plain) {
        push_message_cache(L, language);
        lua_pushvalue(L, 1);
        if (lua_rawget(L, -2) != LUA_TNIL)
            return 1;
        lua_pop(L, 1);
    }
    size_t n = read_arguments(L, args, &has_html);
    buf numbers = BUF_INIT;
    if (n)
        format_numbers(language->locale, args, n, &numbers);
    buf_clear(&v->scratch);
    bool found = catalog_format(language->catalog, key, args, n, &v->scratch, &other_language);
    buf_free(&numbers);
    if (!found) {
        missing_key(L, key);
        buf_str(&v->scratch, key);
    }
    push_message(L, language, buf_view(&v->scratch), args, has_html, other_language);
    if (found && plain) {
        lua_pushvalue(L, 1);
        lua_pushvalue(L, -2);
        lua_rawset(L, -4);
    }
    return 1;
}

static int checked_decimals(lua_State *L, int index, int otherwise)
{
    lua_Integer n = luaL_optinteger(L, index, otherwise);
    luaL_argcheck(L, n >= -1 && n <= 9, index, "decimals are 0 to 9");
    return (int)n;
}

static double checked_finite(lua_State *L, int index)
{
    double n = luaL_checknumber(L, index);
    luaL_argcheck(L, isfinite(n), index, "not a finite number");
    return n;
}

static int push_scratch(lua_State *L)
{
    view_push_str(L, buf_view(&view_of(L)->scratch));
    return 1;
}

static int view_number(lua_State *L)
{
    struct view *v = view_of(L);
    double n = checked_finite(L, 1);
    int decimals = checked_decimals(L, 2, -1);
    buf_clear(&v->scratch);
    locale_number(page_language(L, "number")->locale, n, decimals, &v->scratch);
    return push_scratch(L);
}

static int view_percent(lua_State *L)
{
    struct view *v = view_of(L);
    double n = checked_finite(L, 1);
    int decimals = checked_decimals(L, 2, 0);
    buf_clear(&v->scratch);
    locale_percent(page_language(L, "percent")->locale, n, decimals, false, &v->scratch);
    return push_scratch(L);
}

static int view_bytes(lua_State *L)
{
    struct view *v = view_of(L);
    double n = checked_finite(L, 1);
    enum byte_unit unit;
    if (!byte_unit_parse(str_c(luaL_optstring(L, 2, "MiB")), &unit))
        return luaL_argerror(L, 2, "units are B, kB, MB, GB, TB, KiB, MiB, GiB and TiB");
    int decimals = checked_decimals(L, 3, byte_unit_decimals(unit));
    buf_clear(&v->scratch);
    locale_bytes(page_language(L, "bytes")->locale, n, unit, decimals, &v->scratch);
    return push_scratch(L);
}

static int view_date(lua_State *L)
{
    struct view *v = view_of(L);
    lua_Integer seconds = luaL_checkinteger(L, 1);
    buf_clear(&v->scratch);
    locale_date(page_language(L, "date")->locale, seconds, DATE_LONG, &v->scratch);
    return push_scratch(L);
}

static const struct view_asset *find_asset(const struct view_site *vs, str name)
{
    size_t low = 0, high = vs->asset_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(vs->assets[middle].name, name);
        if (!order)
            return &vs->assets[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// The fingerprinted address of a file of the templates' folder, which is written for it; nil when
// there is none.
static int view_asset(lua_State *L)
{
    struct view *v = view_of(L);
    str name;
    name.ptr = luaL_checklstring(L, 1, &name.len);
    const struct view_asset *x = find_asset(v->vs, name);
    if (!x || !x->url.len)
        return 0;  // for templates that ask whether it is there
    size_t place = (size_t)(x - v->vs->assets);
    v->assets[place / 8] |= (uint8_t)(1 << place % 8);
    v->L = L;
    view_trace_lose(v);
    view_push_url(v, x->url);
    return 1;
}

static int view_href(lua_State *L)
{
    struct view *v = view_of(L);
    str url;
    url.ptr = luaL_checklstring(L, 1, &url.len);
    v->L = L;
    view_trace_lose(v);
    view_push_url(v, url);
    return 1;
}

static int view_raw(lua_State *L)
{
    if (view_to_html(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    str html;
    html.ptr = luaL_checklstring(L, 1, &html.len);
    view_push_html_copy(L, html);
    return 1;
}

const luaL_Reg view_functions[] = {
    {"t", view_t},         {"number", view_number}, {"percent", view_percent},
    {"bytes", view_bytes}, {"date", view_date},     {"asset", view_asset},
    {"href", view_href},   {"raw", view_raw},       {NULL, NULL},
};
