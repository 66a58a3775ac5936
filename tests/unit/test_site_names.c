// Languages in paths: every layout, and words that only look like languages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/text/address.h"
#include "gen/site/source/names.h"
#include "gen/site/source/names_tag.h"
#include "gen/site/source/settings.h"

static const str paths[] = {
    {"de/guide/a.md", 13},   {"docs/en/b.md", 12},   {"docs/fr/b.md", 12},
    {"docs/fr/only.md", 15}, {"en/guide/a.md", 13},  {"guide-de.md", 11},
    {"guide-pt-BR.md", 14},  {"how-to.md", 9},       {"log.md", 6},
    {"note.de.md", 10},      {"note.md", 7},         {"pages.de/x.md", 13},
    {"pages/x.md", 10},      {"release.1.2.md", 14}, {"topic/de.md", 11},
    {"topic/en.md", 11},     {"what-is.md", 10},     {"_posts/2026-01-02-post-es.md", 28},
    {"lua/hello.md", 12},    {"ada/hello.md", 12},   {"no/x.md", 7},
};

static const struct {
    const char *path, *tag, *key;
} wanted[] = {
    {"de/guide/a.md", "de", "guide/a"},
    {"docs/en/b.md", "en", "docs/b"},
    {"docs/fr/only.md", "fr", "docs/only"},
    {"guide-de.md", "de", "guide"},
    {"guide-pt-BR.md", "pt-BR", "guide"},
    {"how-to.md", "", "how-to"},
    {"log.md", "", "log"},
    {"note.de.md", "de", "note"},
    {"note.md", "", "note"},
    {"pages.de/x.md", "de", "pages/x"},
    {"pages/x.md", "", "pages/x"},
    {"release.1.2.md", "", "release.1.2"},
    {"topic/en.md", "en", "topic"},
    {"what-is.md", "", "what-is"},
    {"lua/hello.md", "", "lua/hello"},
    {"no/x.md", "", "no/x"},
};

static void layouts(void **state)
{
    arena a = ARENA_INIT;
    const struct names *n = names_learn(paths, sizeof paths / sizeof paths[0], NULL, 0, &a);
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct name got = names_split(n, str_c(wanted[i].path), STR_NONE, &a);
        if (!str_eq(got.tag, str_c(wanted[i].tag)) || !str_eq(got.key, str_c(wanted[i].key)))
            fail_msg("%s: got \"%.*s\" \"%.*s\", wanted \"%s\" \"%s\"", wanted[i].path,
                     STR_ARG(got.tag), STR_ARG(got.key), wanted[i].tag, wanted[i].key);
    }
    arena_free(&a);
}

// READMEs of others: codes of countries, names of languages, regions in small letters; and a list
// whose name goes on behind a language.
static void words_of_others(void **state)
{
    static const str found[] = {
        STR("readme.md"),       STR("readme-fr.md"),     STR("readme-pt-br.md"),
        STR("readme.kr.md"),    STR("readme-ua.md"),     STR("readme.chinese.md"),
        STR("readme-zh-cn.md"), STR("a-en-de.md"),       STR("a-en.md"),
        STR("a-de-es.md"),      STR("a-de.md"),          STR("list-cs.md"),
        STR("list-cs-cp.md"),   STR("list-fr.md"),       STR("list-pt_BR.md"),
        STR("setup-jp.md"),     STR("Polish.md"),        STR("shoe-polish.md"),
        STR("readme-es.md"),    STR("readme.basque.md"), STR("readme.brazilian-portuguese.md")};
    static const str tags[] = {STR(""),      STR("fr"),     STR("pt-br"),
                               STR("kr"),    STR("ua"),     STR("chinese"),
                               STR("zh-cn"), STR("de"),     STR("en"),
                               STR("es"),    STR("de"),     STR("cs"),
                               STR(""),      STR("fr"),     STR("pt_BR"),
                               STR(""),      STR(""),       STR(""),
                               STR("es"),    STR("basque"), STR("brazilian-portuguese")};
    arena a = ARENA_INIT;
    size_t count = sizeof found / sizeof *found;
    const struct names *n = names_learn(found, count, NULL, 0, &a);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        str got = names_split(n, found[i], STR_NONE, &a).tag;
        if (!str_eq(got, tags[i]))
            fail_msg("%s: got \"%.*s\", wanted \"%s\"", found[i].ptr, STR_ARG(got), tags[i].ptr);
    }
    assert_true(str_eq(names_word(STR("Chinese")), STR("zh")));
    assert_true(str_eq(names_word(STR("kr")), STR("ko")));
    assert_true(str_eq(names_word(STR("brazilian-portuguese")), STR("pt-BR")));
    assert_true(str_eq(names_word(STR("ir")), STR("fa")));
    assert_true(str_eq(names_word(STR("ko")), STR("ko")));
    arena_free(&a);
}

