// Diagnostics: form, order, counting under --strict, what is said once, and the way between
// processes.
#include "tests/unit/base_fixture.h"

#include "gen/base/diag.h"

static const char source[] = "first line\n\tsecond: \xc3\xa9 here\nthird";

static void lines_and_columns_count_code_points(void **state)
{
    (void)state;
    uint32_t line, col;
    str text = str_c(source);
    diag_line_col(text, 0, &line, &col);
    assert_true(line == 1 && col == 1);
    diag_line_col(text, str_search(text, STR("here")), &line, &col);
    assert_true(line == 2 && col == 12);
    diag_line_col(text, 9999, &line, &col);
    assert_true(line == 3 && col == 6);
}

// The place of the last message is where the next is looked for, in the same text only.
static void places_are_found_in_any_order(void **state)
{
    (void)state;
    char memory[] = "a\nb\nc\nd\n";
    struct diag *d = diag_new((struct diag_options){0});
    str text = str_c(memory);
    diag_add(d, D_LINK_BROKEN, DIAG_AT(STR("a.md"), text, 4), "%s", "third");
    diag_add(d, D_LINK_BROKEN, DIAG_AT(STR("a.md"), text, 6), "%s", "fourth");
    diag_add(d, D_LINK_BROKEN, DIAG_AT(STR("a.md"), text, 2), "%s", "second");
    memory[1] = ' ';
    diag_add(d, D_LINK_BROKEN, DIAG_AT(STR("b.md"), text, 6), "%s", "of the next page");
    buf b = BUF_INIT;
    diag_text(d, &b);
    static const char *const wanted[] = {"a.md:2:1:", "a.md:3:1:", "a.md:4:1:", "b.md:3:1:"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_non_null(strstr(b.ptr, wanted[i]));
    buf_free(&b);
    diag_free(d);
}

static void text_is_sorted_and_has_a_caret(void **state)
{
    (void)state;
    struct diag *d = diag_new((struct diag_options){0});
    str text = str_c(source);
    diag_add(d, D_IO_READ, DIAG_FILE(STR("b.md")), "%s", "Permission denied");
    diag_add(d, D_LINK_BROKEN, DIAG_AT(STR("a.md"), text, str_search(text, STR("here"))), "%s",
             "c.md");
    diag_add(d, D_UTF8_NUL, DIAG_AT(STR("a.md"), text, 0), DIAG_PLAIN);
    diag_add(d, D_UTF8_NUL, DIAG_AT(STR("a.md"), text, 0), DIAG_PLAIN);
    buf b = BUF_INIT;
    diag_text(d, &b);
    assert_string_equal(
        b.ptr,
        "a.md:1:1: error: a NUL byte; the file is perhaps not text [nul-byte]\n"
        "    first line\n"
        "    ^\n"
        "a.md:2:12: warning: link to a page or file that does not exist: c.md [link-broken]\n"
        "     second: \xc3\xa9 here\n"
        "               ^\n"
        "b.md: error: cannot read the file: Permission denied [io-read]\n");
    assert_int_equal(diag_count(d, DIAG_NOTE), 3);
    buf_free(&b);
    diag_free(d);
}

static void nothing_steers_the_terminal(void **state)
{
    (void)state;
    struct diag *d = diag_new((struct diag_options){0});
    str text = STR("a\033[31m\xc2\x9b");
    diag_add(d, D_YAML_SYNTAX, DIAG_AT(STR("\033]0;x"), text, 1), "%s", "\r\033[2J");
    buf b = BUF_INIT;
    diag_text(d, &b);
    for (size_t i = 0; i < b.len; i++)
        assert_true((unsigned char)b.ptr[i] >= 0x20 || b.ptr[i] == '\n');
    assert_int_equal(str_search(buf_view(&b), STR("\xc2\x9b")), b.len);
    buf_free(&b);
    diag_free(d);
}

static void strict_raises_its_own_group(void **state)
{
    (void)state;
    static const struct {
        struct diag_options options;
        size_t errors;
    } cases[] = {
        {{0}, 0},
        {{.strict = true}, 1},
        {{.strict_measured = true}, 1},
        {{.strict = true, .strict_measured = true}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diag *d = diag_new(cases[i].options);
        diag_add(d, D_NUMBER_DIFFERS, DIAG_FILE(STR("a")), DIAG_PLAIN);
        diag_add(d, D_FIGURE_STALE, DIAG_FILE(STR("a")), DIAG_PLAIN);
        diag_add(d, D_LINK_UNTRANSLATED, DIAG_FILE(STR("a")), DIAG_PLAIN);
        assert_int_equal(diag_count(d, DIAG_ERROR), cases[i].errors);
        assert_int_equal(diag_count(d, DIAG_NOTE), 3);
        diag_free(d);
    }
}

static void packing_keeps_everything(void **state)
{
    (void)state;
    struct diag *d = diag_new((struct diag_options){0}), *back = diag_new((struct diag_options){0});
    str text = str_c(source);
    for (size_t at = 0; at < text.len; at += 3)
        diag_add(d, D_LUA_ERROR, DIAG_AT(STR("p.lua"), text, at), "%zu", at);
    buf packed = BUF_INIT, one = BUF_INIT, two = BUF_INIT;
    diag_pack(d, &packed);
    assert_true(diag_unpack(back, buf_view(&packed)));
    assert_true(diag_unpack(back, buf_view(&packed)));
    diag_text(d, &one);
    diag_text(back, &two);
    assert_string_equal(one.ptr, two.ptr);
    for (size_t cut = 1; cut < 28; cut++) {
        struct diag *other = diag_new((struct diag_options){0});
        assert_false(diag_unpack(other, str_slice(buf_view(&packed), 0, packed.len - cut)));
        diag_free(other);
    }
    buf_free(&packed);
    buf_free(&one);
    buf_free(&two);
    diag_free(d);
    diag_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_columns_count_code_points),
        cmocka_unit_test(places_are_found_in_any_order),
        cmocka_unit_test(text_is_sorted_and_has_a_caret),
        cmocka_unit_test(nothing_steers_the_terminal),
        cmocka_unit_test(strict_raises_its_own_group),
        cmocka_unit_test(packing_keeps_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
