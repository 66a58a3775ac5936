// The emitters that compiled templates call: a value, escaped for its place, straight into the
// page's buffer.
#include <math.h>
#include <string.h>

#include "gen/site/template/view_lib.h"
#include "gen/base/escape.h"
#include "gen/text/html_names.h"

struct view *view_of(lua_State *L)
{
    return sandbox_user(L);
}

void view_push_str(lua_State *L, str s)
{
    lua_pushlstring(L, s.len ? s.ptr : "", s.len);
}

void view_push_html(lua_State *L, str bytes)
{
    struct view_html *h = lua_newuserdatauv(L, sizeof *h, 0);
    *h = (struct view_html){.html = bytes};
    luaL_setmetatable(L, VIEW_HTML_META);
}

void view_push_html_copy(lua_State *L, str bytes)
{
    struct view_html *h = lua_newuserdatauv(L, sizeof *h + bytes.len, 0);
    if (bytes.len)
        memcpy(h + 1, bytes.ptr, bytes.len);
    *h = (struct view_html){.html = {(const char *)(h + 1), bytes.len}};
    luaL_setmetatable(L, VIEW_HTML_META);
}

const struct view_html *view_to_html(lua_State *L, int index)
{
    return lua_type(L, index) == LUA_TUSERDATA ? luaL_testudata(L, index, VIEW_HTML_META) : NULL;
}

// HTML without its tags: entities stay, quotes become entities.
static void put_stripped(buf *out, str html)
{
    bool inside = false;
    for (size_t i = 0; i < html.len; i++) {
        char c = html.ptr[i];
        if (c == '<' || c == '>')
            inside = c == '<';
        else if (!inside && c == '"')
            buf_lit(out, "&quot;");
        else if (!inside)
            buf_char(out, c);
    }
}

// Static text that is before the value, argument 2, and the value's text. HTML is left to the
// caller: *html.
static str value_text(lua_State *L, const struct view_html **html)
{
    struct view *v = view_of(L);
    str s = {0};
    *html = NULL;
    if (lua_type(L, 2) == LUA_TSTRING) {
        s.ptr = lua_tolstring(L, 2, &s.len);
        buf_str(v->out, s);
    }
    switch (lua_type(L, 1)) {
    case LUA_TSTRING:
    case LUA_TNUMBER: s.ptr = lua_tolstring(L, 1, &s.len); return s;
    case LUA_TBOOLEAN: return lua_toboolean(L, 1) ? STR("true") : STR("false");
    case LUA_TNIL:
    case LUA_TNONE:
        luaL_error(L, "the value is nil; write {{ value or \"\" }} where that may be");
        break;
    default:
        *html = view_to_html(L, 1);
        if (!*html)
            luaL_error(L, "a %s cannot be shown; show one of its fields", luaL_typename(L, 1));
        s = (*html)->html;
    }
    return s;
}

static int emit_static(lua_State *L)
{
    str s;
    s.ptr = lua_tolstring(L, 1, &s.len);
    buf_str(view_of(L)->out, s);
    return 0;
}

static int emit_text(lua_State *L)
{
    const struct view_html *html;
    str s = value_text(L, &html);
    if (html)
        buf_str(view_of(L)->out, s);
    else
        escape_text(view_of(L)->out, s);
    return 0;
}

static int emit_plain(lua_State *L)
{
    const struct view_html *html;
    str s = value_text(L, &html);
    if (html)
        put_stripped(view_of(L)->out, s);
    else
        escape_text(view_of(L)->out, s);
    return 0;
}

static int emit_attribute(lua_State *L)
{
    const struct view_html *html;
    str s = value_text(L, &html);
    if (html)
        put_stripped(view_of(L)->out, s);
    else
        escape_attribute(view_of(L)->out, s);
    return 0;
}

// The text of HTML, in the scratch buffer.
static str text_of(struct view *v, str html)
{
    buf stripped = BUF_INIT;
    put_stripped(&stripped, html);
    buf_clear(&v->scratch);
    html_unescape(buf_view(&stripped), &v->scratch);
    buf_free(&stripped);
    return buf_view(&v->scratch);
}

// Text of a value for places that know no HTML; it may be in the scratch buffer.
static str bare_text(lua_State *L)
{
    const struct view_html *html;
    str s = value_text(L, &html);
    return html ? text_of(view_of(L), s) : s;
}

