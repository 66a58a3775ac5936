// Owns the way from JSON text to Lua tables. It reads what the library writes, and refuses the rest without harm.

#include "calc/lua/lua_json.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>

enum { DEEPEST = 32, NUMBER_MAX = 64 };

struct reader {
    lua_State *L;
    const char *at, *end;
    int depth;
};

static bool push_value(struct reader *r);

static void skip_space(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

// Four hexadecimal digits, or -1.
static long take_unit(struct reader *r)
{
    long unit = 0;
    if (r->end - r->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *d = strchr(digits, *r->at | (*r->at > '9' ? 32 : 0));
        if (!d || !*r->at)
            return -1;
        unit = unit * 16 + (d - digits);
        r->at++;
    }
    return unit;
}

// The character after a backslash.
static bool add_escape(struct reader *r, luaL_Buffer *b)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at++ : 0;
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        luaL_addchar(b, to[found - from]);
        return true;
    }
    long unit = c == 'u' ? take_unit(r) : -1;
    if (unit < 0)
        return false;
    if (unit >= 0xd800 && unit < 0xdc00 && take_word(r, "\\u")) {
        long low = take_unit(r);
        if (low < 0xdc00 || low > 0xdfff)
            return false;
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    lua_pushfstring(r->L, "%U", (unsigned long)unit);
    luaL_addvalue(b);
    return true;
}

static bool push_string(struct reader *r)
{
    luaL_Buffer b;
    luaL_buffinit(r->L, &b);
    while (r->at < r->end && *r->at != '"') {
        const char *from = r->at;
        while (r->at < r->end && *r->at != '"' && *r->at != '\\')
            r->at++;
        luaL_addlstring(&b, from, (size_t)(r->at - from));
        if (r->at < r->end && *r->at == '\\') {
            r->at++;
            if (!add_escape(r, &b))
                return false;
        }
    }
    luaL_pushresult(&b);
    return take(r, '"');
}

static bool push_number(struct reader *r)
{
    char text[NUMBER_MAX];
    size_t n = 0;
    while (r->at < r->end && *r->at && strchr("+-.eE0123456789", *r->at) && n + 1 < sizeof text)
        text[n++] = *r->at++;
    text[n] = 0;
    return n && lua_stringtonumber(r->L, text) == n + 1;
}

static bool push_array(struct reader *r)
{
    lua_newtable(r->L);
    if (take(r, ']'))
        return true;
    for (lua_Integer i = 1;; i++) {
        if (!push_value(r))
            return false;
        lua_rawseti(r->L, -2, i);
        if (take(r, ']'))
            return true;
        if (!take(r, ','))
            return false;
    }
}

static bool push_object(struct reader *r)
{
    lua_newtable(r->L);
    if (take(r, '}'))
        return true;
    for (;;) {
        if (!take(r, '"') || !push_string(r) || !take(r, ':') || !push_value(r))
            return false;
        lua_rawset(r->L, -3);
        if (take(r, '}'))
            return true;
        if (!take(r, ','))
            return false;
    }
}

static bool push_word(struct reader *r)
{
    if (take_word(r, "null")) {
        lua_pushnil(r->L);
        return true;
    }
    bool yes = take_word(r, "true");
    if (!yes && !take_word(r, "false"))
        return false;
    lua_pushboolean(r->L, yes);
    return true;
}

static bool push_value(struct reader *r)
{
    bool ok;
    skip_space(r);
    if (r->at == r->end || r->depth == DEEPEST || !lua_checkstack(r->L, 8))
        return false;
    r->depth++;
    if (take(r, '{'))
        ok = push_object(r);
    else if (take(r, '['))
        ok = push_array(r);
    else if (take(r, '"'))
        ok = push_string(r);
    else
        ok = strchr("-0123456789", *r->at) ? push_number(r) : push_word(r);
    r->depth--;
    return ok;
}

bool lua_json_push(lua_State *L, const char *text, size_t len)
{
    struct reader r = {.L = L, .at = text, .end = text + len};
    int top = lua_gettop(L);
    bool ok = push_value(&r);
    skip_space(&r);
    if (ok && r.at == r.end)
        return true;
    lua_settop(L, top);
    return false;
}
