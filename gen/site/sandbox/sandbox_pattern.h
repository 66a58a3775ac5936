// Lua's patterns, matched with every step counted: no subject and pattern can run for long
// unnoticed.
#ifndef GEN_SITE_SANDBOX_PATTERN_H
#define GEN_SITE_SANDBOX_PATTERN_H

#include <lua.h>

#include "gen/base/str.h"

#define PATTERN_CAPTURES 32
#define PATTERN_NONE SIZE_MAX
#define PATTERN_POSITION SIZE_MAX    // length of a capture that is a position
#define PATTERN_OPEN (SIZE_MAX - 1)  // and of one that has not been closed

struct pattern_match {
    lua_State *L;
    str subject, pattern;
    uint32_t steps, depth;
    size_t level;  // captures begun
    struct {
        size_t start, len;
    } captures[PATTERN_CAPTURES];
};

// Matches the pattern from its byte p at the subject's byte s: the end of the match, or
// PATTERN_NONE. Raises Lua errors for a malformed pattern and for a passed limit. level must be 0
// before.
size_t pattern_match_at(struct pattern_match *m, size_t s, size_t p);

#endif
