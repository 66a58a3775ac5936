// Worked examples with their output, and the check of a document's numbers.
#include "tests/unit/figures_fixture.h"

static bool example(struct fixture *f, const char *code, const char *wanted)
{
    forget(f);
    buf file = BUF_INIT, text = BUF_INIT;
    buf_printf(&file, "%s/a/de.md", f->dir);
    fs_read(file.ptr, 0, &text);
    size_t at = str_search(buf_view(&text), str_c(code));
    bool ok =
        figures_example(f->figures, &f->page, str_c(code), str_c(wanted),
                        DIAG_AT(buf_view(&file), buf_view(&text), at < text.len ? at : 0), &f->out);
    buf_free(&file);
    buf_free(&text);
    return ok;
}

static void worked_examples(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f, figures_lua);
    assert_true(example(f, "local x = 2\ny = 3\nprint(x + y)\nprint(\"<\")\n", "5\n<\n"));
    assert_true(str_search(buf_view(&f->out),
                           STR("<pre class=\"output\" tabindex=\"0\"><samp>5\n&lt;</samp></pre>")) <
                f->out.len);
    assert_true(example(f, "print(y)\n", "nil\n"));
    assert_true(example(f, "print(peak)\n", "6187763980\n"));
    assert_true(example(f, "local x = 1\n", ""));
    assert_false(example(f, "print(1)\nprint(2)\n", "1\n3\n"));
    assert_true(reports(f, "line 2: wanted \"3\", printed \"2\""));
    put_file(f, "a/de.md", "# T\n\n```{lua}\nprint(1)\nerror(\"no\")\n```\n");
    assert_false(example(f, "print(1)\nerror(\"no\")\n", "1\n"));
    assert_true(reports(f, "de.md:5:1: error: error in Lua: no"));
    teardown(f);
}

static void updates_wanted_output(void **state)
{
    static const char before[] =
        "a\n\n```{lua}\nprint(1)\n```\n\n```output\n9\n8\n```\n\n````{lua}\nprint(2)\n````\nb\n";
    static const char after[] = "a\n\n```{lua}\nprint(1)\n```\n```output\n1\n```\n\n````{lua}"
                                "\nprint(2)\n````\n```output\n2\n```\nb\n";
    (void)state;
    struct fixture *f = setup("en");
    load(f, figures_lua);
    put_file(f, "a/de.md", before);
    setenv("UPDATE", "1", 1);
    assert_true(example(f, "print(1)\n", "9\n8\n"));
    assert_true(example(f, "print(2)\n", ""));
    unsetenv("UPDATE");
    buf path = BUF_INIT, text = BUF_INIT;
    buf_printf(&path, "%s/a/de.md", f->dir);
    fs_read(path.ptr, 0, &text);
    assert_str(buf_view(&text), after);
    buf_free(&path);
    buf_free(&text);
    teardown(f);
}

static void checks_the_document(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    put_file(
        f, "a/de.md",
        "Peak `{lua} peak`, 4464 MiB and 6.5\xc2\xa0GB, `12 GB`, [x](4GB), http://a/5GB 7GBx\n\n"
        "```\n8 GB\n```\n```{lua}\nprint(half)\n```\n12-GB card, `{lua} GiB(rule)` params speed\n");
    load(f, figures_lua);
    figures_check(f->figures, f->d);
    assert_true(
        reports(f, "de.md:1:20: warning: a number with a byte unit that is no figure: 4464 MiB"));
    assert_true(reports(f, "6.5\xc2\xa0GB"));
    assert_true(
        reports(f, "de.md:9:1: warning: a number with a byte unit that is no figure: 12-GB"));
    assert_true(reports(f, "page.lua:5: warning: a figure that no page cites: seen"));
    assert_true(reports(f, "no page cites: params"));
    assert_false(reports(f, "no page cites: half"));
    assert_false(reports(f, "no page cites: rule"));
    assert_int_equal(diag_count(f->d, DIAG_WARNING), 6);
    teardown(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_examples),
        cmocka_unit_test(updates_wanted_output),
        cmocka_unit_test(checks_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
