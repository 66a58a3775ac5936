// Charts: each kind's drawing, its words and numbers in the page's language, citations, and tables
// that are refused.
#include "tests/unit/chart_fixture.h"

static void test_stack_draws_parts_in_proportion(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(
        &f,
        "chart_stack{title = 't', columns = {'eager', 'compiled'}, rows = {{'part.logits', " GIB(
            3) ", " GIB(1) "}, {'part.rest', " GIB(1) "}}}"));
    has(&f, "<figure class=\"chart stack\">\n<figcaption>Spitze &lt;eager&gt;</figcaption>");
    has(&f, "role=\"img\">\n<title>Spitze &lt;eager&gt;</title>\n<desc>Logits &amp; Loss: eager "
            "3.072 MiB, compiled 1.024 MiB; part.rest: eager 1.024 MiB</desc>");
    has(&f, ">eager: 4,00 GiB</text>");
    // The axis goes to 5 GiB over 359 units: 3 GiB are 215.4.
    has(&f, "<rect class=\"cat logits\" x=\"0.00\" y=\"19\" width=\"215.40\"");
    has(&f, "<rect class=\"cat rest\" x=\"215.40\" y=\"19\" width=\"71.80\"");
    has(&f, "<rect class=\"cat logits\" x=\"0.00\" y=\"81\" width=\"71.80\"");
    assert_int_equal(count(&f, "<rect"), 3);
    has(&f, "<span class=\"swatch logits\"></span>A Logits &amp; Loss");
    has(&f, "<td></td>");
    assert_int_equal(count(&f, "style="), 0);
    assert_int_equal(count(&f, "<details>"), 0);
    teardown(&f);
}

static void test_values_are_cited(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_pairs{title = 't', columns = {'rule', 'computed'}, rows = {{'x', "
                         "claimed(2^31, 'B', 'them'), " GIB(1) "}}}"));
    assert_int_equal(f.figures->cited_count, 2);
    assert_int_equal(f.figures->cited[0]->kind, FIGURE_CLAIMED);
    assert_string_equal(f.figures->cited[1]->source.ptr, "by hand");
    has(&f, "<a class=\"fig claimed\" href=\"#source-1\" id=\"cite-1\"><data "
            "value=\"2147483648\">2.048 "
            "MiB</data></a>");
    has(&f, "<details><summary>Die Zahlen</summary>");
    has(&f, "<rect class=\"hollow\" x=\"0.5\" y=\"59\" width=\"278.0\"");
    has(&f, "<rect class=\"full\" x=\"0.5\" y=\"73\" width=\"139.0\"");
    teardown(&f);
}

static void test_lines_mark_each_value_and_the_limit(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_lines{title = 't', x = 'batch', columns = {'eager', 'compiled'}, "
                         "limit = given(4, 'GiB'), limit_label = 'Karte',"
                         "rows = {{1, " GIB(1) ", " GIB(1) "}, {8, " GIB(8) ", " GIB(4) "}}}"));
    has(&f, "<path class=\"line s0\" d=\"M");
    has(&f, "<path class=\"line s1\" d=\"M");
    assert_int_equal(count(&f, "<rect class=\"mark\""), 3);  // two values and the legend
    assert_int_equal(count(&f, "<circle class=\"mark s1\""), 3);
    has(&f, ">Karte: 4.096 MiB</text>");
    has(&f, "; Karte: 4 GiB</desc>");
    // The card's line lies where the line of 4 GiB does: at 10 GiB on 190 units above y = 212.
    has(&f, "<path class=\"limit\" d=\"M52.0 136.0L340.0 136.0\"/>");
    teardown(&f);
}

