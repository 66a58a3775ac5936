// Settings: every type of value, unknown keys, and what is chosen without any.
#include "tests/unit/base_fixture.h"

#include "gen/site/source/settings.h"
#include "gen/text/markdown.h"

struct fixture {
    arena a;
    struct diag *d;
    struct settings s;
};

static int setup(void **state)
{
    static struct fixture x;
    x = (struct fixture){.a = ARENA_INIT, .d = diag_new((struct diag_options){.quiet = true})};
    settings_defaults(&x.s);
    *state = &x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    arena_free(&x->a);
    diag_free(x->d);
    return 0;
}

static bool parse(struct fixture *x, const char *text)
{
    return settings_parse(&x->s, str_c(text), STR("site.yaml"), STR("conf"), &x->a, x->d);
}

static void every_type(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(
        x,
        "title: {en: Memory, pt_br: Memória}\ndescription: About\nbase_url: "
        "https://example.org/x//\n"
        "languages: [en, pt-BR]\nsource_language: EN\npretty: true\ntemplates: tpl\ncache: var/c/\n"
        "documents:\n  a/b: [x.md, 'y-*.md']\n  c: z.md\norder: [c, a/b]\nsearch: titles\nmath: "
        "[brackets, kramdown]\nadmonitions: containers\n"
        "limits: {page_bytes: 1000, page_ms: 50}\n"));
    assert_str(settings_title(&x->s, STR("pt-BR")), "Memória");
    assert_str(settings_title(&x->s, STR("de")), "Memory");
    assert_str(settings_description(&x->s, STR("de")), "About");
    assert_str(x->s.base_url, "https://example.org/x");
    assert_str(x->s.source_language, "en");
    assert_str(x->s.languages[1], "pt-BR");
    assert_str(x->s.templates_dir, "conf/tpl");
    assert_str(x->s.cache_dir, "conf/var/c");
    assert_str(*(str *)map_get(&x->s.document_of, STR("y-*.md")), "a/b");
    assert_str(x->s.order[0], "c");
    assert_true(x->s.pretty && x->s.fallback);
    assert_int_equal(x->s.search, SEARCH_TITLES);
    assert_int_equal(x->s.math, MD_MATH_BRACKETS | MD_MATH_KRAMDOWN);
    assert_int_equal(x->s.admonitions, MD_CONTAINERS);
    assert_int_equal(x->s.max_page_bytes, 1000);
    assert_int_equal(x->s.page_timeout_ms, 50);
    assert_int_equal(diag_count(x->d, DIAG_NOTE), 0);
}

static void nothing_said(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(x, ""));
    assert_true(parse(x, "# only a comment\n"));
    assert_false(x->s.fallback);
    assert_int_equal(x->s.language_count, 0);
    assert_true(x->s.git);
}

static void fallback_can_be_refused(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(x, "languages: [en, de]\nfallback: false\n"));
    assert_false(x->s.fallback);
}

static void bad_values(void **state)
{
    static const char *const bad[] = {
        "pretty: yes please",
        "base_url: ftp://x",
        "base_url: 'https://a b'",
        "languages: [en, en]",
        "languages: {en: x}",
        "languages: [zz]",
        "limits: {page_ms: -1}",
        "documents: [a]",
        "documents: {../a: x.md}",
        "documents: {a: {b: c}}",
        "documents: {a: x.md, b: x.md}",
        "search: all",
        "math: latex",
        "admonitions: all",
        "math: [dollars, [a]]",
        "- a list",
        "cache: /var/c",
        "cache: ../c",
        "cache: a/../../c",
        "documents: {.a: x.md}",
        "title: [a]",
        "order: {a: b}",
        "x: &a [*a]",
    };
    struct fixture *x = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        diag_free(x->d);
        x->d = diag_new((struct diag_options){.quiet = true});
        settings_defaults(&x->s);
        if (parse(x, bad[i]))
            fail_msg("accepted: %s", bad[i]);
        if (!diag_count(x->d, DIAG_ERROR))
            fail_msg("no error: %s", bad[i]);
    }
}

static void unknown_keys(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(x, "sorce_language: en\nlimits: {page_byte: 3}\n"));
    assert_true(diag_has(x->d, D_SETTING_UNKNOWN));
    assert_int_equal(diag_count(x->d, DIAG_WARNING), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_said, setup, teardown),
        cmocka_unit_test_setup_teardown(fallback_can_be_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_values, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_keys, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