// A folder's language once more in the file's name, in another spelling.
static void folders_and_files(void **state)
{
    static const str found[] = {STR("README.md"),          STR("ar-AR/README_AR.md"),
                                STR("de-DE/README.md"),    STR("ja-JA/README-ja_JA.md"),
                                STR("ro-RO/README.ro.md"), STR("vi-VI/README-vi.md"),
                                STR("es-ES/README-to.md"), STR("fr-FR/README.md")};
    static const str keys[] = {STR("README"), STR("README"), STR("README"),    STR("README"),
                               STR("README"), STR("README"), STR("README-to"), STR("README")};
    arena a = ARENA_INIT;
    const struct names *n = names_learn(found, 8, NULL, 0, &a);
    (void)state;
    for (size_t i = 0; i < 8; i++)
        if (!str_eq(names_split(n, found[i], STR_NONE, &a).key, keys[i]))
            fail_msg("%s: got %.*s", found[i].ptr,
                     STR_ARG(names_split(n, found[i], STR_NONE, &a).key));
    arena_free(&a);
}

static void front_matter_is_believed(void **state)
{
    arena a = ARENA_INIT;
    const struct names *n = names_learn(paths, sizeof paths / sizeof paths[0], NULL, 0, &a);
    struct name got = names_split(n, STR("_posts/2026-01-02-post-es.md"), STR("es"), &a);
    (void)state;
    assert_true(str_eq(got.tag, STR("es")) && str_eq(got.key, STR("post")) &&
                str_eq(got.date, STR("2026-01-02")));
    got = names_split(n, STR("how-to.md"), STR("en"), &a);
    assert_true(got.tag.len == 0 && str_eq(got.key, STR("how-to")));
    arena_free(&a);
}

static void listed_languages_are_meant(void **state)
{
    arena a = ARENA_INIT;
    const str listed[] = {STR("no"), STR("is")};
    const struct names *n = names_learn(paths, sizeof paths / sizeof paths[0], listed, 2, &a);
    struct name got = names_split(n, STR("no/x.md"), STR_NONE, &a);
    (void)state;
    assert_true(str_eq(got.tag, STR("no")) && str_eq(got.key, STR("x")));
    // Not even then: no other file is called "what".
    got = names_split(n, STR("what-is.md"), STR_NONE, &a);
    assert_true(str_eq(got.key, STR("what-is")));
    arena_free(&a);
}

// Names that are languages' codes and mean something else.
static void names_that_are_no_languages(void **state)
{
    static const char *const trees[][8] = {
        {"commands/ls.md", "commands/as.md", "commands/ps.md", "commands/grep.md"},
        {"elements/it/index.md", "elements/hr/index.md", "elements/div/index.md",
         "elements/index.md"},
        {"it/index.md", "hr/index.md"},
        {"it/a.md", "b.md"},
        {"to-do.md", "how-is.md", "to.md"},
    };
    arena a = ARENA_INIT;
    (void)state;
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        str list[8];
        size_t n = 0;
        while (n < 8 && trees[t][n])
            list[n] = str_c(trees[t][n]), n++;
        const struct names *learned = names_learn(list, n, NULL, 0, &a);
        for (size_t i = 0; i < n; i++)
            if (names_split(learned, list[i], STR_NONE, &a).tag.len)
                fail_msg("%s: taken for a language", trees[t][i]);
    }
    arena_free(&a);
}

