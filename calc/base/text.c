// Owns byte-string helpers: comparison without case, decimal numbers with their overflow.

#include "calc/base/text.h"

size_t text_len(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

static char text_fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' || c == ' ' ? '_' : c;
}

bool text_equal(const char *a, size_t a_len, const char *b)
{
    for (size_t i = 0; i < a_len; i++)
        if (!b[i] || a[i] != b[i])
            return false;
    return b[a_len] == 0;
}

bool text_equal_nocase(const char *a, size_t a_len, const char *b)
{
    for (size_t i = 0; i < a_len; i++)
        if (!b[i] || text_fold(a[i]) != text_fold(b[i]))
            return false;
    return b[a_len] == 0;
}

bool text_has_word(const char *words, const char *s, size_t len)
{
    while (*words) {
        size_t n = 0;
        while (words[n] && words[n] != ' ')
            n++;
        bool same = n == len && n > 0;
        for (size_t i = 0; same && i < n; i++)
            same = text_fold(words[i]) == text_fold(s[i]);
        if (same)
            return true;
        words += n;
        while (*words == ' ')
            words++;
    }
    return false;
}

static bool text_digit(char c)
{
    return c >= '0' && c <= '9';
}

// n * 10 + digit, or false.
static bool text_push(uint64_t *n, char digit)
{
    uint64_t d = (uint64_t)(digit - '0');
    if (*n > (UINT64_MAX - d) / 10)
        return false;
    *n = *n * 10 + d;
    return true;
}

bool text_to_u64(const char *s, size_t len, uint64_t *out, bool *overflow)
{
    uint64_t n = 0;
    *overflow = false;
    if (len == 0 || !text_digit(s[0]) || !text_digit(s[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '_' && s[i - 1] != '_')
            continue;
        if (!text_digit(s[i]))
            return false;
        if (!*overflow && !text_push(&n, s[i]))
            *overflow = true;
    }
    *out = n;
    return !*overflow;
}

// A number as it is in the text: digits * 10^exponent.
struct text_decimal {
    uint64_t digits;
    int exponent;
    bool any;
};

static size_t text_mantissa(const char *s, size_t len, struct text_decimal *d)
{
    bool point = false;
    size_t i = 0;
    for (; i < len; i++) {
        if (s[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!text_digit(s[i]))
            break;
        d->any = true;
        if (text_push(&d->digits, s[i]))
            d->exponent -= point;
        else
            d->exponent += !point;  // further digits only scale
    }
    return i;
}

static bool text_exponent(const char *s, size_t len, struct text_decimal *d)
{
    bool negative = len > 1 && s[1] == '-';
    size_t i = 1 + (len > 1 && (s[1] == '-' || s[1] == '+'));
    int e = 0;
    if (i >= len)
        return false;
    for (; i < len; i++) {
        if (!text_digit(s[i]))
            return false;
        e = e < 10000 ? e * 10 + (s[i] - '0') : e;
    }
    d->exponent += negative ? -e : e;
    return true;
}

bool text_to_millionths(const char *s, size_t len, uint64_t *out, bool *overflow)
{
    struct text_decimal d = {0};
    size_t used = text_mantissa(s, len, &d);
    *overflow = false;
    if (!d.any)
        return false;
    if (used < len &&
        !((s[used] == 'e' || s[used] == 'E') && text_exponent(s + used, len - used, &d)))
        return false;
    int shift = d.exponent + 6;
    uint64_t n = d.digits, rest = 0;
    for (; shift < 0 && n > 0; shift++) {
        rest = n % 10;
        n /= 10;
    }
    if (shift < 0)
        rest = 0;
    for (; shift > 0 && n > 0 && !*overflow; shift--)
        *overflow = !text_push(&n, '0');
    *out = n + (rest >= 5);
    return !*overflow;
}

char *text_digits(char *end, uint64_t n)
{
    do
        *--end = (char)('0' + n % 10);
    while (n /= 10);
    return end;
}

bool text_to_mib(const char *s, size_t len, uint64_t *out)
{
    static const struct {
        const char *names;
        uint64_t mib;
    } units[] = {{"mib mb m", 1}, {"gib gb g", 1024}};
    enum { MOST = 1 << 24 };
    uint64_t n = 0;
    bool overflow;
    size_t digits = 0;
    while (digits < len && text_digit(s[digits]))
        digits++;
    size_t unit = digits;
    while (unit < len && (s[unit] == ' ' || s[unit] == '_' || s[unit] == '-'))
        unit++;
    if (!text_to_u64(s, digits, &n, &overflow) || n == 0 || n > MOST)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (text_has_word(units[i].names, s + unit, len - unit)) {
            *out = n * units[i].mib;
            return *out <= MOST;
        }
    return false;
}

void text_append(struct text_line *t, const char *s)
{
    for (; *s && t->len + 1 < TEXT_LINE; s++)
        t->text[t->len++] = *s;
    t->text[t->len] = 0;
}
