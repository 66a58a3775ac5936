// A view of bytes that never owns them: cut, compare, search, and UTF-8.
#ifndef GEN_BASE_STR_H
#define GEN_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gen/base/ascii.h"

// len bytes at ptr; not NUL-terminated. ptr may be NULL only when len is 0.
typedef struct {
    const char *ptr;
    size_t len;
} str;

// A string literal as a view, at no cost. Printf: "%.*s" with STR_ARG(s).
#define STR(literal) ((str){"" literal, sizeof(literal) - 1})
#define STR_ARG(s) (int)(s).len, (s).ptr
#define STR_NONE ((str){0})

str str_c(const char *nul_terminated);
str str_trim(str s);               // ASCII white space, both ends
bool str_eq_nocase(str a, str b);  // ASCII
int str_cmp(str a, str b);         // bytes, shorter first
// Runs of digits by their value: "part2" before "part10". 0 only for equal bytes.
int str_cmp_natural(str a, str b);
bool str_ends(str s, str suffix);
// Index of the first or last c, or of needle; s.len when absent.
size_t str_find(str s, char c);
size_t str_rfind(str s, char c);
size_t str_search(str s, str needle);
bool str_has(str s, str needle);
bool str_has_one(str s, const str *needles, size_t count);
// Takes the part of *rest before the first sep, and moves *rest behind it. False when *rest is
// spent.
bool str_cut(str *rest, char sep, str *part);
// Takes a line without its \n or \r\n.
bool str_line(str *rest, str *line);
// Decimal digits only, no sign, no overflow. False leaves *out alone.
bool str_u64(str s, uint64_t *out);
uint64_t str_hash(str s);  // XXH3, 64 bits

// As utf8_next, which see, for code points of any length.
uint32_t utf8_next_any(str s, size_t *n);

// Decodes one code point at s.ptr; *n is its length in bytes. A malformed byte gives U+FFFD and 1;
// the end of s, U+FFFD and 0. Here are those of one byte to three, nearly all that there are.
static inline uint32_t utf8_next(str s, size_t *n)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (s.len && p[0] < 0x80)
        return *n = 1, p[0];
    if (s.len > 1 && p[0] >= 0xC2 && p[0] < 0xE0 && (p[1] & 0xC0) == 0x80)
        return *n = 2, (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    // Behind 0xE0 may be what is too short for three bytes, behind 0xED U+D800 to U+DFFF.
    if (s.len > 2 && p[0] >= 0xE0 && p[0] < 0xF0 && p[0] != 0xED && (p[1] & 0xC0) == 0x80 &&
        (p[2] & 0xC0) == 0x80 && (p[0] > 0xE0 || p[1] >= 0xA0))
        return *n = 3, (p[0] & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    return utf8_next_any(s, n);
}

// Writes a code point, at most four bytes; how many.
static inline size_t utf8_put(char *to, uint32_t c)
{
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xC0 | c >> 6), to[1] = (char)(0x80 | (c & 0x3F)), 2;
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12), to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18), to[1] = (char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (char)(0x80 | (c >> 6 & 0x3F)), to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

// Offset of the first byte that is not valid UTF-8 or is NUL; s.len when all is well.
size_t utf8_invalid(str s);

// Clamped to s.
static inline str str_slice(str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from >= to)
        return (str){s.ptr ? s.ptr + (from < s.len ? from : s.len) : NULL, 0};
    return (str){s.ptr + from, to - from};
}

static inline bool str_eq(str a, str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_starts(str s, str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

#endif