static void trees_of_languages(void **state)
{
    static const struct {
        const char *paths[8], *tags[8], *keys[8];
    } trees[] = {
        {{"a.md", "fr/a.md", "zh-hans/a.md", "img/readme.md"},
         {"", "fr", "zh-hans", ""},
         {"a", "a", "a", "img/readme"}},
        {{"_posts/en/2016-05-03-git-en.md", "_posts/zh/2016-05-03-git-zh.md"},
         {"en", "zh"},
         {"git", "git"}},
        {{"README.md", "README-ja.md"}, {"", "ja"}, {"README", "README"}},
        {{"docs/de/x.md", "docs/en/x.md", "docs/pt_BR/x.md"},
         {"de", "en", "pt_BR"},
         {"docs/x", "docs/x", "docs/x"}},
        {{"de/x.md", "fr/x.md", "it/x.md"}, {"de", "fr", "it"}, {"x", "x", "x"}},
    };
    arena a = ARENA_INIT;
    (void)state;
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        str list[8];
        size_t n = 0;
        while (n < 8 && trees[t].paths[n])
            list[n] = str_c(trees[t].paths[n]), n++;
        const struct names *learned = names_learn(list, n, NULL, 0, &a);
        for (size_t i = 0; i < n; i++) {
            struct name got = names_split(learned, list[i], STR_NONE, &a);
            if (!str_eq(got.tag, str_c(trees[t].tags[i])) ||
                !str_eq(got.key, str_c(trees[t].keys[i])))
                fail_msg("%s: got \"%.*s\" \"%.*s\"", trees[t].paths[i], STR_ARG(got.tag),
                         STR_ARG(got.key));
        }
    }
    arena_free(&a);
}

static void wrong_tags_have_a_meaning(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"jp", "ja"},    {"hant", "zh-Hant"}, {"English", "en"},  {"ko-KO", "ko"},
        {"Deutsch", ""}, {"german", "de"},    {"klingonish", ""}, {"", ""},
    };
    arena a = ARENA_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str got = language_meant(str_c(cases[i].in), &a);
        if (!str_eq(got, str_c(cases[i].out)))
            fail_msg("%s: got \"%.*s\"", cases[i].in, STR_ARG(got));
    }
    arena_free(&a);
}

static void tags(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"es", "es"},
        {"ES", "es"},
        {"pt_br", "pt-BR"},
        {"zh-hant-tw", "zh-Hant-TW"},
        {"es-419", "es-419"},
        {"xx", ""},
        {"klingonish", ""},
        {"", ""},
        {"e", ""},
        {"en-ZZZ", ""},
        {"../en", ""},
    };
    arena a = ARENA_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        str got = language_tag(str_c(cases[i].in), &a);
        if (!str_eq(got, str_c(cases[i].out)))
            fail_msg("%s: got \"%.*s\"", cases[i].in, STR_ARG(got));
    }
    arena_free(&a);
}

static void relative_addresses(void **state)
{
    static const struct {
        const char *from, *to, *wanted;
    } cases[] = {
        {"a.html", "b.html", "b.html"},
        {"es/a.html", "de/a.html", "../de/a.html"},
        {"es/x/a.html", "es/b.html", "../b.html"},
        {"index.html", "es/index.html", "es/index.html"},
        {"es/a/index.html", "es/a/b.html", "b.html"},
        {"ab/x.html", "ac/x.html", "../ac/x.html"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf b = BUF_INIT;
        address_relative(str_c(cases[i].from), str_c(cases[i].to), &b);
        assert_string_equal(b.ptr, cases[i].wanted);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),
        cmocka_unit_test(words_of_others),
        cmocka_unit_test(folders_and_files),
        cmocka_unit_test(front_matter_is_believed),
        cmocka_unit_test(listed_languages_are_meant),
        cmocka_unit_test(names_that_are_no_languages),
        cmocka_unit_test(trees_of_languages),
        cmocka_unit_test(wrong_tags_have_a_meaning),
        cmocka_unit_test(tags),
        cmocka_unit_test(relative_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