// As French does, which sets a space before a colon.
static void test_names_are_joined_to_values_as_the_language_does(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    catalog_free(f.language.catalog);
    f.language.catalog = catalog_parse(STR("{\"chart.named\":\"{name} : {value}\"}"), STR("c"),
                                       f.language.locale, NULL, f.d);
    assert_true(cell(&f, "chart_lines{title = 't', columns = {'eager'}, limit = given(4, 'GiB'), "
                         "limit_label = 'Karte', rows = {{1, " GIB(1) "}, {8, " GIB(8) "}}}"));
    has(&f, "<desc>1 : eager 1.024 MiB; 8 : eager 8.192 MiB; Karte : 4 GiB</desc>");
    has(&f, ">Karte : 4.096 MiB</text>");
    assert_true(
        cell(&f, "chart_nest{title = 't', columns = {'a'}, rows = {{'card', " GIB(4) "}}}"));
    has(&f, ">A  card : 4.096 MiB</text>");
    assert_true(
        cell(&f, "chart_stack{title = 't', columns = {'eager'}, rows = {{'a', " GIB(4) "}}}"));
    has(&f, ">eager : 4,00 GiB</text>");
    assert_true(cell(&f, "chart_time{title = 't', columns = {'peak'}, rows = {{'forward', " GIB(
                             3) "}}, points = {0, 3 * 2^30, 2^30}, marks = {1}}"));
    has(&f, ">peak : 3,00 GiB</text>");
    assert_true(cell(&f, "chart_cells{title = 't', columns = {'a'}, limit = given(1, 'GiB'), "
                         "limit_label = 'Karte', over = 'zu viel', rows = {{'a', " GIB(2) "}}}"));
    has(&f, ">Karte : 1 GiB</text>");
    has(&f, ">zu viel : 1.024 MiB</text>");
    teardown(&f);
}

static void test_time_marks_the_peak(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_time{title = 't', columns = {'Spitze'}, rows = {{'forward', " GIB(
                             3) "}}, points = {0, 2^30, 3 * 2^30, 2^30},"
                                "marks = {2}}"));
    has(&f, "<circle class=\"peak\" cx=\"244.0\"");
    has(&f, ">Spitze: 3,00 GiB</text>");
    has(&f, "<path class=\"step\" d=\"M244.0");
    teardown(&f);
}

static void test_scatter_leaves_out_what_is_not_measured(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(
        &f, "chart_scatter{title = 't', columns = {'predicted', 'measured'}, band = 0.05, rows = "
            "{{'a', " GIB(4) ", " GIB(4) "}, {'b', " GIB(2) ", measured('x', {value = 'v'})}}}"));
    assert_int_equal(count(&f, "<circle class=\"mark\""), 1);
    has(&f, "noch nicht gemessen");
    has(&f, "<path class=\"band\"");
    has(&f, "<path class=\"diagonal\" d=\"M52.0 212.0L340.0 22.0\"/>");
    teardown(&f);
}

static void test_cloud_puts_points_on_logarithms(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_cloud{title = 't', x = 'measured', y = 'predicted', band = 0.5, "
                         "groups = {{'first <1>', {2^30, 2^30, 2^34, 2^34, 2^30, 2^34}}, "
                         "{'part.logits', {2^32, 2^31}}, {'none', {}}}}"));
    // corners of the square, then its middle by powers of two
    has(&f, "<path class=\"dots g0\" d=\"M52.0 306.0h0M336.0 22.0h0M52.0 22.0h0\"/>");
    has(&f, "<path class=\"dots g1\" d=\"M194.0 235.0h0\"/>");
    has(&f, "first &lt;1&gt; (3)");
    has(&f, "Logits &amp; Loss (1)");
    has(&f, "none (0)");
    has(&f, "<path class=\"diagonal\" d=\"M52.0 306.0L336.0 22.0\"/>");
    // half as much again is 0.585 of a factor of two, half of it a whole one
    has(&f, "<path class=\"band\" d=\"M52 306V264.5L294.5 22H336V93.0L123.0 306Z\"/>");
    assert_int_equal(count(&f, "class=\"grid\""), 10);
    assert_int_equal(count(&f, "nan") + count(&f, "inf"), 0);
    teardown(&f);
}

