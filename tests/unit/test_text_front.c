// Front matter: types, places of errors, dates, and the short way against libyaml.
#include "tests/unit/base_fixture.h"

#include "gen/text/front.h"
#include "gen/text/front_lines.h"

struct fixture {
    arena a;
    struct diag *d;
    struct front f;
};

static int setup(void **state)
{
    static struct fixture x;
    x = (struct fixture){.a = ARENA_INIT, .d = diag_new((struct diag_options){.quiet = true})};
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
    return front_parse(str_c(text), STR("a.md"), &x->a, x->d, &x->f);
}

static void no_front_matter(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(x, "# Head\n"));
    assert_int_equal(x->f.body, 0);
    assert_int_equal(x->f.pair_count, 0);
    assert_true(parse(x, ""));
    assert_true(parse(x, "----\nnot a fence\n"));
    assert_int_equal(x->f.body, 0);
    assert_true(parse(x, "---\nA heading\n-----\n"));
    assert_int_equal(x->f.body, 0);
    assert_true(parse(x, "---\ntitle: closed by more\n-----\nText\n"));
    assert_int_equal(x->f.body, 32);
}

// Each list names the one before it sixty times: 60 * 60 * 60 * 60 words in a kilobyte.
static void aliases_of_aliases_stay_small(void **state)
{
    struct fixture *x = *state;
    buf b = BUF_INIT;
    buf_lit(&b, "---\n");
    for (char name = 'a'; name <= 'd'; name++) {
        buf_printf(&b, "%c: &%c [", name, name);
        for (int i = 0; i < 60; i++)
            buf_printf(&b, name == 'a' ? "%sword" : "%s*%c", i ? ", " : "", name - 1);
        buf_lit(&b, "]\n");
    }
    buf_lit(&b, "---\n");
    assert_true(front_parse(buf_view(&b), STR("a.md"), &x->a, x->d, &x->f));
    assert_int_equal(x->f.pair_count, 4);
    assert_str(str_slice(x->f.pairs[3].value, 0, 12), "word, word, ");
    assert_true(x->f.pairs[3].value.len < 100000);
    buf_free(&b);
}

static void fields_have_types(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(x, "---\ntitle: A title: with colon\n---\n") == false);
    assert_true(
        parse(x, "---\ntitle: \"A title: with colon\"\norder: -3\ndraft: true\ndate: 2026-05-31\n"
                 "aliases: [a.html, b/]\nimage: false\nown: {k: [1, 2]}\n---\nBody\n"));
    assert_str(x->f.title, "A title: with colon");
    assert_int_equal(x->f.order, -3);
    assert_int_equal(x->f.draft, 1);
    assert_int_equal(x->f.date, 1780185600);
    assert_int_equal(x->f.updated, INT64_MIN);
    assert_int_equal(x->f.aliases.count, 2);
    assert_str(x->f.aliases.items[1], "b/");
    assert_str(x->f.image, "");
    assert_int_equal(x->f.pair_count, 7);
    assert_str(x->f.pairs[6].key, "own");
    assert_str(x->f.pairs[6].value, "k: 1, 2");
    assert_str(x->f.pairs[5].value, "false");
}

static void wrong_types_are_warnings(void **state)
{
    static const char *const bad[] = {
        "order: x",         "order: 99999999999999", "draft: perhaps",
        "date: 2026-02-30", "date: 31.5.2026",       "title: {a: b}",
        "aliases: {a: b}",  "title: a\ntitle: b",    "date: [2026-05-31]"};
    struct fixture *x = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        str text = arena_printf(&x->a, "---\n%s\n---\n", bad[i]);
        size_t before = diag_count(x->d, DIAG_WARNING);
        if (!front_parse(text, str_c(bad[i]), &x->a, x->d, &x->f))
            fail_msg("refused: %s", bad[i]);
        if (diag_count(x->d, DIAG_WARNING) != before + 1)
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(diag_count(x->d, DIAG_ERROR), 0);
    }
}

// Values as other generators have them.
static void other_types_are_read(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(x, "---\nauthor: {name: Ana, url: https://x.org}\nimage: {path: "
                         "a.png}\ndraft: yes\ntoc: {min: 2}\n---\n"));
    assert_str(x->f.author, "Ana");
    assert_str(x->f.image, "a.png");
    assert_true(x->f.draft == 1 && x->f.toc == 1);
    assert_true(parse(x, "---\nauthor: [{name: Ana}, Bo]\naliases: [a, {b: c}, d]\nimage: "
                         "false\ndraft: \"off\"\n---\n"));
    assert_str(x->f.author, "Ana, Bo");
    assert_str(x->f.image, "");
    assert_true(x->f.draft == 0 && x->f.aliases.count == 2);
    assert_true(parse(x, "+++\ntitle = 'T'\ndate = 2026-05-31T10:20:00Z\naliases = [\n  'a',\n  "
                         "'b',\n]\n[params]\nx = 1\n+++\nText\n"));
    assert_str(x->f.title, "T");
    assert_true(x->f.date == 1780222800 && x->f.aliases.count == 2);
    assert_true(parse(x, "{\n  \"title\": \"J {}\",\n  \"draft\": true\n}\nText\n"));
    assert_str(x->f.title, "J {}");
    assert_true(x->f.draft == 1);
    assert_string_equal("{\n  \"title\": \"J {}\",\n  \"draft\": true\n}\nText\n" + x->f.body,
                        "Text\n");
    assert_true(parse(x, "{{ \"a\" }}\ntext\n") && x->f.body == 0);
    assert_true(parse(x, "{ #id }\ntext\n") && x->f.body == 0);
}

