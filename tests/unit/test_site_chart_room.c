// Texts of charts that would stand over one another or beyond the edge.
#include "tests/unit/chart_fixture.h"

// Numbers of rows as the language writes them, each with room for itself; the last is in the chart.
static void test_labels_of_lines_have_room(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(
        cell(&f, "chart_lines{title = 't', columns = {'a'}, rows = {{1024, " GIB(
                     1) "}, {2048, " GIB(1) "}, {131072, " GIB(3) "}, {2.5, " GIB(1) "}}}"));
    has(&f, "text-anchor=\"middle\">1.024</text>");
    assert_int_equal(count(&f, ">2.048</text>"), 0);
    has(&f, "<text x=\"332.0\" y=\"226.0\" text-anchor=\"middle\">131.072</text>");
    has(&f, "<th scope=\"row\">2.048</th>");
    has(&f, "<th scope=\"row\">2.5</th>");
    teardown(&f);
}

// The card's name stands where no line runs through it: right of a steep one, below level ones that
// are close above, and in the legend where lines are everywhere.
static void test_the_limit_s_name_has_room(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_lines{title = 't', columns = {'a', 'b'}, limit = given(80, 'GiB'), "
                         "limit_label = 'H100', rows = {{0, " GIB(20) ", " GIB(10) "}, {100, " GIB(
                             290) ", " GIB(60) "}}}"));
    has(&f, "<text x=\"145.0\" y=\"157.3\" text-anchor=\"start\">H100: 81.920 MiB</text>");
    assert_true(cell(&f, "chart_lines{title = 't', columns = {'a'}, limit = given(80, 'GiB'), "
                         "limit_label = 'H100', rows = {{0, " GIB(84) "}, {100, " GIB(84) "}}}"));
    has(&f, "<text x=\"55.0\" y=\"74.0\" text-anchor=\"start\">H100: 81.920 MiB</text>");
    assert_true(cell(&f, "chart_lines{title = 't', columns = {'a', 'b'}, limit = given(80, 'GiB'), "
                         "limit_label = 'H100', rows = {{0, " GIB(84) ", " GIB(76) "}, {100, " GIB(
                             84) ", " GIB(76) "}}}"));
    has(&f, "<text x=\"83.0\" y=\"276.0\" text-anchor=\"start\">H100: 81.920 MiB</text>");
    teardown(&f);
}

// Four lines, four signs.
static void test_lines_have_marks_of_their_own(void **state)
{
    static const char *const marks[] = {"<rect class=\"mark\"", "<circle class=\"mark s1\"",
                                        "points=\"0,-4 4,3 -4,3\"",
                                        "points=\"0,-4.5 4.5,0 0,4.5 -4.5,0\""};
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(
        cell(&f, "chart_lines{title = 't', columns = {'a', 'b', 'c', 'd'}, rows = {{1, " GIB(
                     1) ", " GIB(2) ", " GIB(3) ", " GIB(4) "}}}"));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(count(&f, marks[i]), 2);  // a value and the legend
    teardown(&f);
}

// Signs of Japanese are as wide as two of Latin: the last name goes into the second line.
static void test_names_of_a_step_have_room(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(
        &f, "chart_area{title = 't', columns = {'a'}, operations = '', spans = {{'順伝播', 0, 10}, "
            "{'逆伝播', 10, 90}, {'オプティマイザーの更新', 90, 99}}, rows = {{'x', " GIB(
                1) ", points = (function() local p = {} for i = 1, 100 do p[i] = 2^30 end return "
                   "p end)()}}}"));
    has(&f, "y=\"219.0\" text-anchor=\"middle\">順伝播</text>");
    has(&f, "y=\"219.0\" text-anchor=\"middle\">逆伝播</text>");
    has(&f, "<text x=\"360.0\" y=\"232.0\" text-anchor=\"end\">オプティマイザーの更新</text>");
    teardown(&f);
}

// A name too long for a column has a line for itself.
static void test_long_names_of_a_cloud_have_a_line(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_cloud{title = 't', groups = {{'a', {2^30, 2^31}}, {'torchtune, "
                         "torchtitan, torchao', {2^30, 2^30}}, {'b', {2^30, 2^30}}}}"));
    has(&f, "<text x=\"12.0\" y=\"358.0\" text-anchor=\"start\">a (1)</text>");
    has(&f, "<text x=\"12.0\" y=\"374.0\" text-anchor=\"start\">torchtune, torchtitan, torchao "
            "(1)</text>");
    has(&f, "<text x=\"12.0\" y=\"390.0\" text-anchor=\"start\">b (1)</text>");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels_of_lines_have_room),
        cmocka_unit_test(test_the_limit_s_name_has_room),
        cmocka_unit_test(test_lines_have_marks_of_their_own),
        cmocka_unit_test(test_names_of_a_step_have_room),
        cmocka_unit_test(test_long_names_of_a_cloud_have_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
