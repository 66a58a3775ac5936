// Cells: what is one in a code span, in an info string, and in source that is not parsed.
#include "gen/text/cells.h"
#include "gen/text/code_span.h"
#include "tests/unit/base_fixture.h"

static void code_of(const char *literal, const char *want)
{
    str code;
    if (!want) {
        assert_false(cell_inline(str_c(literal), &code));
        return;
    }
    assert_true(cell_inline(str_c(literal), &code));
    assert_str(code, want);
}

static void inline_cells(void **state)
{
    (void)state;
    code_of("{lua} peak", "peak");
    code_of("{lua}\n a + b ", "a + b");
    code_of("{lua}", NULL);
    code_of("{lua} ", NULL);
    code_of("{lua}peak", NULL);
    code_of("{luau} peak", NULL);
    code_of(" {lua} peak", NULL);
    code_of("lua peak", NULL);
}

static void fences(void **state)
{
    (void)state;
    assert_true(cell_fence(STR("{lua}")) && cell_fence(STR("{lua} more")));
    assert_false(cell_fence(STR("lua")) || cell_fence(STR("{lua}x")) || cell_fence(STR("")));
    assert_true(cell_output(STR("output")) && cell_output(STR("output x")));
    assert_false(cell_output(STR("outputs")) || cell_output(STR("")));
}

// Offsets and code of all cells of a source.
static void all_of(const char *source, const char *want)
{
    buf got = BUF_INIT;
    str s = str_c(source), code;
    size_t end = 0, at;
    while ((at = cell_next(s, end, &code, &end)) < s.len)
        buf_printf(&got, "%zu-%zu %.*s;", at, end, STR_ARG(code));
    assert_str(buf_view(&got), want);
    buf_free(&got);
}

static void cells_in_source(void **state)
{
    (void)state;
    all_of("a `{lua} x` b ``{lua} f(\"`\")``", "2-11 x;14-30 f(\"`\");");
    all_of("`` `{lua} shown` `` `{lua} y`", "20-29 y;");
    all_of("`` {lua} padded ``", "0-18 padded;");
    all_of("\\`{lua} escaped` `{lua} z`", "");
    all_of("`unclosed\n\n`{lua} x`", "11-20 x;");
    all_of("``` ` `{lua} x`", "");
    all_of("``` `{lua} x`", "4-13 x;");
    all_of("", "");
    all_of("`{lua} a\nb`", "0-11 a\nb;");
}

static void code_spans_end(void **state)
{
    static const struct {
        const char *text;
        size_t at;
        struct code_span want;
    } rows[] = {
        {"a `b` c", 2, {1, 5, true}},      {"``a`b`` c", 0, {2, 7, true}},
        {"`a\nb`", 0, {1, 5, true}},       {"`a\n\nb`", 0, {1, 1, false}},
        {"`a\n \t\nb`", 0, {1, 1, false}}, {"``a`", 0, {2, 2, false}},
        {"`", 0, {1, 1, false}},           {"`a\n", 0, {1, 1, false}},
        {"``` `` ```", 0, {3, 10, true}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct code_span got = code_span_at(str_c(rows[i].text), rows[i].at);
        assert_int_equal(got.marks, rows[i].want.marks);
        assert_int_equal(got.end, rows[i].want.end);
        assert_int_equal(got.closed, rows[i].want.closed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inline_cells),
        cmocka_unit_test(fences),
        cmocka_unit_test(cells_in_source),
        cmocka_unit_test(code_spans_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
