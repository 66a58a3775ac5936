// Regular expressions over names of modules: what Python's re.fullmatch says of each, and what is
// not read.

#include "tests/unit/calc_fixture.h"

#include "calc/parse/pattern.h"

static const char Q[] = "model.layers.17.self_attn.q_proj";

static void check(const char *pattern, const char *name, enum pattern_found wanted)
{
    enum pattern_found got = pattern_match(span_of(pattern), span_of(name));
    if (got != wanted)
        fail_msg("%s of %s gives %d, wanted %d", pattern, name, (int)got, (int)wanted);
}

static void test_whole_names(void **state)
{
    (void)state;
    check("q_proj", Q, PATTERN_NO);
    check(".*q_proj", Q, PATTERN_YES);
    check(".*q_pro", Q, PATTERN_NO);
    check(".*\\.(q_proj|v_proj)", Q, PATTERN_YES);
    check(".*\\.(k_proj|v_proj)", Q, PATTERN_NO);
    check(".*q_proj|.*v_proj", Q, PATTERN_YES);
    check("q_proj|v_proj", Q, PATTERN_NO);
    check("^model\\.layers\\.\\d+\\.self_attn\\.q_proj$", Q, PATTERN_YES);
    check("model.layers.[\\d]+.(mlp|cross_attn|self_attn).(up|down|gate|q|k|v|o)_proj", Q,
          PATTERN_YES);
    check("model.layers.(3|7).self_attn.(q|k)_proj", Q, PATTERN_NO);
    check("(?:model\\.)?layers.*", Q, PATTERN_YES);
    check("(?P<head>model)\\.\\w+\\.1[5-9]\\..*", Q, PATTERN_YES);
    check("", "", PATTERN_YES);
    check("a||b", "", PATTERN_YES);
    check("()", "", PATTERN_YES);
}

static void test_repetitions(void **state)
{
    (void)state;
    check("a{2,3}", "a", PATTERN_NO);
    check("a{2,3}", "aaa", PATTERN_YES);
    check("a{2,3}", "aaaa", PATTERN_NO);
    check("(ab?){2}", "aab", PATTERN_YES);
    check("(ab?){2}", "ab", PATTERN_NO);
    check("a{,2}b", "b", PATTERN_YES);
    check("a{1,}b", "aaab", PATTERN_YES);
    check("(a*)*b", "aaab", PATTERN_YES);
    check("(a|aa)+?", "aaaaa", PATTERN_YES);
    check("(a?){3}", "", PATTERN_YES);
    check("(?:ab|a)(?:c|bc)", "abc", PATTERN_YES);
}

static void test_characters(void **state)
{
    (void)state;
    check("[a-c_]+", "a_cb", PATTERN_YES);
    check("[^.]+", "a.b", PATTERN_NO);
    check("[]x-]+", "x]-", PATTERN_YES);
    check("[\\w.]+", "a.b_9", PATTERN_YES);
    check("a\\.b", "axb", PATTERN_NO);
    check("\\ba.*b\\b", "a.b", PATTERN_YES);
    check("a\\bb", "ab", PATTERN_NO);
    check("a$b", "ab", PATTERN_NO);
    check("a^b", "ab", PATTERN_NO);
}

static void test_ahead(void **state)
{
    (void)state;
    check("^(?!.*visual).*(?:q_proj|k_proj).*", Q, PATTERN_YES);
    check("^(?!.*visual).*(?:q_proj|k_proj).*", "visual.q_proj", PATTERN_NO);
    check("(?=.*self_attn).*q_proj", Q, PATTERN_YES);
    check("(?=.*mlp).*q_proj", Q, PATTERN_NO);
}

static void test_unread(void **state)
{
    char many[600] = "", name[200];
    (void)state;
    static const char *const patterns[] = {"(?i)a", "(?<=a)b", "(a)\\1",   "a\\Z", "*a",
                                           "a**",   "a{300}",  "a{2",      "(a",   "a)",
                                           "[a",    "[a-\\d]", "\xc3\xa9", "a\\",  "a++"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        check(patterns[i], "a", PATTERN_UNREAD);
    for (size_t i = 0; i < 20; i++)
        strcat(many, "(");
    check(many, "a", PATTERN_UNREAD);
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = 0;
    check("a*", name, PATTERN_UNREAD);
    name[60] = 0;
    check("((((a*)*)*)*)*b", name, PATTERN_NO);
    check("((((a?){99}){99}){99}){99}b", name, PATTERN_UNREAD);
}

static void test_what_is_one(void **state)
{
    (void)state;
    assert_false(pattern_is_one(span_of("q_proj,self_attn.v_proj")));
    assert_false(pattern_is_one(span_of("all-linear")));
    assert_true(pattern_is_one(span_of(".*q_proj")));
    assert_true(pattern_is_one(span_of("q_proj|v_proj")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_names), cmocka_unit_test(test_repetitions),
        cmocka_unit_test(test_characters),  cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_unread),      cmocka_unit_test(test_what_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
