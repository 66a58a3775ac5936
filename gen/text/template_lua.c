// The tokens of Lua that matter to templates; nothing is decoded.
#include "gen/text/template_lua.h"

static bool is_name(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Offset behind a long bracket that opens at i ("[[" or "[=["); i when none does, s.len + 1 when it
// never closes.
static size_t long_bracket(str s, size_t i)
{
    size_t level = 0, at = i + 1;
    while (at < s.len && s.ptr[at] == '=')
        at++, level++;
    if (i >= s.len || s.ptr[i] != '[' || at >= s.len || s.ptr[at] != '[')
        return i;
    for (at++; at + level + 1 < s.len; at++) {
        size_t n = 0;
        while (s.ptr[at] == ']' && n < level && s.ptr[at + 1 + n] == '=')
            n++;
        if (s.ptr[at] == ']' && n == level && s.ptr[at + 1 + n] == ']')
            return at + level + 2;
    }
    return s.len + 1;
}

static enum lua_token quoted(str s, size_t *at)
{
    char quote = s.ptr[(*at)++];
    for (; *at < s.len && s.ptr[*at] != '\n'; ++*at) {
        if (s.ptr[*at] == '\\' && *at + 1 < s.len)
            ++*at;
        else if (s.ptr[*at] == quote)
            return ++*at, LUA_TOKEN_STRING;
    }
    return LUA_TOKEN_UNFINISHED;
}

static enum lua_token bracketed(str s, size_t *at, size_t end, enum lua_token kind)
{
    *at = end > s.len ? s.len : end;
    return end > s.len ? LUA_TOKEN_UNFINISHED : kind;
}

enum lua_token template_token(str s, size_t *at, size_t *start)
{
    while (*at < s.len && is_blank(s.ptr[*at]))
        ++*at;
    *start = *at;
    if (*at >= s.len)
        return LUA_TOKEN_END;
    char c = s.ptr[*at];
    if (is_name(c)) {
        while (*at < s.len && is_name(s.ptr[*at]))
            ++*at;
        return ascii_is_digit(c) ? LUA_TOKEN_OTHER : LUA_TOKEN_NAME;
    }
    if (c == '"' || c == '\'')
        return quoted(s, at);
    bool comment = c == '-' && *at + 1 < s.len && s.ptr[*at + 1] == '-';
    size_t bracket = *at + (comment ? 2 : 0), end = long_bracket(s, bracket);
    if (end != bracket)
        return bracketed(s, at, end, comment ? LUA_TOKEN_COMMENT : LUA_TOKEN_STRING);
    if (!comment)
        return ++*at, LUA_TOKEN_OTHER;
    while (*at < s.len && s.ptr[*at] != '\n')
        ++*at;
    return LUA_TOKEN_COMMENT;
}

str template_field(str code)
{
    size_t dots = 0, start, at = 5;
    code = str_trim(code);
    if (!str_starts(code, STR("page.")))
        return STR_NONE;
    for (;; dots++) {
        size_t from = at;
        if (template_token(code, &at, &start) != LUA_TOKEN_NAME || start != from)
            return STR_NONE;
        if (at == code.len)
            return str_slice(code, 5, code.len);
        if (code.ptr[at++] != '.' || dots == 1)
            return STR_NONE;
    }
}
