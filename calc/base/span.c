// Owns views of bytes: cutting, comparing, searching.

#include "calc/base/span.h"

#include "calc/base/text.h"

struct span span_of(const char *s)
{
    return (struct span){s, text_len(s)};
}

struct span span_of_number(uint64_t n, char digits[TEXT_DIGITS])
{
    const char *end = digits + TEXT_DIGITS, *at = text_digits(digits + TEXT_DIGITS, n);
    return (struct span){at, (size_t)(end - at)};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct span span_trim(struct span s)
{
    while (s.len > 0 && is_blank(s.at[0])) {
        s.at++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

bool span_is(struct span s, const char *word)
{
    return text_equal(s.at, s.len, word);
}

bool span_same(struct span a, struct span b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (a.at[i] != b.at[i])
            return false;
    return a.len == b.len;
}

bool span_starts(struct span s, const char *prefix)
{
    size_t n = text_len(prefix);
    return s.len >= n && text_equal(s.at, n, prefix);
}

struct span span_skip(struct span s, size_t n)
{
    n = n > s.len ? s.len : n;
    return (struct span){s.at + n, s.len - n};
}

size_t span_find(struct span s, const char *needle)
{
    size_t n = text_len(needle);
    for (size_t i = 0; i + n <= s.len; i++)
        if (text_equal(s.at + i, n, needle))
            return i;
    return s.len;
}

bool span_matches(struct span name, struct span s)
{
    if (name.len > 0 && name.at[name.len - 1] == '*')
        return s.len >= name.len - 1 &&
               span_same((struct span){s.at, name.len - 1}, (struct span){name.at, name.len - 1});
    return span_same(name, s);
}

bool span_in_words(const char *words, struct span s)
{
    for (struct span rest = span_of(words); rest.len > 0;) {
        size_t n = span_find(rest, " ");
        if (n > 0 && span_matches((struct span){rest.at, n}, s))
            return true;
        rest = span_skip(rest, n + 1);
    }
    return false;
}
