// Lua source cut into tokens, as far as templates need it: where a tag ends, which words open and
// close blocks.
#ifndef GEN_TEXT_TEMPLATE_LUA_H
#define GEN_TEXT_TEMPLATE_LUA_H

#include "gen/base/str.h"

enum lua_token {
    LUA_TOKEN_NAME,
    LUA_TOKEN_STRING,
    LUA_TOKEN_COMMENT,
    LUA_TOKEN_OTHER,
    LUA_TOKEN_END,
    LUA_TOKEN_UNFINISHED
};

// The token at or behind *at, blanks skipped: from *start to *at, which moves. A number or a sign
// is LUA_TOKEN_OTHER, one byte at a time; LUA_TOKEN_UNFINISHED is a string or long comment without
// its end.
enum lua_token template_token(str source, size_t *at, size_t *start);
// NAME, or NAME.PART, of code that is "page.NAME" or "page.NAME.PART" and nothing else; or "".
str template_field(str code);

#endif
