// Message catalogs: plurals checked against the language, placeholders against the source,
// fallbacks, messages.
#include "tests/unit/base_fixture.h"

#include "gen/text/catalog.h"

struct fixture {
    struct locale *en, *de, *ru;
    struct diag *d;
    buf out, messages;
};

static struct fixture setup(void)
{
    return (struct fixture){locale_open(STR("en")),
                            locale_open(STR("de")),
                            locale_open(STR("ru")),
                            diag_new((struct diag_options){.quiet = true}),
                            BUF_INIT,
                            BUF_INIT};
}

static void teardown(struct fixture *f)
{
    locale_free(f->en);
    locale_free(f->de);
    locale_free(f->ru);
    diag_free(f->d);
    buf_free(&f->out);
    buf_free(&f->messages);
}

static void formats(struct fixture *f, const struct catalog *c, const char *key,
                    const struct catalog_argument *args, size_t n, const char *want)
{
    bool differs;
    buf_clear(&f->out);
    assert_true(catalog_format(c, str_c(key), args, n, &f->out, &differs));
    assert_str(buf_view(&f->out), want);
}

static void texts_and_placeholders(void **state)
{
    (void)state;
    struct fixture f = setup();
    struct catalog *c =
        catalog_parse(STR("{\"a\":\"A\",\"b\":\"{x} of {y}{x}\",\"e\":\"\",\"n\":\"{x}\"}"),
                      STR("en.json"), f.en, NULL, f.d);
    struct catalog_argument args[] = {{.name = STR("x"), .text = STR("1")},
                                      {.name = STR("y"), .text = STR("<2>")}};
    formats(&f, c, "a", NULL, 0, "A");
    formats(&f, c, "b", args, 2, "1 of <2>1");
    formats(&f, c, "b", args, 1, "1 of {y}1");
    formats(&f, c, "e", NULL, 0, "");
    assert_false(catalog_format(c, STR("nothing"), NULL, 0, &f.out, NULL));
    assert_str(catalog_fallback_tag(c), "");
    assert_int_equal(diag_count(f.d, DIAG_NOTE), 0);
    catalog_free(c);
    teardown(&f);
}

static void plural_categories(void **state)
{
    static const struct {
        double n;
        const char *text, *want;
    } rows[] = {
        {1, "1", "1 файл"},
        {3, "3", "3 файла"},
        {11, "11", "11 файлов"},
        {1.5, "1,5", "1,5 файла."},
    };
    (void)state;
    struct fixture f = setup();
    struct catalog *c =
        catalog_parse(STR("{\"f\":{\"one\":\"{n} файл\",\"few\":\"{n} файла\",\"many\":\"{n} "
                          "файлов\",\"other\":\"{n} файла.\"}}"),
                      STR("ru.json"), f.ru, NULL, f.d);
    assert_non_null(c);
    struct catalog *again = catalog_unpack(catalog_packed(c), f.ru, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct catalog_argument a = {STR("n"), str_c(rows[i].text), rows[i].n, true};
        formats(&f, c, "f", &a, 1, rows[i].want);
        formats(&f, again, "f", &a, 1, rows[i].want);
    }
    assert_int_equal(catalog_hash(again), catalog_hash(c));
    catalog_free(again);
    catalog_free(c);
    teardown(&f);
}

static void falls_back(void **state)
{
    (void)state;
    struct fixture f = setup();
    struct catalog *en =
        catalog_parse(STR("{\"a\":\"A\",\"b\":\"B\"}"), STR("en.json"), f.en, NULL, f.d);
    struct catalog *de = catalog_parse(STR("{\"a\":\"Ä\"}"), STR("de.json"), f.de, en, f.d);
    bool differs = false;
    assert_true(catalog_format(de, STR("b"), NULL, 0, &f.out, &differs));
    assert_true(differs);
    assert_str(buf_view(&f.out), "B");
    assert_true(catalog_format(de, STR("a"), NULL, 0, &f.out, &differs));
    assert_false(differs);
    assert_str(catalog_fallback_tag(de), "en");
    diag_text(f.d, &f.messages);
    assert_str(
        buf_view(&f.messages),
        "de.json: warning: message missing in the language's catalog: b [catalog-missing]\n");
    assert_true(catalog_hash(de) != catalog_hash(en));
    struct catalog *none = catalog_none(f.ru, en);  // says nothing, and speaks English
    size_t said = diag_count(f.d, DIAG_NOTE);
    buf_clear(&f.out);
    assert_true(catalog_format(none, STR("a"), NULL, 0, &f.out, &differs));
    assert_true(differs);
    assert_str(buf_view(&f.out), "A");
    assert_int_equal(diag_count(f.d, DIAG_NOTE), said);
    catalog_free(none);
    catalog_free(de);
    catalog_free(en);
    teardown(&f);
}

static void wrong_catalogs(void **state)
{
    static const char *const rows[][2] = {
        {"", "en.json:1:1: error: message catalog that cannot be read"},
        {"[]", "not an object"},
        {"{\"a\":\"A\",\n \"a\":\"B\"}", "en.json:2"},
        {"{\"a\":5}",
         "en.json:1:3: error: message catalog that cannot be read: a: neither a text nor"},
        {"{\"a\":\"{\"}", "a brace that is no {placeholder}"},
        {"{\"a\":\"}\"}", "a brace that is no {placeholder}"},
        {"{\"a\":\"{x y}\"}", "a brace that is no {placeholder}"},
        {"{\"a\":\"{}\"}", "a brace that is no {placeholder}"},
        {"{\"a\":{\"one\":\"x\"}}", "a: the language needs the category other"},
        {"{\"a\":{\"one\":\"x\",\"other\":\"y\",\"few\":\"z\"}}",
         "a: the language has no category few"},
        {"{\"a\":{\"one\":\"x\",\"other\":5}}", "a: not a text: other"},
        {"{\"src\":\"{y}\"}",
         "en.json:1:3: error: placeholder that the source message does not have: src: y"},
    };
    (void)state;
    struct fixture f = setup();
    struct catalog *source =
        catalog_parse(STR("{\"src\":\"{x}\"}"), STR("x.json"), f.de, NULL, f.d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diag *d = diag_new((struct diag_options){.quiet = true});
        struct catalog *c = catalog_parse(str_c(rows[i][0]), STR("en.json"), f.en, source, d);
        buf_clear(&f.messages);
        diag_text(d, &f.messages);
        if (c || str_search(buf_view(&f.messages), str_c(rows[i][1])) == f.messages.len)
            fail_msg("%s\n  says %s\n  wanted %s", rows[i][0], f.messages.ptr, rows[i][1]);
        diag_free(d);
    }
    catalog_free(source);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_placeholders),
        cmocka_unit_test(plural_categories),
        cmocka_unit_test(falls_back),
        cmocka_unit_test(wrong_catalogs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
