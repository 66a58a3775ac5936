// Numbers, percents, byte units, dates, plurals, names and word counts in several languages, and
// numbers read back.
#include "tests/unit/base_fixture.h"

#include "gen/text/locale.h"

#define NBSP "\xc2\xa0"
#define NNBSP "\xe2\x80\xaf"

static struct locale *open_locale(const char *tag)
{
    struct locale *l = locale_open(str_c(tag));
    if (!l)
        fail_msg("no locale %s", tag);
    return l;
}

static void numbers(void **state)
{
    static const struct {
        const char *tag;
        double v;
        int decimals;
        const char *want;
    } rows[] = {
        {"en", 4464, 0, "4,464"},
        {"de", 4464, 0, "4.464"},
        {"es", 4464, 0, "4464"},
        {"es", 30130176, 0, "30.130.176"},
        {"fr", 4464, 0, "4" NNBSP "464"},
        {"hi", 30130176, 0, "3,01,30,176"},
        {"en", 0.5, -1, "0.5"},
        {"de", 1.0 / 3, -1, "0,333333"},
        {"en", 2, -1, "2"},
        {"en", 2, 2, "2.00"},
        {"en", 2.5, 0, "3"},
        {"en", -3, 0, "−3"},
        {"en", 1234.567, 2, "1,234.57"},
        {"pt-BR", 1234.5, 1, "1.234,5"},
        {"en", 9007199254740991.0, 0, "9,007,199,254,740,991"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        buf b = BUF_INIT;
        locale_number(l, rows[i].v, rows[i].decimals, &b);
        assert_str(buf_view(&b), rows[i].want);
        if (rows[i].decimals == 0 && rows[i].v == (double)(int64_t)rows[i].v) {
            buf_clear(&b);
            locale_integer(l, (int64_t)rows[i].v, &b);
            assert_str(buf_view(&b), rows[i].want);
        }
        buf_free(&b);
        locale_free(l);
    }
}

// The digits of code and tools, where a site wants them; what was read before is read the same.
static void latin_digits(void **state)
{
    (void)state;
    struct locale *own = open_locale("ar"), *latin = open_locale("ar");
    locale_latin_digits(latin);
    buf a = BUF_INIT, b = BUF_INIT, read = BUF_INIT;
    locale_number(own, 4464, 0, &a);
    locale_number(latin, 4464, 0, &b);
    assert_str(buf_view(&a), "\xd9\xa4\xd9\xac\xd9\xa4\xd9\xa6\xd9\xa4");
    assert_str(buf_view(&b), "4,464");
    assert_int_equal(locale_read_number(latin, STR("4,464"), &read), 5);
    assert_str(buf_view(&read), "4464");
    // GB stands beside GiB, which has no name of another script to be told from.
    buf_clear(&b);
    locale_bytes(latin, 96e9, UNIT_GB, 0, &b);
    assert_str(buf_view(&b), "96" NBSP "GB");
    struct locale *french = open_locale("fr");
    locale_latin_digits(french);
    buf_clear(&b);
    locale_bytes(french, 96e9, UNIT_GB, 0, &b);
    locale_bytes(french, 1048576, UNIT_MiB, 0, &b);
    assert_str(buf_view(&b), "96" NNBSP "Go1" NNBSP "Mio");
    locale_free(french);
    buf_free(&a);
    buf_free(&b);
    buf_free(&read);
    locale_free(own);
    locale_free(latin);
}

static void percents(void **state)
{
    static const struct {
        const char *tag;
        double v;
        int decimals;
        bool sign;
        const char *want;
    } rows[] = {
        {"en", 0.8, 0, false, "80%"},          {"de", 0.805, 1, false, "80,5" NBSP "%"},
        {"fr", 0.8, 0, false, "80" NNBSP "%"}, {"en", 0.03, 0, true, "+3%"},
        {"en", -0.03, 0, true, "−3%"},         {"en", 0, 0, true, "0%"},
        {"hi", 12.5, 0, false, "1,250%"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        buf b = BUF_INIT;
        locale_percent(l, rows[i].v, rows[i].decimals, rows[i].sign, &b);
        if (rows[i].tag[0] == 'f')  // ICU has had both spaces before the sign
            assert_true(str_eq(buf_view(&b), STR("80" NNBSP "%")) ||
                        str_eq(buf_view(&b), STR("80" NBSP "%")) ||
                        str_eq(buf_view(&b), STR("80" NNBSP NBSP "%")));
        else
            assert_str(buf_view(&b), rows[i].want);
        buf_free(&b);
        locale_free(l);
    }
}

static void byte_units(void **state)
{
    static const struct {
        const char *tag;
        double bytes;
        enum byte_unit u;
        int decimals;
        const char *want;
    } rows[] = {
        {"en", 6.5e9, UNIT_GB, 1, "6.5" NBSP "GB"},
        {"es", 6.5e9, UNIT_GB, 1, "6,5" NBSP "GB"},
        {"de", 6.5e9, UNIT_GB, 1, "6,5" NBSP "GB"},
        {"fr", 6.5e9, UNIT_GB, 1, "6,5" NNBSP "Go"},
        {"hi", 6.5e9, UNIT_GB, 1, "6.5" NBSP "GB"},
        {"de", 4464.0 * 1048576, UNIT_MiB, 0, "4.464" NBSP "MiB"},
        {"fr", 4464.0 * 1048576, UNIT_MiB, 0, "4" NNBSP "464" NNBSP "Mio"},
        {"en", 512, UNIT_B, 0, "512" NBSP "B"},
        {"fr", 512, UNIT_B, 0, "512" NNBSP "o"},
        {"en", 2048, UNIT_KiB, 0, "2" NBSP "KiB"},
        {"fr", 6.5e6, UNIT_MB, 1, "6,5" NNBSP "Mo"},
        {"en", 1e3, UNIT_kB, 0, "1" NBSP "kB"},
        {"fr-CA", 1073741824, UNIT_GiB, 2, "1,00" NNBSP "Gio"},
        {"en", 1e12, UNIT_TB, 0, "1" NBSP "TB"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        buf b = BUF_INIT;
        locale_bytes(l, rows[i].bytes, rows[i].u, rows[i].decimals, &b);
        assert_str(buf_view(&b), rows[i].want);
        assert_int_equal(str_find(buf_view(&b), ' '), b.len);  // nothing may break inside
        buf_free(&b);
        locale_free(l);
    }
}

static void unit_names(void **state)
{
    enum byte_unit u;
    (void)state;
    assert_true(byte_unit_parse(STR("MiB"), &u));
    assert_int_equal(u, UNIT_MiB);
    assert_true(byte_unit_size(u) == 1048576.0);
    assert_false(byte_unit_parse(STR("mib"), &u));
    assert_false(byte_unit_parse(STR(""), &u));
}

static void dates(void **state)
{
    static const char *const rows[][2] = {
        {"en", "November 21, 2025"}, {"de", "21. November 2025"}, {"es", "21 de noviembre de 2025"},
        {"fr", "21 novembre 2025"},  {"hi", "21 नवंबर 2025"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i][0]);
        buf b = BUF_INIT;
        locale_date(l, 1763683200, DATE_LONG, &b);
        assert_str(buf_view(&b), rows[i][1]);
        buf_free(&b);
        locale_free(l);
    }
}

static void plurals(void **state)
{
    static const struct {
        const char *tag;
        double n;
        const char *want;
    } rows[] = {
        {"en", 1, "one"}, {"en", 0, "other"}, {"fr", 0, "one"},     {"fr", 1000000, "many"},
        {"hi", 0, "one"}, {"ar", 0, "zero"},  {"ar", 3, "few"},     {"ar", 11, "many"},
        {"ru", 2, "few"}, {"ja", 1, "other"}, {"de", 1.5, "other"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        assert_str(locale_plural(l, rows[i].n), rows[i].want);
        assert_true(locale_has_plural(l, str_c(rows[i].want)));
        assert_false(locale_has_plural(l, STR("several")));
        locale_free(l);
    }
}

static void names_and_scripts(void **state)
{
    static const struct {
        const char *tag, *name, *script;
        bool rtl;
    } rows[] = {
        {"es", "Espa\xc3\xb1ol", "Latn", false},
        {"fr",
         "Fran\xc3\xa7"
         "ais",
         "Latn", false},
        {"de", "Deutsch", "Latn", false},
        {"hi", "\xe0\xa4\xb9\xe0\xa4\xbf\xe0\xa4\xa8\xe0\xa5\x8d\xe0\xa4\xa6\xe0\xa5\x80", "Deva",
         false},
        {"ar", "\xd8\xa7\xd9\x84\xd8\xb9\xd8\xb1\xd8\xa8\xd9\x8a\xd8\xa9", "Arab", true},
        {"zh", "\xe4\xb8\xad\xe6\x96\x87", "Hans", false},
        {"he", NULL, "Hebr", true},
        {"ur", NULL, "Arab", true},
        {"zh-TW", NULL, "Hant", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        if (rows[i].name)
            assert_str(locale_native_name(l), rows[i].name);
        assert_str(locale_script(l), rows[i].script);
        assert_int_equal(locale_rtl(l), rows[i].rtl);
        assert_str(locale_tag(l), rows[i].tag);
        locale_free(l);
    }
}

// Small whole numbers are formatted once and kept: the second time they read the same.
static void small_numbers_are_kept(void **state)
{
    static const struct {
        const char *tag;
        double v;
        int decimals;
        const char *want;
    } rows[] = {
        {"de", 7, -1, "7"},      {"de", 7, 0, "7"},  {"de", 7, 1, "7,0"},  {"de", 7.5, -1, "7,5"},
        {"ar-EG", 63, -1, "٦٣"}, {"fr", 0, -1, "0"}, {"fr", -1, -1, "−1"}, {"fr", 64, -1, "64"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        for (int n = 0; n < 3; n++) {
            buf out = BUF_INIT;
            buf_lit(&out, "x");
            locale_number(l, rows[i].v, rows[i].decimals, &out);
            assert_str(str_slice(buf_view(&out), 1, out.len), rows[i].want);
            buf_free(&out);
        }
        assert_str(locale_plural(l, 1), "one");
        assert_str(locale_plural(l, 1), "one");
        assert_str(locale_plural(l, 63), strcmp(rows[i].tag, "ar-EG") ? "other" : "many");
        locale_free(l);
    }
}

static void likely_regions(void **state)
{
    static const struct {
        const char *tag, *want;
    } rows[] = {
        {"de", "de_DE"},      {"en", "en_US"}, {"es", "es_ES"},      {"fr", "fr_FR"},
        {"hi", "hi_IN"},      {"pt", "pt_BR"}, {"pt-PT", "pt_PT"},   {"zh", "zh_CN"},
        {"zh-Hant", "zh_TW"}, {"ja", "ja_JP"}, {"sr-Latn", "sr_RS"}, {"eo", "eo"},
        {"es-419", "es-419"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        assert_str(locale_region(l), rows[i].want);
        locale_free(l);
    }
}

static void unknown_languages(void **state)
{
    static const char *const tags[] = {
        "",
        "xx",
        "not a tag",
        "e",
        "english",
        "e\xff",
        "en_US.UTF-8",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    (void)state;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        struct locale *l = locale_open(str_c(tags[i]));
        if (l)
            fail_msg("\"%s\" is taken for a language", tags[i]);
    }
}

static void reads_numbers(void **state)
{
    static const struct {
        const char *tag, *text, *want;
        size_t length;
    } rows[] = {
        {"en", "4,464 MiB", "4464", 5},
        {"de", "4.464 MiB", "4464", 5},
        {"es", "4464", "4464", 4},
        {"fr", "4" NNBSP "464 x", "4464", 7},
        {"fr", "6,5 Go", "6.5", 3},
        {"en", "6.5 GB", "6.5", 3},
        {"de", "PyTorch", NULL, 0},
        {"de", "2.5 und", "2.5", 3},
        {"hi", "3,01,30,176", "30130176", 11},
        {"en", "1, 2", "1", 1},
        {"en", "1,000,000.50", "1000000.5", 12},
        {"en", "2.5.1", "2.5.1", 5},
        {"de", "2.5.1", "2.5.1", 5},
        {"de", "30.130.176", "30130176", 10},
        {"en", "5.", "5", 1},
        {"hi", "1.2.\xe0\xa5\xaa", "1.2", 3},
        {"en", "10.0", "10", 4},
        {"hi", "\xe0\xa5\xaa\xe0\xa5\xac", "46", 6},
        {"en", "12,34", "12", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct locale *l = open_locale(rows[i].tag);
        buf b = BUF_INIT;
        size_t n = locale_read_number(l, str_c(rows[i].text), &b);
        if (n != rows[i].length || (rows[i].want && !str_eq(buf_view(&b), str_c(rows[i].want))))
            fail_msg("%s %s: %zu \"%s\"", rows[i].tag, rows[i].text, n, b.ptr);
        buf_free(&b);
        locale_free(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),           cmocka_unit_test(latin_digits),
        cmocka_unit_test(percents),          cmocka_unit_test(byte_units),
        cmocka_unit_test(unit_names),        cmocka_unit_test(dates),
        cmocka_unit_test(plurals),           cmocka_unit_test(names_and_scripts),
        cmocka_unit_test(likely_regions),    cmocka_unit_test(small_numbers_are_kept),
        cmocka_unit_test(unknown_languages), cmocka_unit_test(reads_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