static void test_table_holds_words_and_figures(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(
        &f, "table_of{title = 't', columns = {'x', 'part.logits', 'y'}, rows = {{'<a>', MiB(" GIB(
                1) "), 'part.logits'}, "
                   "{'b', measured('x', {value = 'v', optional = true})}}}"));
    has(&f, "aria-label=\"Spitze &lt;eager&gt;\"");
    has(&f, "<th scope=\"col\">x</th><th scope=\"col\" class=\"right\">Logits &amp; Loss</th><th "
            "scope=\"col\">y</th>");
    has(&f, "<tr><th scope=\"row\">&lt;a&gt;</th><td class=\"right\">");
    has(&f, "1.024 MiB");
    has(&f, "<td>Logits &amp; Loss</td></tr>");
    has(&f, "noch nicht gemessen");
    has(&f, "<td></td></tr>\n</tbody></table></div>\n</div>\n");
    teardown(&f);
}

static void test_boxes_lie_in_each_other(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_nest{title = 't', columns = {'a'}, rows = {{'card', " GIB(
                             4) "}, {'process', " GIB(2) "}, {'part.logits', " GIB(1) "}}}"));
    has(&f, "<rect class=\"nest\" x=\"0.5\" y=\"0.5\" width=\"359.0\"");
    has(&f, "<rect class=\"nest\" x=\"0.5\" y=\"22.5\" width=\"179.5\"");
    has(&f, "<rect class=\"nest\" x=\"0.5\" y=\"44.5\" width=\"89.8\"");
    has(&f, ">C  Logits &amp; Loss: 1.024 MiB</text>");
    assert_int_equal(count(&f, "<details>"), 0);
    teardown(&f);
}

static void test_a_chain_leaves_out_stages(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(
        cell(&f, "chart_chain{title = 't', columns = {'eager', 'compiled'}, rows = {{'a', " GIB(
                     1) ", " GIB(1) "}, {'b', " GIB(2) "}, {'c', " GIB(2) ", " GIB(1) "}}}"));
    assert_int_equal(count(&f, "<rect class=\"cat g"), 5);
    assert_int_equal(count(&f, "<path class=\"line\""), 3);  // two arrows, and one over the gap
    has(&f, "<rect class=\"cat g1\" x=\"125.3\" y=\"20.0\" width=\"109.3\" height=\"70.0\"/>");
    has(&f, "<span class=\"swatch g2\"></span>C c");
    teardown(&f);
}

static void test_a_block_counts_bytes(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f,
                     "chart_block{title = 't', unit = 'B', columns = {'bytes'}, rows = {{'ln_1', "
                     "computed(8, 'B', 'x')}, {'mm', computed(3072, 'B', 'x')}, {'none', "
                     "computed(0, 'B', 'x')}}}"));
    has(&f, ">3.072 B</text>");
    has(&f, "<rect class=\"cat activations\" x=\"150.0\" y=\"37.0\" width=\"120.0\"");
    assert_int_equal(count(&f, "<rect"), 2);
    assert_int_equal(count(&f, "<circle class=\"hollow\""), 1);
    assert_int_equal(count(&f, "<path class=\"flow\""), 2);
    teardown(&f);
}

static void test_segments_show_their_gaps(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(
        cell(&f, "chart_segments{title = 't', columns = {'reserved', 'used'}, rows = {{'1', " GIB(
                     4) ", " GIB(2) ", points = {2^30, -2^31, 2^30}}}}"));
    assert_int_equal(count(&f, "<rect class=\"gap\""), 2);  // one is the legend's
    has(&f, "<rect class=\"cat parameters\" x=\"0.5\" y=\"40.0\" width=\"89.8\"");
    has(&f, "<rect class=\"cat parameters\" x=\"269.8\" y=\"40.0\" width=\"89.8\"");
    teardown(&f);
}