static void dates(void **state)
{
    static const struct {
        const char *text;
        int64_t wanted;
    } cases[] = {
        {"1970-01-01", 0},
        {"1970-01-01T00:00:01Z", 1},
        {"1969-12-31", -86400},
        {"2000-02-29", 951782400},
        {"2026-5-31", 1780185600},
        {"2026/05/31", 1780185600},
        {"May 31, 2026", 1780185600},
        {"31 May 2026", 1780185600},
        {"Sun, 31 May 2026 10:20:00 GMT", 1780222800},
        {"2026-05-31 10:20 AM", 1780222800},
        {"2026-05-31 10:20 pm PST", 1780294800},
        {"2026-05-31 18:30:22 2026 -0800", 1780281022},
        {"2026-5-31T00:00:00.000Z", 1780185600},
        {"2026-05-31T10:20Z", 1780222800},
        {"2026-05-31 10:20", 1780222800},
        {"2026-05-31T10:20:30+02:00", 1780215630},
        {"2026-05-31 10:20:30.5 -0330", 1780235430},
    };
    static const char *const bad[] = {"2026-13-01",
                                      "2025-02-29",
                                      "2026-5",
                                      "May 2026",
                                      "Maybe 3, 2026",
                                      "2026-05-31 13:20 PM",
                                      "2026-05-31 10:20 2025",
                                      "2026-05-31T25:00",
                                      "2026-05-31x",
                                      "2026-05-31 10:20 +99:00",
                                      ""};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t got = 7;
        if (!front_date(str_c(cases[i].text), &got) || got != cases[i].wanted)
            fail_msg("%s: got %lld, wanted %lld", cases[i].text, (long long)got,
                     (long long)cases[i].wanted);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t got;
        if (front_date(str_c(bad[i]), &got))
            fail_msg("accepted: %s", bad[i]);
    }
}

static void same(const struct front *a, const struct front *b, const char *text)
{
    bool equal_fields = a->pair_count == b->pair_count && str_eq(a->title, b->title) &&
                        a->order == b->order && a->draft == b->draft && a->date == b->date &&
                        a->body == b->body && str_eq(a->image, b->image);
    for (size_t i = 0; equal_fields && i < a->pair_count; i++)
        equal_fields = str_eq(a->pairs[i].key, b->pairs[i].key) &&
                       str_eq(a->pairs[i].value, b->pairs[i].value) &&
                       a->pairs[i].offset == b->pairs[i].offset;
    if (!equal_fields)
        fail_msg("the short way differs from libyaml: %s", text);
}

// Whatever the short way accepts, libyaml reads alike.
static void short_way_is_libyaml(void **state)
{
    static const char *const texts[] = {
        "---\ntitle: Plain words\norder: 4\n---\nBody",
        "---\ntitle: It's (mostly) fine, 50% of it\n---\n",
        "---\r\ntitle: Windows\r\norder: 1\r\n---\r\nx",
        "---\ntitle:    spaces   \n---\n",
        "---\ntitle:\nimage: false\n---\n",
        "---\ntitle: Über größe\n---\n",
        "---\ntitle: मेमोरी\n---\n",
        "---\ntitle: a # comment\n---\n",
        "---\ntitle: - a\n---\n",
        "---\ntitle: a\n more\n---\n",
        "---\ntitle: 'quoted'\n---\n",
        "---\ntitle: a\n\norder: 2\n---\n",
        "---\ntitle: ...\n---\n",
        "---\ntitle: null\ndraft: TRUE\n---\n",
        "---\ntitle: a:b\n---\n",
        "---\ntitle: 2026-01-01\ndate: 2026-01-01 10:00\n---\n",
        "---\ntitle: ~\n---\n",
        "---\ntitle: x\xe2\x80\xa8y\n---\n",
        "---\ntitle: a\xc2\x85"
        "b\n---\n",
    };
    struct fixture *x = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct front fast, slow;
        bool a = front_parse_tree(str_c(texts[i]), STR("a"), &x->a, x->d, &fast, FRONT_BY_LINES);
        bool b = front_parse_tree(str_c(texts[i]), STR("b"), &x->a, x->d, &slow, 0);
        if (a != b)
            fail_msg("one of the two ways refuses: %s", texts[i]);
        if (a)
            same(&fast, &slow, texts[i]);
    }
}

static void unclosed(void **state)
{
    struct fixture *x = *state;
    assert_true(parse(x, "---\ntitle: A\n"));
    assert_true(diag_has(x->d, D_FRONT_UNCLOSED) && x->f.body == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_front_matter, setup, teardown),
        cmocka_unit_test_setup_teardown(aliases_of_aliases_stay_small, setup, teardown),
        cmocka_unit_test_setup_teardown(fields_have_types, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_types_are_warnings, setup, teardown),
        cmocka_unit_test_setup_teardown(other_types_are_read, setup, teardown),
        cmocka_unit_test(dates),
        cmocka_unit_test_setup_teardown(short_way_is_libyaml, setup, teardown),
        cmocka_unit_test_setup_teardown(unclosed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
