// Charts: each kind's drawing, its words and numbers in the page's language, citations, and tables
// that are refused.
#include "tests/unit/base_fixture.h"

#include <unistd.h>

#include "gen/site/figures/figures.h"
#include "gen/site/template/view.h"

struct fixture {
    struct site site;
    struct language language, *list[1];
    struct page page, *pages[1];
    struct document document;
    struct diag *d;
    struct figures *figures;
    buf out, messages;
};

static const char words[] =
    "{\"chart.numbers\":\"Die Zahlen\",\"part.logits\":\"Logits & Loss\",\"records.none\":\"noch "
    "keine <1>\",\"t\":\"Spitze <eager>\",\"figure.missing\":\"noch nicht gemessen\"}";

static void setup(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->d = diag_new((struct diag_options){.quiet = true});
    f->out = f->messages = BUF_INIT;
    struct locale *l = locale_open(STR("de"));
    f->language =
        (struct language){STR("de"), l, catalog_parse(str_c(words), STR("c"), l, NULL, f->d), 0};
    f->list[0] = &f->language;
    f->page =
        (struct page){.document = &f->document, .language = &f->language, .source = STR("a/de.md")};
    f->pages[0] = &f->page;
    f->document = (struct document){
        .key = STR("a"), .pages = f->pages, .source = &f->page, .page_lua = STR("")};
    f->site.languages = f->list;
    f->site.language_count = 1;
    f->site.settings.content_dir = STR("/nonexistent");
    f->figures = figures_load(&f->site, &f->document, f->d);
    figures_begin_page(f->figures);
}

static void teardown(struct fixture *f)
{
    figures_free(f->figures);
    catalog_free(f->language.catalog);
    locale_free(f->language.locale);
    diag_free(f->d);
    buf_free(&f->out);
    buf_free(&f->messages);
}

// No-break spaces of the locale become plain ones, to be read here.
static bool cell(struct fixture *f, const char *code)
{
    buf html = BUF_INIT;
    bool ok = figures_cell(f->figures, &f->page, str_c(code),
                           DIAG_AT(STR("a/de.md"), STR("`x`"), 0), &html);
    buf_clear(&f->out);
    for (size_t i = 0; i < html.len; i++) {
        bool space = html.ptr[i] == '\xc2' && html.ptr[i + 1] == '\xa0';
        buf_char(&f->out, space ? ' ' : html.ptr[i]);
        i += space;
    }
    buf_free(&html);
    return ok;
}

static size_t count(const struct fixture *f, const char *what)
{
    str rest = buf_view((buf *)&f->out), s = str_c(what);
    size_t n = 0;
    for (size_t at; (at = str_search(rest, s)) < rest.len; n++)
        rest = str_slice(rest, at + s.len, rest.len);
    return n;
}

static void has(const struct fixture *f, const char *what)
{
    if (!count(f, what))
        fail_msg("\"%s\" is not in %s", what, f->out.ptr);
}

#define GIB(n) "computed(" #n " * 2^30, \"B\", \"by hand\")"

static void test_stack_draws_parts_in_proportion(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f);
    assert_true(cell(
        &f,
        "chart_stack{title = 't', columns = {'eager', 'compiled'}, rows = {{'part.logits', " GIB(
            3) ", " GIB(1) "}, {'part.rest', " GIB(1) "}}}"));
    has(&f, "<figure class=\"chart\">\n<figcaption>Spitze &lt;eager&gt;</figcaption>");
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
    const struct figure *const *list;
    (void)state;
    setup(&f);
    assert_true(cell(&f, "chart_pairs{title = 't', columns = {'rule', 'computed'}, rows = {{'x', "
                         "claimed(2^31, 'B', 'them'), " GIB(1) "}}}"));
    assert_int_equal(figures_cited(f.figures, &list), 2);
    assert_int_equal(list[0]->kind, FIGURE_CLAIMED);
    assert_string_equal(list[1]->source.ptr, "by hand");
    has(&f, "<a class=\"fig claimed\" href=\"#source-1\"><data value=\"2147483648\">2.048 "
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
    // The card's line lies where the line of 4 GiB does: at 10 GiB on 190 units above y = 206.
    has(&f, "<path class=\"limit\" d=\"M52.0 130.0L352.0 130.0\"/>");
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
    has(&f, "<circle class=\"peak\" cx=\"252.0\"");
    has(&f, ">Spitze: 3,00 GiB</text>");
    has(&f, "<path class=\"step\" d=\"M252.0");
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
    has(&f, "<path class=\"diagonal\" d=\"M52.0 206.0L352.0 16.0\"/>");
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
    has(&f, "<path class=\"dots g0\" d=\"M52.0 306.0h0M342.0 16.0h0M52.0 16.0h0\"/>");
    has(&f, "<path class=\"dots g1\" d=\"M197.0 233.5h0\"/>");
    has(&f, "first &lt;1&gt; (3)");
    has(&f, "Logits &amp; Loss (1)");
    has(&f, "none (0)");
    has(&f, "<path class=\"diagonal\" d=\"M52.0 306.0L342.0 16.0\"/>");
    // half as much again is 0.585 of a factor of two, half of it a whole one
    has(&f, "<path class=\"band\" d=\"M52 306V263.6L299.6 16H342V88.5L124.5 306Z\"/>");
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
    has(&f, "<td></td></tr>\n</tbody></table></div>\n</section>\n");
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
        "chart_stack{title = 't', columns = {'a', 'b', 'c', 'd', 'e'}, rows = {{'x', given(3, "
        "'B')}}}",
        "chart_time{title = 't', columns = {'a'}, rows = {{'x', given(3, 'B')}}, points = {-1}}",
        "chart_time{title = 't', columns = {'a'}, rows = {{'x', given(3, 'B')}}, points = {1 / 0}}",
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
    static const char *const all[] = {"stack", "lines", "time", "scatter", "pairs"};
    for (size_t i = 0; i < 5; i++) {
        buf code = BUF_INIT;
        bool one = i == 2;
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
    assert_string_equal(f.out.ptr,
                        "<section>\n<p><strong>noch keine &lt;1&gt;</strong></p>\n</section>\n");
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stack_draws_parts_in_proportion),
        cmocka_unit_test(test_values_are_cited),
        cmocka_unit_test(test_lines_mark_each_value_and_the_limit),
        cmocka_unit_test(test_time_marks_the_peak),
        cmocka_unit_test(test_scatter_leaves_out_what_is_not_measured),
        cmocka_unit_test(test_bad_tables_are_refused),
        cmocka_unit_test(test_cloud_puts_points_on_logarithms),
        cmocka_unit_test(test_table_holds_words_and_figures),
        cmocka_unit_test(test_nothing_is_drawn_of_zeros),
        cmocka_unit_test(test_records_say_that_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