static void test_cells_hang_over_the_card(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_cells{title = 't', columns = {'a'}, limit = " GIB(
                             1) ", limit_label = 'card', over = 'too much', rows = "
                                "{{'part.logits', " GIB(1) "}, {'x', computed(2^27, 'B', 'x')}}}"));
    has(&f, "<path class=\"cell logits\" d=\"M0.5 18.5h14v14h-14z");
    // 16 cells fill a line; the two of the next row lie below the card's edge.
    has(&f, "<path class=\"cell cat\" d=\"M0.5 41.5h14v14h-14zM15.5 41.5h14v14h-14z\"/>");
    has(&f, ">too much: 128 MiB</text>");
    assert_int_equal(count(&f, "free"), 0);
    assert_true(
        cell(&f, "chart_cells{title = 't', columns = {'a'}, limit = " GIB(
                     1) ", limit_label = 'card', rows = {{'x', computed(2^27, 'B', 'x')}}}"));
    has(&f, "<path class=\"cell free\" d=\"M30.5 18.5h14");
    teardown(&f);
}

static void test_areas_are_stacked(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(
        cell(&f, "chart_area{title = 't', columns = {'Spitze'}, operations = 'mm*2|add*1', spans = "
                 "{{'forward', 0, 1}, {'backward', 1, 2}}, rows = {{'part.logits', " GIB(
                     1) ", points = {0, 2^30, 2^30}}, {'x', " GIB(2) ", points = {0, 0, 2^31}}}}"));
    has(&f, "data-moments=\"3\" data-operations=\"mm*2|add*1\"");
    has(&f, "<circle class=\"peak\" cx=\"352.0\"");
    has(&f, ">Spitze: 3,00 GiB</text>");
    // The axis goes to 4 GiB over 190 units from 206 up; the upper area is drawn first.
    has(&f, "<path class=\"part cat\" d=\"M52 206L52.0 206L202.0 158.5L352.0 63.5V206Z\"/>\n<path "
            "class=\"part "
            "logits\" d=\"M52 206L52.0 206L202.0 158.5L352.0 158.5V206Z\"/>");
    has(&f, ">backward</text>");
    teardown(&f);
}

static void test_lines_have_a_slider(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(
        cell(&f, "chart_lines{title = 't', slider = 'move', columns = {'a'}, limit = " GIB(
                     2) ", limit_label = 'card', rows = {{1, " GIB(1) "}, {2, " GIB(3) "}}}"));
    has(&f, "<div class=\"slider js-only\" data-limit=\"2147483648\" data-fits=\"calc.fits\" "
            "data-not=\"calc.not\">");
    has(&f, "<label>move <input type=\"range\" min=\"0\" max=\"1\" value=\"1\"></label>");
    teardown(&f);
}

