// The highlighter's tables are in order, its names are found, and no piece of code is lost, cut
// anywhere.
#include "gen/base/escape.h"
#include "gen/text/highlight.h"
#include "gen/text/highlight_lexer.h"
#include "tests/unit/base_fixture.h"

static const struct {
    enum hl_language_id language;
    const char *word;
} words[] = {
#define WORD(id, word, class) {HL_##id, word},
#include "gen/text/highlight.def"
};

static void words_are_sorted_and_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_not_equal(hl_word(hl_language(words[i].language), str_c(words[i].word)), 0);
        if (i && words[i].language == words[i - 1].language)
            assert_true(strcmp(words[i - 1].word, words[i].word) < 0);
    }
    assert_int_equal(hl_word(hl_language(HL_C), STR("nil")), 0);
}

static void languages_are_found_by_every_name(void **state)
{
    (void)state;
    static const char *const names[] = {"python", "py",   "Lua", "c",    "cuda",  "C++",    "bash",
                                        "sh",     "json", "yml", "diff", "patch", "console"};
    buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(highlight(str_c(names[i]), STR("x"), &out));
    buf_clear(&out);
    assert_false(highlight(STR("cobol"), STR("a < b"), &out));
    assert_str(buf_view(&out), "a &lt; b");
    assert_false(highlight(STR(""), STR("x"), &out));
    buf_free(&out);
}

static void drop_spans(str html, buf *out)
{
    while (html.len) {
        size_t n = str_find(html, '<');
        buf_str(out, str_slice(html, 0, n));
        html = str_slice(html, n, html.len);
        html = str_slice(html, str_find(html, '>') + 1, html.len);
    }
}

static const str samples[] = {
    STR("def f(x):\n    '''doc'''\n    return rb\"\\\"\" + 0x1f  # c\n@a.b\n"),
    STR("--[==[ x ]==]\nlocal s = [[a]] .. 'b\\'' -- c\n"),
    STR("#include <a.h>\n/* c */ int x = 'a' + \"b\\\"\" + 1e-3f; // d\n"),
    STR("cat <<-EOF <<'B' # c\n\ta\n\tEOF\nb\nB\nx=${y:-z} \"$@\" 'q'\n"),
    STR("{\"a\" : [1, null, \"b\\\"\"]}\n"),
    STR("a: &b |\n  c\nd: {e: \"f\", 'g': 1} # h\n- - i: j\n"),
    STR("diff --git a b\n--- a\n+++ b\n@@ -1,2 +1 @@\n-x\n+y\n z\n"),
    STR("$ ls \\\n -l\nout\n>>> f('x')\nu@h:~$ x\n"),
};

static void nothing_is_lost_wherever_code_ends(void **state)
{
    (void)state;
    for (size_t l = 0; l < HL_LANGUAGES; l++) {
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
            for (size_t len = 0; len <= samples[i].len; len++) {
                buf html = BUF_INIT, plain = BUF_INIT, want = BUF_INIT;
                str code = str_slice(samples[i], 0, len),
                    names = hl_language((enum hl_language_id)l)->names, name;
                str_cut(&names, ' ', &name);
                highlight(name, code, &html);
                drop_spans(buf_view(&html), &plain);
                escape_text(&want, code);
                assert_str(buf_view(&plain), want.ptr);
                buf_free(&html);
                buf_free(&plain);
                buf_free(&want);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_sorted_and_found),
        cmocka_unit_test(languages_are_found_by_every_name),
        cmocka_unit_test(nothing_is_lost_wherever_code_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
