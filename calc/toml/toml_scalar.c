// Reads the values of TOML that are written without quotes: numbers, dates, times, true and false.

#include "calc/toml/toml_read.h"

// The word of a value, up to a blank, a comma, a bracket or a comment.
struct word {
    const char *at;
    size_t len, offset;
};

static bool ends_word(char c)
{
    return toml_is_control(c) || c == ' ' || c == '\t' || c == ',' || c == ']' || c == '}' ||
           c == '#';
}

static bool is_word(const struct word *w, const char *text)
{
    size_t n = 0;
    while (n < w->len && text[n] && w->at[n] == text[n])
        n++;
    return n == w->len && !text[n];
}

// The digits w[from, from + n) as a number, or -1.
static int digits(const struct word *w, size_t from, size_t n)
{
    int v = 0;
    if (from + n > w->len)
        return -1;
    for (size_t i = from; i < from + n; i++) {
        if (!toml_is_digit(w->at[i]))
            return -1;
        v = v * 10 + (w->at[i] - '0');
    }
    return v;
}

static bool has(const struct word *w, size_t at, char c)
{
    return at < w->len && w->at[at] == c;
}

static int month_days(int year, int month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

// Whether each number was there (none is -1), and whether it is in its range.
enum date_state { DATE_GOOD, DATE_BAD, DATE_BEYOND };

static enum date_state read_day(const struct word *w, struct toml_date *d)
{
    int year = digits(w, 0, 4), month = digits(w, 5, 2), day = digits(w, 8, 2);
    if (year < 0 || month < 0 || day < 0 || !has(w, 4, '-') || !has(w, 7, '-'))
        return DATE_BAD;
    if (month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return DATE_BEYOND;
    d->year = (int16_t)year;
    d->month = (uint8_t)month;
    d->day = (uint8_t)day;
    return DATE_GOOD;
}

// Digits behind the point of a second as nanoseconds; *at moves behind them. False if there is
// none.
static bool read_fraction(const struct word *w, size_t *at, uint32_t *out)
{
    size_t from = *at;
    uint32_t unit = 100000000;
    for (; *at < w->len && toml_is_digit(w->at[*at]); ++*at) {
        *out += (uint32_t)(w->at[*at] - '0') * unit;
        unit /= 10;
    }
    return *at > from;
}

static enum date_state read_clock(const struct word *w, size_t *at, struct toml_date *d)
{
    int hour = digits(w, *at, 2), minute = digits(w, *at + 3, 2), second = digits(w, *at + 6, 2);
    if (hour < 0 || minute < 0 || second < 0 || !has(w, *at + 2, ':') || !has(w, *at + 5, ':'))
        return DATE_BAD;
    *at += 8;
    if (has(w, *at, '.')) {
        ++*at;
        if (!read_fraction(w, at, &d->nanosecond))
            return DATE_BAD;
    }
    // RFC 3339, section 5.6: a second is 60 where there is a leap second.
    if (hour > 23 || minute > 59 || second > 60)
        return DATE_BEYOND;
    d->hour = (uint8_t)hour;
    d->minute = (uint8_t)minute;
    d->second = (uint8_t)second;
    return DATE_GOOD;
}

static enum date_state read_zone(const struct word *w, size_t *at, struct toml_date *d)
{
    d->zoned = 1;
    if (has(w, *at, 'Z') || has(w, *at, 'z'))
        return ++*at, DATE_GOOD;
    int hour = digits(w, *at + 1, 2), minute = digits(w, *at + 4, 2);
    if (hour < 0 || minute < 0 || !has(w, *at + 3, ':') || !(has(w, *at, '+') || has(w, *at, '-')))
        return DATE_BAD;
    if (hour > 23 || minute > 59)
        return DATE_BEYOND;
    int east = hour * 60 + minute;
    d->offset = (int16_t)(has(w, *at, '-') ? -east : east);
    *at += 6;
    return DATE_GOOD;
}

// The four forms: date T time zone, date T time, date, time.
static enum date_state read_date(const struct word *w, struct toml_value *out)
{
    size_t at = 0;
    bool has_day = has(w, 4, '-');
    enum date_state state = DATE_GOOD;
    out->kind = has_day ? TOML_LOCAL_DATE : TOML_LOCAL_TIME;
    if (has_day) {
        state = read_day(w, &out->date);
        at = 10;
    }
    if (state == DATE_GOOD && (!has_day || w->len > 10)) {
        if (has_day && !has(w, at, 'T') && !has(w, at, 't') && !has(w, at, ' '))
            return DATE_BAD;
        at += has_day;
        state = read_clock(w, &at, &out->date);
        if (has_day)
            out->kind = TOML_LOCAL_DATE_TIME;
    }
    if (state == DATE_GOOD && out->kind == TOML_LOCAL_DATE_TIME && at < w->len) {
        out->kind = TOML_OFFSET_DATE_TIME;
        state = read_zone(w, &at, &out->date);
    }
    return state == DATE_GOOD && at < w->len ? DATE_BAD : state;
}

static int digit_of(char c, int base)
{
    int v = toml_is_digit(c)       ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : 99;
    return v < base ? v : -1;
}

// Digits of a base with single underscores between them; *at moves behind them.
static bool skip_digits(struct toml_reader *r, const struct word *w, size_t *at, int base)
{
    size_t from = *at;
    for (; *at < w->len; ++*at) {
        if (has(w, *at, '_')) {
            bool between = *at > from && *at + 1 < w->len && !has(w, *at - 1, '_') &&
                           digit_of(w->at[*at + 1], base) >= 0;
            if (!between)
                return toml_fail(r, w->offset + *at, TOML_E_UNDERSCORE);
        } else if (digit_of(w->at[*at], base) < 0) {
            break;
        }
    }
    return *at > from || toml_fail(r, w->offset + *at, TOML_E_NUMBER);
}

// The integer w[from, len), which skip_digits has checked.
static bool read_integer(struct toml_reader *r, const struct word *w, size_t from, int base,
                         bool minus, int64_t *out)
{
    uint64_t v = 0, most = (uint64_t)INT64_MAX + minus;
    for (size_t i = from; i < w->len; i++) {
        int digit = digit_of(w->at[i], base);
        if (digit < 0)
            continue;
        if (v > (most - (uint64_t)digit) / (uint64_t)base)
            return toml_fail(r, w->offset, TOML_E_RANGE);
        v = v * (uint64_t)base + (uint64_t)digit;
    }
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

static bool read_based(struct toml_reader *r, const struct word *w, struct toml_value *out)
{
    int base = w->at[1] == 'x' ? 16 : w->at[1] == 'o' ? 8 : 2;
    size_t at = 2;
    out->kind = TOML_INTEGER;
    if (!skip_digits(r, w, &at, base))
        return false;
    if (at < w->len)
        return toml_fail(r, w->offset + at, TOML_E_NUMBER);
    return read_integer(r, w, 2, base, false, &out->integer);
}

// The text of a float without its underscores.
static bool plain_digits(struct toml_reader *r, const struct word *w, struct toml_text *out)
{
    size_t n = 0;
    *out = (struct toml_text){w->at, w->len};
    for (size_t i = 0; i < w->len; i++)
        n += w->at[i] == '_';
    if (!n)
        return true;
    char *to = toml_alloc(r, w->len);
    if (!to)
        return false;
    *out = (struct toml_text){to, w->len - n};
    for (size_t i = 0; i < w->len; i++)
        if (w->at[i] != '_')
            *to++ = w->at[i];
    return true;
}

static bool read_number(struct toml_reader *r, const struct word *w, struct toml_value *out)
{
    size_t sign = has(w, 0, '+') || has(w, 0, '-'), at = sign;
    if (!skip_digits(r, w, &at, 10))
        return false;
    if (has(w, sign, '0') && at > sign + 1)
        return toml_fail(r, w->offset + sign, TOML_E_NUMBER_ZERO);
    if (at == w->len) {
        out->kind = TOML_INTEGER;
        return read_integer(r, w, sign, 10, has(w, 0, '-'), &out->integer);
    }
    out->kind = TOML_FLOAT;
    if (has(w, at, '.') && (at++, !skip_digits(r, w, &at, 10)))
        return false;
    if (has(w, at, 'e') || has(w, at, 'E')) {
        at++;
        at += has(w, at, '+') || has(w, at, '-');
        if (!skip_digits(r, w, &at, 10))
            return false;
    }
    return at == w->len ? plain_digits(r, w, &out->text)
                        : toml_fail(r, w->offset + at, TOML_E_NUMBER);
}

// The word at r->at; a date takes the time behind one space.
static struct word take_word(struct toml_reader *r)
{
    struct word w = {r->text + r->at, 0, r->at};
    while (r->at < r->len && !ends_word(r->text[r->at]))
        r->at++;
    w.len = r->at - w.offset;
    bool is_day = w.len == 10 && has(&w, 4, '-') && has(&w, 7, '-');
    if (is_day && toml_byte(r, 0) == ' ' && toml_is_digit(toml_byte(r, 1))) {
        for (r->at++; r->at < r->len && !ends_word(r->text[r->at]);)
            r->at++;
        w.len = r->at - w.offset;
    }
    return w;
}

bool toml_read_bare(struct toml_reader *r, struct toml_value *out)
{
    struct word w = take_word(r);
    size_t sign = has(&w, 0, '+') || has(&w, 0, '-');
    struct word rest = {w.at + sign, w.len - sign, w.offset + sign};
    if (!w.len)
        return toml_fail_here(r, TOML_E_VALUE);
    out->text = (struct toml_text){w.at, w.len};
    if (is_word(&w, "true") || is_word(&w, "false")) {
        out->kind = TOML_BOOL;
        out->integer = w.at[0] == 't';
        return true;
    }
    if (is_word(&rest, "inf") || is_word(&rest, "nan")) {
        out->kind = TOML_FLOAT;
        return true;
    }
    if (digits(&w, 0, 2) >= 0 && (has(&w, 4, '-') || has(&w, 2, ':'))) {
        enum date_state state = read_date(&w, out);
        return state == DATE_GOOD ||
               toml_fail(r, w.offset, state == DATE_BAD ? TOML_E_DATE : TOML_E_DATE_RANGE);
    }
    if (has(&w, 0, '0') && (has(&w, 1, 'x') || has(&w, 1, 'o') || has(&w, 1, 'b')))
        return read_based(r, &w, out);
    if (rest.len && (toml_is_digit(rest.at[0]) || (sign && rest.at[0] == '_') || rest.at[0] == '.'))
        return read_number(r, &w, out);
    return toml_fail(r, w.offset, TOML_E_WORD);
}
