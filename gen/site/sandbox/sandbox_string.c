// String functions of the sandbox: patterns with counted steps, rep and format that cannot run away
// or show an address.
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "gen/site/sandbox/sandbox_lib.h"
#include "gen/site/sandbox/sandbox_pattern.h"

static str check_str(lua_State *L, int index)
{
    str s;
    s.ptr = luaL_checklstring(L, index, &s.len);
    return s;
}

// The i-th capture; without any, the whole match start..end is the first.
static void push_capture(struct pattern_match *m, size_t i, size_t start, size_t end)
{
    if (i >= m->level) {
        if (i != 0)
            luaL_error(m->L, "invalid capture index %%%d", (int)i + 1);
        lua_pushlstring(m->L, m->subject.ptr + start, end - start);
    } else if (m->captures[i].len == PATTERN_POSITION) {
        lua_pushinteger(m->L, (lua_Integer)m->captures[i].start + 1);
    } else if (m->captures[i].len == PATTERN_OPEN) {
        luaL_error(m->L, "unfinished capture");
    } else {
        lua_pushlstring(m->L, m->subject.ptr + m->captures[i].start, m->captures[i].len);
    }
}

static int push_captures(struct pattern_match *m, bool whole, size_t start, size_t end)
{
    size_t n = m->level == 0 && whole ? 1 : m->level;
    luaL_checkstack(m->L, (int)n, "too many captures");
    for (size_t i = 0; i < n; i++)
        push_capture(m, i, start, end);
    return (int)n;
}

static struct pattern_match begin(lua_State *L, str subject, str pattern)
{
    struct pattern_match m;
    memset(&m, 0, sizeof m);
    m.L = L;
    m.subject = subject;
    m.pattern = pattern;
    return m;
}

// The first match at or behind *start; its end. A pattern that begins with ^ matches at *start
// only.
static size_t search(struct pattern_match *m, size_t *start)
{
    bool anchored = m->pattern.len && m->pattern.ptr[0] == '^';
    for (size_t s = *start; s <= m->subject.len; s++) {
        m->level = 0;
        size_t end = pattern_match_at(m, s, anchored);
        if (end != PATTERN_NONE) {
            *start = s;
            return end;
        }
        if (anchored)
            break;
    }
    return PATTERN_NONE;
}

// The start given as argument index, as an offset; more than len when it lies behind the end.
static size_t start_offset(lua_State *L, int index, size_t len)
{
    lua_Integer i = luaL_optinteger(L, index, 1);
    if (i > 0)
        return (uint64_t)i > len ? (i == 1 ? 0 : (size_t)i - 1) : (size_t)i - 1;
    return i == 0 || (uint64_t) - (i + 1) >= len ? 0 : len - (size_t)-i;
}

static int find_plain(lua_State *L, str s, str what, size_t start)
{
    str rest = str_slice(s, start, s.len);
    sandbox_charge(L, rest.len / 16);
    size_t at = what.len ? str_search(rest, what) : 0;
    if (what.len && at >= rest.len)
        return luaL_pushfail(L), 1;
    lua_pushinteger(L, (lua_Integer)(start + at) + 1);
    lua_pushinteger(L, (lua_Integer)(start + at + what.len));
    return 2;
}

static int find_or_match(lua_State *L, bool find)
{
    str s = check_str(L, 1), pattern = check_str(L, 2);
    size_t start = start_offset(L, 3, s.len);
    if (start > s.len)
        return luaL_pushfail(L), 1;
    bool special = false;
    for (size_t i = 0; i < pattern.len && !special; i++)
        special = pattern.ptr[i] && strchr("^$*+?.([%-", pattern.ptr[i]);
    if (find && (lua_toboolean(L, 4) || !special))
        return find_plain(L, s, pattern, start);
    struct pattern_match m = begin(L, s, pattern);
    size_t end = search(&m, &start);
    if (end == PATTERN_NONE)
        return luaL_pushfail(L), 1;
    if (!find)
        return push_captures(&m, true, start, end);
    lua_pushinteger(L, (lua_Integer)start + 1);
    lua_pushinteger(L, (lua_Integer)end);
    return 2 + push_captures(&m, false, start, end);
}

static int string_find(lua_State *L)
{
    return find_or_match(L, true);
}

static int string_match(lua_State *L)
{
    return find_or_match(L, false);
}

// Upvalues: subject, pattern, where to go on, where the last match ended (or -1).
static int gmatch_next(lua_State *L)
{
    struct pattern_match m =
        begin(L, check_str(L, lua_upvalueindex(1)), check_str(L, lua_upvalueindex(2)));
    size_t s = (size_t)lua_tointeger(L, lua_upvalueindex(3));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    for (; s <= m.subject.len; s++) {
        m.level = 0;
        size_t end = pattern_match_at(&m, s, 0);
        if (end == PATTERN_NONE || (lua_Integer)end == last)
            continue;
        lua_pushinteger(L, (lua_Integer)end);
        lua_pushvalue(L, -1);
        lua_replace(L, lua_upvalueindex(3));
        lua_replace(L, lua_upvalueindex(4));
        return push_captures(&m, true, s, end);
    }
    return 0;
}

