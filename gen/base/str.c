// Views of bytes: comparing, searching, cutting, hashing, and UTF-8 decoding and validation.
#include "gen/base/str.h"

#include <endian.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gen/base/bytes16.h"

str str_c(const char *nul_terminated)
{
    return nul_terminated ? (str){nul_terminated, strlen(nul_terminated)} : STR_NONE;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

str str_trim(str s)
{
    while (s.len && is_space(s.ptr[0]))
        s.ptr++, s.len--;
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool str_eq_nocase(str a, str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
            return false;
    return true;
}

int str_cmp(str a, str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    if (order)
        return order < 0 ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
}

// The digits at *at without the zeros that lead, and *at behind them. Empty where there are none.
static str digits_at(str s, size_t *at)
{
    size_t from = *at, end = from;
    while (end < s.len && ascii_is_digit(s.ptr[end]))
        end++;
    *at = end;
    while (from + 1 < end && s.ptr[from] == '0')
        from++;
    return str_slice(s, from, end);
}

int str_cmp_natural(str a, str b)
{
    size_t i = 0, k = 0;
    while (i < a.len && k < b.len) {
        if (ascii_is_digit(a.ptr[i]) && ascii_is_digit(b.ptr[k])) {
            str x = digits_at(a, &i), y = digits_at(b, &k);
            int order = x.len != y.len ? (x.len < y.len ? -1 : 1) : str_cmp(x, y);
            if (order)
                return order;
        } else if (a.ptr[i] == b.ptr[k]) {
            i++, k++;
        } else {
            break;
        }
    }
    int order = str_cmp(str_slice(a, i, a.len), str_slice(b, k, b.len));
    return order ? order : str_cmp(a, b);
}

bool str_ends(str s, str suffix)
{
    return s.len >= suffix.len &&
           (suffix.len == 0 || memcmp(s.ptr + s.len - suffix.len, suffix.ptr, suffix.len) == 0);
}

size_t str_find(str s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return at ? (size_t)(at - s.ptr) : s.len;
}

size_t str_rfind(str s, char c)
{
    const char *at = s.len ? memrchr(s.ptr, c, s.len) : NULL;
    return at ? (size_t)(at - s.ptr) : s.len;
}

// A long needle is left to memmem(), which is never worse than linear. A short one is looked for
// where its first byte and its last are, at sixteen places at a time: several times faster.
size_t str_search(str s, str needle)
{
    size_t i = 0, places = s.len >= needle.len ? s.len - needle.len + 1 : 0;
    if (needle.len == 0)
        return 0;
    if (places == 0)
        return s.len;
    if (needle.len > 32) {
        const char *at = memmem(s.ptr, s.len, needle.ptr, needle.len);
        return at ? (size_t)(at - s.ptr) : s.len;
    }
    bytes16 first = bytes16_of(needle.ptr[0]), last = bytes16_of(needle.ptr[needle.len - 1]);
    const char *ends = s.ptr + needle.len - 1;
    while (i < places) {
        if (places - i >= 16 && !bytes16_any((bytes16)(bytes16_at(s.ptr + i) == first) &
                                             (bytes16)(bytes16_at(ends + i) == last))) {
            i += 16;
            continue;
        }
        for (size_t end = places - i < 16 ? places : i + 16; i < end; i++)
            if (s.ptr[i] == needle.ptr[0] && !memcmp(s.ptr + i, needle.ptr, needle.len))
                return i;
    }
    return s.len;
}

bool str_has(str s, str needle)
{
    return str_search(s, needle) < s.len;
}

bool str_has_one(str s, const str *needles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_has(s, needles[i]))
            return true;
    return false;
}

bool str_cut(str *rest, char sep, str *part)
{
    if (!rest->ptr)
        return false;
    size_t end = str_find(*rest, sep);
    *part = (str){rest->ptr, end};
    // A NULL pointer marks the end, so that "a," has an empty second part and "a" has none.
    if (end == rest->len)
        *rest = STR_NONE;
    else
        *rest = (str){rest->ptr + end + 1, rest->len - end - 1};
    return true;
}

bool str_line(str *rest, str *line)
{
    if (rest->len == 0)
        return false;
    size_t end = str_find(*rest, '\n');
    *line = (str){rest->ptr, end};
    size_t used = end < rest->len ? end + 1 : end;
    *rest = (str){rest->ptr + used, rest->len - used};
    if (line->len && line->ptr[line->len - 1] == '\r')
        line->len--;
    return true;
}

bool str_u64(str s, uint64_t *out)
{
    uint64_t v = 0;
    if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (!ascii_is_digit(s.ptr[i]))
            return false;
        unsigned digit = (unsigned)(s.ptr[i] - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

uint64_t str_hash(str s)
{
    return XXH3_64bits(s.len ? s.ptr : "", s.len);
}

// The length that a lead byte announces, and the least code point that may be written so long (RFC
// 3629, section 4).
static size_t utf8_length(unsigned char lead, uint32_t *bits, uint32_t *least)
{
    if (lead < 0x80)
        return *bits = lead, *least = 0, 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        return *bits = lead & 0x1fu, *least = 0x80, 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return *bits = lead & 0x0fu, *least = 0x800, 3;
    if (lead >= 0xf0 && lead <= 0xf4)
        return *bits = lead & 0x07u, *least = 0x10000, 4;
    return 0;
}

// 0 where the bytes at s.ptr are no code point.
static size_t utf8_decode(str s, uint32_t *out)
{
    uint32_t v, least;
    size_t n = s.len ? utf8_length((unsigned char)s.ptr[0], &v, &least) : 0;
    if (n == 0 || n > s.len)
        return 0;
    for (size_t i = 1; i < n; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if ((c & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (c & 0x3fu);
    }
    if (v < least || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
        return 0;
    *out = v;
    return n;
}

uint32_t utf8_next_any(str s, size_t *n)
{
    uint32_t v;
    *n = utf8_decode(s, &v);
    if (*n)
        return v;
    *n = s.len ? 1 : 0;
    return 0xfffd;
}

// How many of eight bytes at p are ASCII and not NUL, up to the first that is not.
static size_t plain_of8(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    w = le64toh(w);
    uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u,
             other = (w | (w - ones)) & high;
    return other ? (size_t)__builtin_ctzll(other) / 8 : 8;
}

size_t utf8_invalid(str s)
{
    size_t i = 0, n;
    while (i < s.len) {
        for (size_t plain = 8; plain == 8 && s.len - i >= 8; i += plain)
            plain = plain_of8(s.ptr + i);
        if (i < s.len && (unsigned char)s.ptr[i] < 0x80) {
            if (!s.ptr[i])
                return i;
            i++;
        }
        for (; i < s.len && (unsigned char)s.ptr[i] >= 0x80; i += n) {
            utf8_next((str){s.ptr + i, s.len - i}, &n);
            if (n == 1)
                return i;
        }
    }
    return s.len;
}
