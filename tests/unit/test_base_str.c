// Views: slicing, searching, cutting, numbers, and UTF-8 at its edges.
#include "tests/unit/base_fixture.h"

static void slices_are_clamped(void **state)
{
    (void)state;
    assert_str(str_slice(STR("abcdef"), 1, 3), "bc");
    assert_str(str_slice(STR("abc"), 1, 99), "bc");
    assert_str(str_slice(STR("abc"), 5, 9), "");
    assert_str(str_slice(STR("abc"), 2, 1), "");
    assert_str(str_slice(STR_NONE, 0, 4), "");
    assert_str(str_trim(STR(" \t\n a b \r\n")), "a b");
    assert_str(str_trim(STR(" \n")), "");
}

static void order_is_by_bytes(void **state)
{
    (void)state;
    assert_int_equal(str_cmp(STR("a"), STR("b")), -1);
    assert_int_equal(str_cmp(STR("ab"), STR("a")), 1);
    assert_int_equal(str_cmp(STR("a"), STR("a")), 0);
    assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
    assert_int_equal(str_cmp(STR("\xc3\xa9"), STR("z")), 1);
    assert_true(str_eq_nocase(STR("Content-TYPE"), STR("content-type")));
    assert_false(str_eq_nocase(STR("a"), STR("ab")));
    assert_false(str_eq_nocase(STR("["), STR("{")));
}

static void numbers_in_names_have_an_order(void **state)
{
    (void)state;
    str names = STR("01 1 2 10 a a-1 a1b a01c a2 a10 b b1/c9 b1/c10 b9 b12a b18446744073709551617");
    str first, second;
    for (str rest = names; str_cut(&rest, ' ', &first);) {
        assert_int_equal(str_cmp_natural(first, first), 0);
        assert_int_equal(str_cmp_natural(STR_NONE, first), -1);
        for (str later = rest; str_cut(&later, ' ', &second);) {
            assert_int_equal(str_cmp_natural(first, second), -1);
            assert_int_equal(str_cmp_natural(second, first), 1);
        }
    }
}

static void searches_answer_the_length_when_absent(void **state)
{
    (void)state;
    str s = STR("a/b/c");
    assert_int_equal(str_find(s, '/'), 1);
    assert_int_equal(str_rfind(s, '/'), 3);
    assert_int_equal(str_find(s, 'x'), 5);
    assert_int_equal(str_search(s, STR("b/c")), 2);
    assert_int_equal(str_search(s, STR("c/")), 5);
    assert_int_equal(str_search(STR_NONE, STR("a")), 0);
    assert_int_equal(str_search(STR_NONE, STR("a short needle")), 0);
    static const str needles[] = {STR("x"), STR("b/"), STR("y")};
    assert_true(str_has(s, STR("c")) && !str_has(s, STR("c/")) && !str_has(STR_NONE, STR("a")));
    assert_true(str_has_one(s, needles, 2) && !str_has_one(s, needles, 1) &&
                !str_has_one(s, needles + 2, 1));
    assert_true(str_starts(s, STR("a/")) && str_ends(s, STR("/c")) &&
                !str_ends(STR("c"), STR("/c")));
}

// At each place of texts around the widths that are compared at once, among bytes that begin and
// end as the needle does.
static void needles_of_any_length_are_found_anywhere(void **state)
{
    (void)state;
    char text[80], needle[40];
    for (size_t n = 1; n <= sizeof needle; n++) {
        memset(needle, 'a', sizeof needle);
        needle[n / 2] = 'b';
        for (size_t len = n; len <= sizeof text; len++)
            for (size_t at = 0; at + n <= len; at++) {
                memset(text, 'a', sizeof text);
                assert_int_equal(str_search((str){text, len}, (str){needle, n}), len);
                memcpy(text + at, needle, n);
                assert_int_equal(str_search((str){text, len}, (str){needle, n}), at);
            }
    }
}

static void cutting_keeps_empty_parts(void **state)
{
    (void)state;
    str rest = STR("a,,b,"), part;
    const char *const wanted[] = {"a", "", "b", ""};
    for (size_t i = 0; i < 4; i++) {
        assert_true(str_cut(&rest, ',', &part));
        assert_str(part, wanted[i]);
    }
    assert_false(str_cut(&rest, ',', &part));
}

static void lines_end_in_any_way(void **state)
{
    (void)state;
    str rest = STR("one\r\ntwo\n\nlast"), line;
    const char *const wanted[] = {"one", "two", "", "last"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(str_line(&rest, &line));
        assert_str(line, wanted[i]);
    }
    assert_false(str_line(&rest, &line));
}

static void numbers_do_not_overflow(void **state)
{
    (void)state;
    uint64_t v = 7;
    assert_true(str_u64(STR("18446744073709551615"), &v));
    assert_true(v == UINT64_MAX);
    v = 7;
    assert_false(str_u64(STR("18446744073709551616"), &v));
    assert_false(str_u64(STR("-1"), &v));
    assert_false(str_u64(STR(""), &v));
    assert_false(str_u64(STR("1 "), &v));
    assert_true(v == 7);
}

// Table 3-7 of the Unicode Standard: what is well-formed, and the nearest that is not.
static void malformed_utf8_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t bad;
    } cases[] = {
        {"plain ascii, long enough", 24},
        {"\xc2\x80", 2},
        {"\xc1\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xe0\x9f\xbf", 0},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"ab\x80", 2},
        {"\xe2\x82", 0},
        {"12345678\xff", 8},
        {"1234\xd0\x96"
         "678\xd0\x96\xd0",
         11},
        {"\xd0\x96 \xe0\xa4\xb9, then plain text\xa4", 23},
        {"\xe0\xa4\xb9\xe0\xa4\xbf", 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_invalid(str_c(cases[i].bytes)), cases[i].bad);
    assert_int_equal(utf8_invalid((str){"abcdefgh\0i", 10}), 8);
    assert_int_equal(utf8_invalid((str){"\xd0\x96"
                                        "ab\0defghijkl",
                                        14}),
                     4);
    assert_int_equal(utf8_invalid((str){"\0", 1}), 0);
    assert_int_equal(utf8_invalid(STR_NONE), 0);
}

static void code_points_come_out(void **state)
{
    (void)state;
    size_t n;
    assert_int_equal(utf8_next(STR("A"), &n), 'A');
    assert_int_equal(utf8_next(STR("\xe0\xa4\xb9"), &n), 0x939);
    assert_int_equal(n, 3);
    assert_int_equal(utf8_next(STR("\xf0\x9f\x98\x80"), &n), 0x1f600);
    assert_int_equal(utf8_next(STR("\xe0\xa4"), &n), 0xfffd);
    assert_int_equal(n, 1);
    assert_int_equal(utf8_next(STR_NONE, &n), 0xfffd);
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_clamped),
        cmocka_unit_test(order_is_by_bytes),
        cmocka_unit_test(numbers_in_names_have_an_order),
        cmocka_unit_test(searches_answer_the_length_when_absent),
        cmocka_unit_test(needles_of_any_length_are_found_anywhere),
        cmocka_unit_test(cutting_keeps_empty_parts),
        cmocka_unit_test(lines_end_in_any_way),
        cmocka_unit_test(numbers_do_not_overflow),
        cmocka_unit_test(malformed_utf8_is_found),
        cmocka_unit_test(code_points_come_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