static int emit_url(lua_State *L)
{
    str s = bare_text(L);
    escape_url(view_of(L)->out, s);
    return 0;
}

static void put_encoded(buf *out, str s, const char *encoded)
{
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = (uint8_t)s.ptr[i];
        bool keep = ascii_is_alnum((char)c) || strchr("-._~", c) ||
                    (strchr("/:?#[]@!$()*+,;=%", c) && !strchr(encoded, c));
        if (keep && c) {
            buf_char(out, (char)c);
        } else if (c == '&' && !strchr(encoded, '&')) {
            buf_lit(out, "&amp;");
        } else {
            escape_percent(out, c);
        }
    }
}

void view_put_url_part(buf *out, str s)
{
    put_encoded(out, s, ":");
}

static int emit_url_part(lua_State *L)
{
    str s = bare_text(L);
    view_put_url_part(view_of(L)->out, s);
    return 0;
}

static int emit_url_query(lua_State *L)
{
    str s = bare_text(L);
    put_encoded(view_of(L)->out, s, ":?#[]@!$&()*+,;=%/");
    return 0;
}

static int emit_js_string(lua_State *L)
{
    str s = bare_text(L);
    escape_js(view_of(L)->out, s);
    return 0;
}

// As a literal. HTML here is what the generator made for a script: it may not end the element.
static int emit_js_value(lua_State *L)
{
    struct view *v = view_of(L);
    int type = lua_type(L, 1);
    if (type == LUA_TNUMBER && !lua_isinteger(L, 1) && !isfinite(lua_tonumber(L, 1)))
        return luaL_error(L, "a number that JavaScript's JSON does not have");
    const struct view_html *html;
    str s = value_text(L, &html);
    bool is_words = html && html->is_words;
    if (is_words)
        s = text_of(v, s);
    if (html && !is_words) {
        if (str_search(s, STR("</")) < s.len || str_search(s, STR("<!--")) < s.len)
            return luaL_error(L, "raw text in a script holds \"</\" or \"<!--\"");
        buf_str(v->out, s);
    } else if (type == LUA_TSTRING || is_words) {
        buf_char(v->out, '"');
        escape_json(v->out, s);
        buf_char(v->out, '"');
    } else {
        buf_str(v->out, s);
    }
    return 0;
}

static int emit_include(lua_State *L)
{
    struct view *v = view_of(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->functions);
    lua_pushvalue(L, 1);
    lua_rawget(L, -2);
    lua_call(L, 0, 0);
    return 0;
}

// In the order of template.h.
const luaL_Reg view_emitters[] = {
    {"static", emit_static},
    {"text", emit_text},
    {"plain", emit_plain},
    {"attribute", emit_attribute},
    {"url", emit_url},
    {"url_part", emit_url_part},
    {"url_query", emit_url_query},
    {"js_string", emit_js_string},
    {"js_value", emit_js_value},
    {"once", view_once},
    {"include", emit_include},
    {NULL, NULL},
};

static int html_tostring(lua_State *L)
{
    const struct view_html *h = luaL_checkudata(L, 1, VIEW_HTML_META);
    view_push_str(L, h->html);
    return 1;
}

static void put_operand(lua_State *L, int index, buf *out)
{
    const struct view_html *h = view_to_html(L, index);
    str s;
    if (h) {
        buf_str(out, h->html);
        return;
    }
    s.ptr = luaL_checklstring(L, index, &s.len);
    escape_text(out, s);
}

// HTML .. text: the text is escaped, the result is HTML.
static int html_concat(lua_State *L)
{
    struct view *v = view_of(L);
    buf_clear(&v->scratch);
    put_operand(L, 1, &v->scratch);
    put_operand(L, 2, &v->scratch);
    view_push_html_copy(L, buf_view(&v->scratch));
    return 1;
}

static int html_len(lua_State *L)
{
    const struct view_html *h = luaL_checkudata(L, 1, VIEW_HTML_META);
    lua_pushinteger(L, (lua_Integer)h->html.len);
    return 1;
}

const luaL_Reg view_html_methods[] = {
    {"__tostring", html_tostring},
    {"__concat", html_concat},
    {"__len", html_len},
    {NULL, NULL},
};
