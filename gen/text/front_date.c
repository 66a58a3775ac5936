// Dates as the front matter of many generators has them: 2026-05-31, 2026/5/31 10:20 PM, May 31,
// 2026, with or without a zone.
#include <string.h>

#include "gen/text/front.h"

struct date {
    int64_t year, month, day, seconds, zone;
    bool has_time;
};

// Days since 1970-01-01 in the proleptic Gregorian calendar.
// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static int64_t month_days(int64_t y, int64_t m)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    return days[m - 1] + (m == 2 && leap);
}

// Up to most digits at *at; how many there were.
static size_t number(str s, size_t *at, size_t most, int64_t *out)
{
    size_t n = 0;
    int64_t v = 0;
    while (n < most && *at < s.len && ascii_is_digit(s.ptr[*at]))
        v = v * 10 + (s.ptr[*at] - '0'), ++*at, n++;
    *out = v;
    return n;
}

// 2026-05-31, 2026/5/31
static bool read_numbers(str s, size_t *at, struct date *d)
{
    size_t i = *at;
    if (number(s, &i, 4, &d->year) != 4 || i >= s.len || !strchr("-/", s.ptr[i]))
        return false;
    char joint = s.ptr[i++];
    if (!number(s, &i, 2, &d->month) || i >= s.len || s.ptr[i++] != joint ||
        !number(s, &i, 2, &d->day))
        return false;
    *at = i;
    return true;
}

// The month that a word names in English, whole or its first three letters; 0 for none.
static int64_t month_of(str word)
{
    static const str names[] = {STR("january"), STR("february"), STR("march"),
                                STR("april"),   STR("may"),      STR("june"),
                                STR("july"),    STR("august"),   STR("september"),
                                STR("october"), STR("november"), STR("december")};
    while (word.len && word.ptr[word.len - 1] == '.')
        word.len--;
    for (size_t i = 0; i < 12; i++)
        if (str_eq_nocase(word, names[i]) || str_eq_nocase(word, str_slice(names[i], 0, 3)))
            return (int64_t)i + 1;
    return 0;
}

static str next_word(str s, size_t *at)
{
    while (*at < s.len && strchr(" ,\t", s.ptr[*at]))
        ++*at;
    size_t from = *at;
    while (*at < s.len && !strchr(" ,\t", s.ptr[*at]))
        ++*at;
    return str_slice(s, from, *at);
}

static bool is_weekday(str word)
{
    static const char *const names[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
    for (size_t i = 0; i < 7; i++)
        if (word.len >= 3 && str_eq_nocase(str_slice(word, 0, 3), str_c(names[i])) &&
            !month_of(word))
            return true;
    return false;
}

// "May 31, 2026", "31 May 2026", "Sun, 31 May 2026"
static bool read_words(str s, size_t *at, struct date *d)
{
    size_t i = *at, k = 0;
    str first = next_word(s, &i);
    if (is_weekday(first))
        first = next_word(s, &i);
    str second = next_word(s, &i), year = next_word(s, &i), day = second;
    d->month = month_of(first);
    if (!d->month)
        d->month = month_of(second), day = first;
    bool ok = d->month && number(day, &k, 2, &d->day) && year.len == 4;
    k = 0;
    if (!ok || number(year, &k, 4, &d->year) != 4)
        return false;
    *at = i;
    return true;
}

// 10:20, 9:05:30.123 PM
static bool read_time(str s, size_t *at, struct date *d)
{
    int64_t h, m, sec = 0, part;
    size_t i = *at;
    if (!number(s, &i, 2, &h) || i >= s.len || s.ptr[i++] != ':' || number(s, &i, 2, &m) != 2)
        return false;
    if (i < s.len && s.ptr[i] == ':') {
        i++;
        if (number(s, &i, 2, &sec) != 2)
            return false;
        if (i < s.len && (s.ptr[i] == '.' || s.ptr[i] == ','))
            i++, number(s, &i, 18, &part);
    }
    size_t behind = i;
    str word = next_word(s, &behind);
    bool pm = str_eq_nocase(word, STR("pm")), half = pm || str_eq_nocase(word, STR("am"));
    if (half && (h < 1 || h > 12))
        return false;
    if (half)
        h = h % 12 + (pm ? 12 : 0), i = behind;
    if (h > 23 || m > 59 || sec > 60)
        return false;
    d->seconds = h * 3600 + m * 60 + sec;
    d->has_time = true;
    *at = i;
    return true;
}

// "Z", "+02:00", "+0200", "-3", "PST": hours and minutes east of UTC, as seconds.
static bool read_zone(str word, int64_t *seconds)
{
    static const struct {
        str name;
        int8_t hours;
    } names[] = {
        {STR("Z"), 0},    {STR("UTC"), 0},  {STR("GMT"), 0},  {STR("EST"), -5}, {STR("EDT"), -4},
        {STR("CST"), -6}, {STR("CDT"), -5}, {STR("MST"), -7}, {STR("MDT"), -6}, {STR("PST"), -8},
        {STR("PDT"), -7}, {STR("CET"), 1},  {STR("CEST"), 2}, {STR("JST"), 9},
    };
    int64_t h = 0, m = 0;
    size_t i = 1;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (str_eq_nocase(word, names[k].name))
            return *seconds = names[k].hours * 3600, true;
    if (word.len < 2 || (word.ptr[0] != '+' && word.ptr[0] != '-') || !number(word, &i, 2, &h))
        return false;
    if (i < word.len && word.ptr[i] == ':')
        i++;
    if (i < word.len && number(word, &i, 2, &m) != 2)
        return false;
    if (i != word.len || h > 14 || m > 59)
        return false;
    *seconds = (h * 60 + m) * 60 * (word.ptr[0] == '-' ? -1 : 1);
    return true;
}

// What is behind the date: a time, a zone, and the year again, which Ruby's Time#to_s of old put
// there.
static bool read_rest(str s, size_t at, struct date *d)
{
    if (at < s.len && (s.ptr[at] == 'T' || s.ptr[at] == 't'))
        at++;
    else if (at < s.len && !strchr(" ,", s.ptr[at]))
        return false;
    while (at < s.len && s.ptr[at] == ' ')
        at++;
    if (at == s.len)
        return true;
    if (!read_time(s, &at, d))
        return false;
    for (str word = next_word(s, &at); word.len; word = next_word(s, &at)) {
        size_t i = 0;
        int64_t year;
        bool again = word.len == 4 && number(word, &i, 4, &year) == 4 && year == d->year;
        if (!again && !read_zone(word, &d->zone))
            return false;
    }
    return true;
}

bool front_date(str s, int64_t *out)
{
    struct date d = {0};
    size_t at = 0;
    s = str_trim(s);
    if (!read_numbers(s, &at, &d) && !read_words(s, &at, &d))
        return false;
    if (d.month < 1 || d.month > 12 || d.day < 1 || d.day > month_days(d.year, d.month) ||
        !read_rest(s, at, &d))
        return false;
    *out = days_from_civil(d.year, d.month, d.day) * 86400 + d.seconds - d.zone;
    return true;
}
