// The matcher of Lua's patterns (Lua 5.4 manual, 6.4.1): backtracking, with a budget of steps and
// of depth.
#include "gen/site/sandbox/sandbox_pattern.h"

#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

#include "gen/site/sandbox/sandbox.h"

#define DEPTH_MAX 200
#define STEPS_CHARGED 64

static void step(struct pattern_match *m)
{
    if (++m->steps < STEPS_CHARGED)
        return;
    m->steps = 0;
    sandbox_charge(m->L, STEPS_CHARGED);
}

static uint8_t subject_at(const struct pattern_match *m, size_t s)
{
    return s < m->subject.len ? (uint8_t)m->subject.ptr[s] : 0;
}

// The pattern's byte at p; 0 behind its end.
static uint8_t pattern_at(const struct pattern_match *m, size_t p)
{
    return p < m->pattern.len ? (uint8_t)m->pattern.ptr[p] : 0;
}

static size_t set_end(struct pattern_match *m, size_t p)
{
    if (pattern_at(m, p) == '^')
        p++;
    do {
        if (p >= m->pattern.len)
            luaL_error(m->L, "malformed pattern (missing ']')");
        p += pattern_at(m, p) == '%' ? 2 : 1;
    } while (p >= m->pattern.len || pattern_at(m, p) != ']');
    return p + 1;
}

// Offset behind the single-character class that begins at p.
static size_t class_end(struct pattern_match *m, size_t p)
{
    uint8_t c = pattern_at(m, p);
    if (c == '%' && p + 1 >= m->pattern.len)
        luaL_error(m->L, "malformed pattern (ends with '%%')");
    return c == '%' ? p + 2 : c == '[' ? set_end(m, p + 1) : p + 1;
}

static bool letter_class(uint8_t c, uint8_t letter)
{
    bool yes;
    switch (tolower(letter)) {
    case 'a': yes = isalpha(c); break;
    case 'c': yes = iscntrl(c); break;
    case 'd': yes = isdigit(c); break;
    case 'g': yes = isgraph(c); break;
    case 'l': yes = islower(c); break;
    case 'p': yes = ispunct(c); break;
    case 's': yes = isspace(c); break;
    case 'u': yes = isupper(c); break;
    case 'w': yes = isalnum(c); break;
    case 'x': yes = isxdigit(c); break;
    case 'z': yes = c == 0; break;
    default: return letter == c;
    }
    return isupper(letter) ? !yes : yes;
}

// p..end is a set, brackets included.
static bool in_set(const struct pattern_match *m, uint8_t c, size_t p, size_t end)
{
    bool found = true;
    if (pattern_at(m, ++p) == '^') {
        found = false;
        p++;
    }
    for (size_t last = end - 1; p < last; p++) {
        uint8_t here = pattern_at(m, p);
        if (here == '%') {
            if (letter_class(c, pattern_at(m, ++p)))
                return found;
        } else if (pattern_at(m, p + 1) == '-' && p + 2 < last) {
            p += 2;
            if (here <= c && c <= pattern_at(m, p))
                return found;
        } else if (here == c) {
            return found;
        }
    }
    return !found;
}

static bool single(struct pattern_match *m, size_t s, size_t p, size_t end)
{
    step(m);
    if (s >= m->subject.len)
        return false;
    uint8_t c = subject_at(m, s);
    switch (pattern_at(m, p)) {
    case '.': return true;
    case '%': return letter_class(c, pattern_at(m, p + 1));
    case '[': return in_set(m, c, p, end);
    default: return pattern_at(m, p) == c;
    }
}

static size_t longest(struct pattern_match *m, size_t s, size_t p, size_t end)
{
    size_t n = 0;
    while (single(m, s + n, p, end))
        n++;
    for (;; n--) {
        size_t result = pattern_match_at(m, s + n, end + 1);
        if (result != PATTERN_NONE || n == 0)
            return result;
    }
}

static size_t shortest(struct pattern_match *m, size_t s, size_t p, size_t end)
{
    for (;; s++) {
        size_t result = pattern_match_at(m, s, end + 1);
        if (result != PATTERN_NONE)
            return result;
        if (!single(m, s, p, end))
            return PATTERN_NONE;
    }
}

// %bxy
static size_t balanced(struct pattern_match *m, size_t s, size_t p)
{
    if (p + 1 >= m->pattern.len)
        luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    uint8_t open = pattern_at(m, p), close = pattern_at(m, p + 1);
    if (s >= m->subject.len || subject_at(m, s) != open)
        return PATTERN_NONE;
    size_t depth = 1;
    while (++s < m->subject.len) {
        step(m);
        uint8_t c = subject_at(m, s);
        if (c == close && --depth == 0)
            return s + 1;
        if (c == open && c != close)
            depth++;
    }
    return PATTERN_NONE;
}