static void test_bad_tables_are_refused(void **state)
{
    static const char *const bad[] = {
        "chart_cloud{}",
        "chart_cloud{title = 't', groups = {}}",
        "chart_cloud{title = 't', groups = {{'a', {}}}}",
        "chart_cloud{title = 't', groups = {{'a', {1, 2, 3}}}}",
        "chart_cloud{title = 't', groups = {{'a', {0, 2}}}}",
        "chart_cloud{title = 't', groups = {{'a', {1 / 0, 2}}}}",
        "chart_cloud{title = 't', groups = {{'a', {0 / 0, 2}}}}",
        "chart_cloud{title = 't', groups = {{'a', {'x', 2}}}}",
        "chart_cloud{title = 't', groups = {{{}, {1, 2}}}}",
        "chart_cloud{title = 't', band = -1, groups = {{'a', {1, 2}}}}",
        "chart_cloud{title = 't', groups = {1}}",
        "table_of{}",
        "table_of{title = 't', columns = {'a'}}",
        "table_of{title = 't', columns = {}, rows = {{'a'}}}",
        "table_of{title = 't', columns = {'a'}, rows = {1}}",
        "table_of{title = 't', columns = {'a'}, rows = {{1}}}",
        "table_of{title = 't', columns = {'a'}, rows = {{{}}}}",
        "table_of{title = 't', columns = {'a'}, rows = {{chart_cloud}}}",
        "table_of{columns = {'a'}, rows = {{'x'}}}",
        "chart_stack{}",
        "chart_stack{title = 't', columns = {'a'}}",
        "chart_stack{title = 't', columns = {'a'}, rows = {}}",
        "chart_stack{title = 't', columns = {'a'}, rows = {{'x', 3}}}",
        "chart_stack{title = 't', columns = {'a'}, rows = {{'x', given(3, 's')}}}",
        "chart_stack{title = 't', columns = {'a'}, rows = {3}}",
        "chart_stack{title = 't', columns = {'a'}, rows = {{}}}",
        "chart_pairs{title = 't', columns = {'a'}, rows = {{'x', given(3, 'B')}}}",
        "chart_stack{title = 't', columns = {'a', 'b', 'c', 'd', 'e'}, rows = {{'x', given(3)}}}",
        "chart_time{title = 't', columns = {'a'}, rows = {{'x', given(3, 'B')}}, points = {-1}}",
        "chart_time{title = 't', columns = {'a'}, rows = {{'x', given(3, 'B')}}, points = {1 / 0}}",
        "chart_area{title = 't', columns = {'a'}, rows = {{'x', given(3, 'B'), points = {1 / 0}}}}",
        "chart_area{title = 't', columns = {'a'}, rows = {{'x', given(3, 'B'), points = {'y'}}}}",
        "chart_area{title = 't', columns = {'a'}, spans = {3}, rows = {{'x', given(3, 'B')}}}",
        "chart_area{title = 't', columns = {'a'}, spans = {{'s'}}, rows = {{'x', given(3, 'B')}}}",
        "chart_block{title = 't', columns = {'a'}, unit = 's', rows = {{'x', given(3, 'B')}}}",
        "chart_tree{title = 't', root = {'', 'q?', {'', 'x', to = '#x'}}}",
        "chart_tree{title = 't', root = {'', 'q?', {'a', 'x', to = 'x.html'}}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fixture f;
        setup(&f);
        if (cell(&f, bad[i]))
            fail_msg("%s is taken", bad[i]);
        assert_int_equal(diag_count(f.d, DIAG_ERROR), 1);
        teardown(&f);
    }
}

static void test_nothing_is_drawn_of_zeros(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    static const char *const all[] = {"stack", "lines", "time",     "scatter", "pairs", "nest",
                                      "chain", "block", "segments", "cells",   "area"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        buf code = BUF_INIT;
        bool one =
            !strstr("stack lines scatter pairs chain segments", all[i]);  // kinds of one column
        buf_printf(
            &code,
            "chart_%s{title = 't', columns = {'a'%s}, rows = {{0, given(0, 'B'), given(0, 'B')}}}",
            all[i], one ? "" : ", 'b'");
        assert_true(cell(&f, code.ptr));
        assert_int_equal(count(&f, "nan") + count(&f, "inf"), 0);
        buf_free(&code);
    }
    teardown(&f);
}

static void test_records_say_that_there_are_none(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "records()"));
    assert_string_equal(
        f.out.ptr, "<div class=\"block\">\n<p><strong>noch keine &lt;1&gt;</strong></p>\n</div>\n");
    teardown(&f);
}

// In Arabic the shapes are turned over, a text at x is as far from the other edge, and numbers are
// isolated.
static void test_right_to_left_is_mirrored(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    locale_free(f.language.locale);
    f.language.locale = locale_open(STR("ar"));
    assert_true(cell(&f, "chart_stack{title = 't', columns = {'a'}, rows = {{'x', " GIB(
                             3) "}, {'y', " GIB(1) "}}}"));
    has(&f, "<svg class=\"mirrored\"");
    has(&f, "<g transform=\"translate(360 0) scale(-1 1)\">\n<path class=\"grid\"");
    has(&f, "</g>\n<text x=\"359.5\" y=\"79.0\" text-anchor=\"start\">\xe2\x81\xa6");
    assert_true(cell(&f, "chart_time{title = 't', columns = {'a'}, rows = {{'x', " GIB(
                             1) "}}, points = {0, 2^30}}"));
    assert_int_equal(count(&f, "mirrored"), 0);
    teardown(&f);
}

