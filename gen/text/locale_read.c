// Numbers read back from prose: a language's separators and digits, so that translations can be
// compared.
#include <unicode/uchar.h>
#include <string.h>

#include "gen/text/locale.h"

struct separators {
    char group[8], decimal[8];
};

static int digit_at(str s, size_t i, size_t *n)
{
    if (i >= s.len)
        return -1;
    uint32_t c = utf8_next(str_slice(s, i, s.len), n);
    return u_charDigitValue((UChar32)c);
}

// What is between digits in a text that has it once, or first.
static void between_digits(str s, char *out, size_t cap)
{
    size_t i = 0, n, start;
    while (digit_at(s, i, &n) >= 0)
        i += n;
    start = i;
    while (i < s.len && digit_at(s, i, &n) < 0)
        i += n;
    size_t len = i < s.len && i - start < cap ? i - start : 0;
    memcpy(out, s.ptr + start, len);
    out[len] = '\0';
}

static struct separators separators_of(const struct locale *l)
{
    struct separators x;
    buf sample = BUF_INIT;
    locale_number(l, 1.5, 1, &sample);
    between_digits(buf_view(&sample), x.decimal, sizeof x.decimal);
    buf_clear(&sample);
    locale_integer(l, 1234567, &sample);
    between_digits(buf_view(&sample), x.group, sizeof x.group);
    buf_free(&sample);
    return x;
}

// Copies a run of digits as ASCII; how many there were. *at moves behind them.
static size_t take_digits(str s, size_t *at, buf *out)
{
    size_t count = 0, n;
    for (int v; (v = digit_at(s, *at, &n)) >= 0; *at += n, count++)
        buf_char(out, (char)('0' + v));
    return count;
}

// "2.5.1", "2026.11.21": two points or more, and not groups of three.
static size_t version_length(str s)
{
    size_t at = 0, points = 0;
    bool groups = true;
    for (;;) {
        size_t digits = 0;
        while (at < s.len && ascii_is_digit(s.ptr[at]))
            at++, digits++;
        groups = groups && (points == 0 ? digits <= 3 : digits == 3);
        if (!digits || at + 1 >= s.len || s.ptr[at] != '.' || !ascii_is_digit(s.ptr[at + 1]))
            break;
        at++, points++;
    }
    return points >= 2 && !groups ? at : 0;
}

// Length of a separator at i that is between groups of digits in any language or in this one.
static size_t group_length(str s, size_t i, const struct separators *x)
{
    static const char *const common[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "'",
                                         "\xe2\x80\x99"};
    str rest = str_slice(s, i, s.len);
    if (*x->group && str_starts(rest, str_c(x->group)))
        return strlen(x->group);
    for (size_t k = 0; k < sizeof common / sizeof *common; k++)
        if (str_starts(rest, str_c(common[k])))
            return strlen(common[k]);
    return 0;
}

static size_t decimal_length(str s, size_t i, const struct separators *x)
{
    str rest = str_slice(s, i, s.len);
    if (*x->decimal && str_starts(rest, str_c(x->decimal)))
        return strlen(x->decimal);
    return str_starts(rest, STR(".")) ? 1 : 0;
}

static size_t count_digits(str s, size_t i)
{
    size_t count = 0, n;
    for (; digit_at(s, i, &n) >= 0; i += n)
        count++;
    return count;
}

static void trim_zeros(buf *out, size_t start)
{
    if (str_find(str_slice(buf_view(out), start, out->len), '.') == out->len - start)
        return;
    while (out->ptr[out->len - 1] == '0')
        out->len--;
    out->len -= out->ptr[out->len - 1] == '.';
    out->ptr[out->len] = '\0';
}

size_t locale_read_number(const struct locale *l, str s, buf *out)
{
    size_t start = out->len, at = version_length(s), n;
    if (digit_at(s, 0, &n) < 0)
        return 0;
    if (at) {
        buf_str(out, str_slice(s, 0, at));
        return at;
    }
    struct separators x = separators_of(l);
    size_t first = take_digits(s, &at, out);
    for (;;) {
        size_t gap = group_length(s, at, &x), digits = count_digits(s, at + gap);
        if (!gap || first > 3 || (digits != 3 && digits != 2))
            break;
        if (digits == 2 && group_length(s, at + gap + 2, &x) == 0)
            break;  // two digits are in the middle only, as in Hindi
        at += gap;
        take_digits(s, &at, out);
    }
    size_t point = decimal_length(s, at, &x);
    if (point && count_digits(s, at + point)) {
        buf_char(out, '.');
        at += point;
        take_digits(s, &at, out);
        trim_zeros(out, start);
    }
    return at;
}