static int string_gmatch(lua_State *L)
{
    str s = check_str(L, 1);
    check_str(L, 2);
    size_t start = start_offset(L, 3, s.len);
    lua_settop(L, 2);
    lua_pushinteger(L, (lua_Integer)(start > s.len ? s.len + 1 : start));
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, gmatch_next, 4);
    return 1;
}

// A replacement given as a string: %0 to %9 and %%.
static void add_template(struct pattern_match *m, luaL_Buffer *b, str repl, size_t start,
                         size_t end)
{
    for (size_t i = 0; i < repl.len; i++) {
        char c = repl.ptr[i];
        if (c != '%') {
            luaL_addchar(b, c);
            continue;
        }
        c = ++i < repl.len ? repl.ptr[i] : 0;
        if (c == '%') {
            luaL_addchar(b, c);
        } else if (c == '0') {
            luaL_addlstring(b, m->subject.ptr + start, end - start);
        } else if (c >= '1' && c <= '9') {
            push_capture(m, (size_t)c - '1', start, end);
            luaL_tolstring(m->L, -1, NULL);
            lua_remove(m->L, -2);
            luaL_addvalue(b);
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
    }
}

// Appends what replaces the match; the third argument says what. False when the match stays.
static bool add_replacement(struct pattern_match *m, luaL_Buffer *b, size_t start, size_t end)
{
    lua_State *L = m->L;
    switch (lua_type(L, 3)) {
    case LUA_TFUNCTION:
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(m, true, start, end), 1);
        break;
    case LUA_TTABLE:
        push_capture(m, 0, start, end);
        lua_gettable(L, 3);
        break;
    default: add_template(m, b, check_str(L, 3), start, end); return true;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    if (!lua_isstring(L, -1))
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    luaL_addvalue(b);
    return true;
}

static int string_gsub(lua_State *L)
{
    str s = check_str(L, 1), pattern = check_str(L, 2);
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                         type == LUA_TTABLE,
                     3, "string, function or table");
    lua_Integer max = luaL_optinteger(L, 4, LUA_MAXINTEGER), count = 0;
    struct pattern_match m = begin(L, s, pattern);
    bool anchored = pattern.len && pattern.ptr[0] == '^';
    size_t at = 0, last = PATTERN_NONE;
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    while (count < max && at <= s.len) {
        m.level = 0;
        size_t end = pattern_match_at(&m, at, anchored);
        if (end != PATTERN_NONE && end != last) {
            count++;
            if (!add_replacement(&m, &b, at, end))
                luaL_addlstring(&b, s.ptr + at, end - at);
            at = last = end;
        } else if (at < s.len) {
            luaL_addchar(&b, s.ptr[at++]);
        } else {
            break;
        }
        if (anchored)
            break;
    }
    if (at < s.len)
        luaL_addlstring(&b, s.ptr + at, s.len - at);
    luaL_pushresult(&b);
    lua_pushinteger(L, count);
    return 2;
}

static int string_rep(lua_State *L)
{
    str s = check_str(L, 1), sep = STR("");
    lua_Integer n = luaL_checkinteger(L, 2);
    sep.ptr = luaL_optlstring(L, 3, "", &sep.len);
    uint64_t each = s.len + sep.len, max = sandbox_of(L)->limits.memory_bytes;
    luaL_Buffer b;
    if (n <= 0 || each == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if ((uint64_t)n > max / each)
        return luaL_error(L, "resulting string too large");
    sandbox_charge(L, (uint64_t)n);
    luaL_buffinitsize(L, &b, (size_t)n * each);
    for (lua_Integer i = 0; i < n; i++) {
        luaL_addlstring(&b, s.ptr, s.len);
        if (i + 1 < n)
            luaL_addlstring(&b, sep.ptr, sep.len);
    }
    luaL_pushresult(&b);
    return 1;
}

// The first upvalue is Lua's own format: arguments that have only an address become text before.
static int string_format(lua_State *L)
{
    str format = check_str(L, 1);
    int n = lua_gettop(L);
    for (size_t i = 0; i + 1 < format.len; i++) {
        if (format.ptr[i] != '%')
            continue;
        i++;
        while (i < format.len && strchr("-+ #0123456789.", format.ptr[i]) && format.ptr[i])
            i++;
        if (i < format.len && format.ptr[i] == 'p')
            return luaL_error(L, "format: %%p is not available here");
    }
    for (int i = 2; i <= n; i++) {
        int type = lua_type(L, i);
        if (type < LUA_TTABLE && type != LUA_TLIGHTUSERDATA)
            continue;
        sandbox_tolstring(L, i, NULL);
        lua_replace(L, i);
        lua_settop(L, n);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, n, 1);
    return 1;
}

void sandbox_wrap_format(lua_State *L)
{
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, string_format, 1);
    lua_setfield(L, -2, "format");
}

const luaL_Reg sandbox_string[] = {
    {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch},
    {"gsub", string_gsub}, {"rep", string_rep},     {NULL, NULL},
};