static void test_a_tree_leads_to_sections(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    const char *tree =
        "chart_tree{title = 't', root = {'', 'q?', {'no', 'part.logits', to = '#here'}, {'yes', "
        "'one sentence that is much too long for a single line of a picture', to = '#x'}}}";
    assert_true(cell(&f, tree));
    has(&f, "<path class=\"grid\" d=\"M9.5 22.5V42.5H18.5\"/>");
    has(&f, "y=\"44.5\">no</text>\n<a href=\"#here\">\n<text x=\"24.5\" y=\"60.5\">Logits &amp; "
            "Loss</text>\n</a>");
    assert_int_equal(count(&f, "</text>\n</a>"), 2);
    assert_int_equal(count(&f, "<text"), 6);
    locale_free(f.language.locale);
    f.language.locale = locale_open(STR("ar"));
    assert_true(cell(&f, tree));
    has(&f, "<path class=\"grid\" d=\"M350.5 22.5V42.5H341.5\"/>");
    teardown(&f);
}

// In DejaVu Sans six of these words are 336 units wide, in a box of 330; five bold ones are 313.
static void test_a_tree_breaks_lines_for_wide_fonts(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
#define FIVE "bounded bounded bounded bounded bounded"
    assert_true(cell(&f, "chart_tree{title = 't', root = {'', 'q?', {'" FIVE "', '" FIVE
                         " bounded', to = '#x'}}}"));
    has(&f, ">" FIVE "</text>\n<a href=\"#x\">");
    has(&f, ">" FIVE "</text>\n<text x=\"24.5\" y=\"76.5\">bounded</text>");
    assert_true(cell(&f, "chart_tree{title = 't', root = {'', 'q?', {'" FIVE
                         " bounded', 'x', to = '#x'}}}"));
    has(&f, ">" FIVE "</text>\n<text class=\"answer\" x=\"24.5\" y=\"60.5\">bounded</text>");
#undef FIVE
    teardown(&f);
}

static void test_kinds_draw_their_lines(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "kinds()"));
    has(&f, "<tr><th scope=\"row\"><span class=\"fig claimed\">figure.kind.claimed</span></th>");
    assert_int_equal(count(&f, "<tr>"), 6);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stack_draws_parts_in_proportion),
        cmocka_unit_test(test_values_are_cited),
        cmocka_unit_test(test_lines_mark_each_value_and_the_limit),
        cmocka_unit_test(test_names_are_joined_to_values_as_the_language_does),
        cmocka_unit_test(test_time_marks_the_peak),
        cmocka_unit_test(test_scatter_leaves_out_what_is_not_measured),
        cmocka_unit_test(test_boxes_lie_in_each_other),
        cmocka_unit_test(test_a_chain_leaves_out_stages),
        cmocka_unit_test(test_a_block_counts_bytes),
        cmocka_unit_test(test_segments_show_their_gaps),
        cmocka_unit_test(test_cells_hang_over_the_card),
        cmocka_unit_test(test_areas_are_stacked),
        cmocka_unit_test(test_lines_have_a_slider),
        cmocka_unit_test(test_bad_tables_are_refused),
        cmocka_unit_test(test_cloud_puts_points_on_logarithms),
        cmocka_unit_test(test_table_holds_words_and_figures),
        cmocka_unit_test(test_nothing_is_drawn_of_zeros),
        cmocka_unit_test(test_records_say_that_there_are_none),
        cmocka_unit_test(test_right_to_left_is_mirrored),
        cmocka_unit_test(test_a_tree_leads_to_sections),
        cmocka_unit_test(test_a_tree_breaks_lines_for_wide_fonts),
        cmocka_unit_test(test_kinds_draw_their_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
