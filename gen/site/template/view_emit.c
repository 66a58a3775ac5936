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

static bool is_html(struct view_value x)
{
    return x.kind == VALUE_HTML || x.kind == VALUE_MADE || x.kind == VALUE_WORDS;
}

// As a literal. HTML here is what the generator made for a script: it may not end the element.
static const char *emit_literal(struct view *v, struct view_value x)
{
    if (x.kind == VALUE_HTML || x.kind == VALUE_MADE) {
        if (str_has(x.text, STR("</")) || str_has(x.text, STR("<!--")))
            return "raw text in a script holds \"</\" or \"<!--\"";
        buf_str(v->out, x.text);
    } else if (x.kind == VALUE_TEXT || x.kind == VALUE_WORDS) {
        buf_char(v->out, '"');
        escape_json(v->out, x.kind == VALUE_WORDS ? text_of(v, x.text) : x.text);
        buf_char(v->out, '"');
    } else {
        buf_str(v->out, x.text);
    }
    return NULL;
}

// Text for places that know no HTML.
static void emit_bare(struct view *v, enum html_emitter how, str s)
{
    switch (how) {
    case EMIT_URL: escape_url(v->out, s); break;
    case EMIT_URL_PART: view_put_url_part(v->out, s); break;
    case EMIT_URL_QUERY: put_encoded(v->out, s, ":?#[]@!$&()*+,;=%/"); break;
    default: escape_js(v->out, s); break;
    }
}

const char *view_emit(struct view *v, enum html_emitter how, struct view_value x)
{
    if (x.kind == VALUE_BOOL)
        x.text = x.number ? STR("true") : STR("false");
    if (x.kind == VALUE_NUMBER && !x.text.len) {
        buf_clear(&v->scratch);
        buf_u64(&v->scratch, x.number);
        x.text = buf_view(&v->scratch);
    }
    bool html = is_html(x);
    if (how == EMIT_JS_VALUE)
        return emit_literal(v, x);
    if (how == EMIT_TEXT && html)
        buf_str(v->out, x.text);
    else if (how <= EMIT_ATTRIBUTE && html)
        put_stripped(v->out, x.text);
    else if (how == EMIT_ATTRIBUTE)
        escape_attribute(v->out, x.text);
    else if (how <= EMIT_PLAIN)
        escape_text(v->out, x.text);
    else
        emit_bare(v, how, html ? text_of(v, x.text) : x.text);
    return NULL;
}

// The value at 1, and the field that it is of.
static struct view_value value_at(lua_State *L, const struct view_field **field)
{
    struct view_value x = {.kind = VALUE_TEXT};
    const struct view_html *html;
    *field = NULL;
    switch (lua_type(L, 1)) {
    case LUA_TNUMBER: x.kind = VALUE_NUMBER;  // fall through
    case LUA_TSTRING: x.text.ptr = lua_tolstring(L, 1, &x.text.len); break;
    case LUA_TBOOLEAN:
        x.kind = VALUE_BOOL;
        x.number = (uint64_t)lua_toboolean(L, 1);
        break;
    case LUA_TNIL:
    case LUA_TNONE: x.kind = VALUE_NONE; break;
    default:
        html = view_to_html(L, 1);
        if (!html)
            luaL_error(L, "a %s cannot be shown; show one of its fields", luaL_typename(L, 1));
        x.kind = html->is_words ? VALUE_WORDS : VALUE_HTML;
        x.text = html->html;
        *field = html->field;
    }
    return x;
}

// Static text that is before a value.
static void put_before(lua_State *L, int index)
{
    str s;
    if (lua_type(L, index) == LUA_TSTRING) {
        s.ptr = lua_tolstring(L, index, &s.len);
        buf_str(view_of(L)->out, s);
    }
}

static int put_value(lua_State *L, enum html_emitter how, struct view_value x)
{
    if (x.kind == VALUE_NONE)
        return luaL_error(L, "the value is nil; write {{ value or \"\" }} where that may be");
    const char *wrong = view_emit(view_of(L), how, x);
    return wrong ? luaL_error(L, "%s", wrong) : 0;
}

static int emit_value(lua_State *L, enum html_emitter how)
{
    struct view *v = view_of(L);
    const struct view_field *field;
    struct view_value x = value_at(L, &field);
    put_before(L, 2);
    if (field)
        view_trace_field(v, field, how);
    put_value(L, how, x);
    if (field)
        view_trace_resume(v);
    return 0;
}

static int emit_static(lua_State *L)
{
    put_before(L, 1);
    return 0;
}

static int emit_text(lua_State *L)
{
    return emit_value(L, EMIT_TEXT);
}

static int emit_plain(lua_State *L)
{
    return emit_value(L, EMIT_PLAIN);
}

static int emit_attribute(lua_State *L)
{
    return emit_value(L, EMIT_ATTRIBUTE);
}

static int emit_url(lua_State *L)
{
    return emit_value(L, EMIT_URL);
}

static int emit_url_part(lua_State *L)
{
    return emit_value(L, EMIT_URL_PART);
}

static int emit_url_query(lua_State *L)
{
    return emit_value(L, EMIT_URL_QUERY);
}

static int emit_js_string(lua_State *L)
{
    return emit_value(L, EMIT_JS_STRING);
}

static int emit_js_value(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TNUMBER && !lua_isinteger(L, 1) && !isfinite(lua_tonumber(L, 1)))
        return luaL_error(L, "a number that JavaScript's JSON does not have");
    return emit_value(L, EMIT_JS_VALUE);
}

// field("name", how, before): {{ page.name }}, whose value Lua need not see.
static int emit_field(lua_State *L)
{
    struct view *v = view_of(L);
    const struct view_field *f = view_field_named(L, 1);
    enum html_emitter how = (enum html_emitter)luaL_checkinteger(L, 2);
    view_field_check(v, f);
    if (f->push)
        return luaL_error(L, "a table cannot be shown; show one of its fields");
    put_before(L, 3);
    view_trace_field(v, f, how);
    put_value(L, how, f->value(v, f));
    view_trace_resume(v);
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
    {"field", emit_field},
    {NULL, NULL},
};

// The code looks into HTML.
static const struct view_html *opened(lua_State *L, const struct view_html *h)
{
    if (h && h->field)
        view_trace_lose(view_of(L));
    return h;
}

static int html_tostring(lua_State *L)
{
    const struct view_html *h = opened(L, luaL_checkudata(L, 1, VIEW_HTML_META));
    view_push_str(L, h->html);
    return 1;
}

static void put_operand(lua_State *L, int index, buf *out)
{
    const struct view_html *h = opened(L, view_to_html(L, index));
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
    const struct view_html *h = opened(L, luaL_checkudata(L, 1, VIEW_HTML_META));
    lua_pushinteger(L, (lua_Integer)h->html.len);
    return 1;
}

const luaL_Reg view_html_methods[] = {
    {"__tostring", html_tostring},
    {"__concat", html_concat},
    {"__len", html_len},
    {NULL, NULL},
};