// %f[set]: *p moves behind the set.
static bool frontier(struct pattern_match *m, size_t s, size_t *p)
{
    size_t set = *p + 2;
    if (pattern_at(m, set) != '[')
        luaL_error(m->L, "missing '[' after '%%f' in pattern");
    *p = class_end(m, set);
    uint8_t before = s ? subject_at(m, s - 1) : 0;
    return !in_set(m, before, set, *p) && in_set(m, subject_at(m, s), set, *p);
}

// %1 to %9: the length of what that capture holds, when it is at s; else PATTERN_NONE.
static size_t repeated(struct pattern_match *m, size_t s, uint8_t digit)
{
    size_t i = (size_t)digit - '1';
    if (digit == '0' || i >= m->level || m->captures[i].len == PATTERN_OPEN)
        luaL_error(m->L, "invalid capture index %%%c in pattern", digit);
    size_t len = m->captures[i].len;
    if (len == PATTERN_POSITION)
        return PATTERN_NONE;
    sandbox_charge(m->L, len / 8);
    if (m->subject.len - s < len ||
        memcmp(m->subject.ptr + m->captures[i].start, m->subject.ptr + s, len) != 0)
        return PATTERN_NONE;
    return len;
}

static size_t capture_start(struct pattern_match *m, size_t s, size_t p, size_t len)
{
    if (m->level >= PATTERN_CAPTURES)
        luaL_error(m->L, "too many captures");
    m->captures[m->level].start = s;
    m->captures[m->level].len = len;
    m->level++;
    size_t result = pattern_match_at(m, s, p);
    if (result == PATTERN_NONE)
        m->level--;
    return result;
}

static size_t capture_end(struct pattern_match *m, size_t s, size_t p)
{
    size_t i = m->level;
    while (i > 0 && m->captures[i - 1].len != PATTERN_OPEN)
        i--;
    if (i == 0)
        luaL_error(m->L, "invalid pattern capture");
    m->captures[i - 1].len = s - m->captures[i - 1].start;
    size_t result = pattern_match_at(m, s, p);
    if (result == PATTERN_NONE)
        m->captures[i - 1].len = PATTERN_OPEN;
    return result;
}

enum outcome { GO_ON, DONE };

// A class and what follows it. GO_ON moved *s and *p; DONE left the answer in *result.
static enum outcome quantified(struct pattern_match *m, size_t *s, size_t *p, size_t *result)
{
    size_t end = class_end(m, *p);
    uint8_t sign = pattern_at(m, end);
    bool here;
    if (sign == '*' || sign == '-') {
        *result = sign == '*' ? longest(m, *s, *p, end) : shortest(m, *s, *p, end);
        return DONE;
    }
    here = single(m, *s, *p, end);
    if (sign == '?') {
        if (here && (*result = pattern_match_at(m, *s + 1, end + 1)) != PATTERN_NONE)
            return DONE;
        *p = end + 1;
        return GO_ON;
    }
    if (!here || sign == '+') {
        *result = here ? longest(m, *s + 1, *p, end) : PATTERN_NONE;
        return DONE;
    }
    ++*s;
    *p = end;
    return GO_ON;
}

// The items that begin with %, where they are no class.
static enum outcome escaped(struct pattern_match *m, size_t *s, size_t *p, size_t *result)
{
    uint8_t c = pattern_at(m, *p + 1);
    *result = PATTERN_NONE;
    if (c == 'b') {
        *s = balanced(m, *s, *p + 2);
        *p += 4;
        return *s == PATTERN_NONE ? DONE : GO_ON;
    }
    if (c == 'f')
        return frontier(m, *s, p) ? GO_ON : DONE;
    if (!isdigit(c))
        return quantified(m, s, p, result);
    size_t len = repeated(m, *s, c);
    *s += len == PATTERN_NONE ? 0 : len;
    *p += 2;
    return len == PATTERN_NONE ? DONE : GO_ON;
}

static enum outcome item(struct pattern_match *m, size_t *s, size_t *p, size_t *result)
{
    switch (pattern_at(m, *p)) {
    case '(':
        if (pattern_at(m, *p + 1) == ')')
            *result = capture_start(m, *s, *p + 2, PATTERN_POSITION);
        else
            *result = capture_start(m, *s, *p + 1, PATTERN_OPEN);
        return DONE;
    case ')': *result = capture_end(m, *s, *p + 1); return DONE;
    case '$':
        if (*p + 1 != m->pattern.len)
            return quantified(m, s, p, result);
        *result = *s == m->subject.len ? *s : PATTERN_NONE;
        return DONE;
    case '%': return escaped(m, s, p, result);
    default: return quantified(m, s, p, result);
    }
}

size_t pattern_match_at(struct pattern_match *m, size_t s, size_t p)
{
    size_t result = PATTERN_NONE;
    if (m->depth >= DEPTH_MAX)
        luaL_error(m->L, "pattern too complex");
    m->depth++;
    for (;;) {
        step(m);
        if (p >= m->pattern.len) {
            result = s;
            break;
        }
        if (item(m, &s, &p, &result) == DONE)
            break;
    }
    m->depth--;
    return result;
}
