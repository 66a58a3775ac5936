// blahtexml as a process that stays: order, what hangs, what ends it, what it answers for nothing.
// A script stands for it, which does what a formula says.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"
#include "gen/text/math_markup.h"
#include "gen/text/math_program.h"
#include "tests/unit/base_fixture.h"

// Answers <mi>TEX</mi>. Each start adds a line to the file "runs" beside it.
static const char script[] =
    "#!/bin/sh\n"
    "here=${0%/*}\n"
    "echo >>\"$here/runs\"\n"
    "exec awk -v once=\"$here/once\" 'BEGIN { RS = \"/>\" }\n"
    "function die() { system(\"kill -9 $PPID\") }\n"
    "{ tex = $0; sub(/.* b:(inline|block)=\"/, \"\", tex); sub(/\"$/, \"\", tex)\n"
    "  number = $0; sub(/.* n=\"/, \"\", number); sub(/\".*/, \"\", number) }\n"
    "tex ~ /hangs/ { while (1) {} }\n"
    "tex ~ /^ends( 2)?$/ { die() }\n"
    "tex == \"ends once\" && (getline line < once) < 0 { print > once; close(once); die() }\n"
    "tex == \"other\" { number = 99 }\n"
    "tex == \"nothing\" { print \"<e n=\\\"\" number \"\\\"></e>\"; fflush(); next }\n"
    "tex == \"refused\" { printf \"<e n=\\\"%s\\\" b:inline=\\\"%s\\\">\", number, tex\n"
    "  printf \"<error xmlns=\\\"http://gva.noekeon.org/blahtexml\\\">no</error></e>\"\n"
    "  fflush(); next }\n"
    "{ display = $0 ~ / b:block=/ ? \" display=\\\"block\\\"\" : \"\"\n"
    "  printf \"<e n=\\\"%s\\\"><math%s><mi>%s</mi></math></e>\", number, display, tex\n"
    "  fflush() }'\n";

struct stage {
    char folder[64];
    char *path;  // $PATH as it was
    arena arena;
    struct math_program program;
};

static void path_of(const struct stage *s, const char *name, buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%s", s->folder, name);
}

static int set_up(void **state)
{
    struct stage *s = calloc(1, sizeof *s);
    const char *path = getenv("PATH");
    buf name = BUF_INIT;
    memcpy(s->folder, "/tmp/test_math_program.XXXXXX", sizeof "/tmp/test_math_program.XXXXXX");
    if (!mkdtemp(s->folder))
        return -1;
    s->path = strdup(path ? path : "");
    s->program = MATH_PROGRAM_INIT(2000);
    path_of(s, "blahtexml", &name);
    int rc = fs_write(name.ptr, str_c(script)) == 1 ? chmod(name.ptr, 0755) : -1;
    buf_clear(&name);
    buf_printf(&name, "%s:%s", s->folder, s->path);
    setenv("PATH", name.ptr, 1);
    buf_free(&name);
    *state = s;
    return rc;
}

static int tear_down(void **state)
{
    struct stage *s = *state;
    math_program_end(&s->program);
    setenv("PATH", s->path, 1);
    int rc = fs_remove_tree(s->folder);
    arena_free(&s->arena);
    free(s->path);
    free(s);
    return rc;
}

// How many processes were started.
static size_t starts(const struct stage *s)
{
    buf name = BUF_INIT, lines = BUF_INIT;
    path_of(s, "runs", &name);
    (void)fs_read(name.ptr, 0, &lines);
    size_t n = lines.len;
    buf_free(&name);
    buf_free(&lines);
    return n;
}

struct row {
    const char *tex;
    enum math_outcome outcome;
    const char *text;
};

static void ask(struct stage *s, const struct row *rows, size_t count)
{
    struct math_question *q = arena_new(&s->arena, struct math_question, count);
    for (size_t i = 0; i < count; i++)
        q[i] = (struct math_question){.tex = str_c(rows[i].tex), .display = i % 2};
    math_program_ask(&s->program, q, count, &s->arena);
    for (size_t i = 0; i < count; i++) {
        assert_str(q[i].text, rows[i].text);
        assert_int_equal(q[i].outcome, rows[i].outcome);
    }
}

#define GOOD(tex) \
    { \
        tex, MATH_CONVERTED, "<mi>" tex "</mi>" \
    }
#define BAD(tex) \
    { \
        tex, MATH_FAILED, "blahtexml gave no answer" \
    }
#define COUNT(rows) (sizeof rows / sizeof *rows)

static void many_are_answered_in_order_by_one_process(void **state)
{
    struct stage *s = *state;
    enum { MANY = 3000 };
    struct math_question *q = arena_new(&s->arena, struct math_question, MANY);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < MANY; i++)
            q[i] = (struct math_question){.tex = arena_printf(&s->arena, "x_%u %u", i, round)};
        math_program_ask(&s->program, q, MANY, &s->arena);
        for (unsigned i = 0; i < MANY; i++) {
            assert_int_equal(q[i].outcome, MATH_CONVERTED);
            assert_str(q[i].text, arena_printf(&s->arena, "<mi>x_%u %u</mi>", i, round).ptr);
        }
    }
    assert_int_equal(starts(s), 1);
}

static void a_refusal_is_one_formulas_own(void **state)
{
    static const struct row rows[] = {GOOD("a"), {"refused", MATH_REFUSED, "no"}, GOOD("b")};
    ask(*state, rows, COUNT(rows));
    assert_int_equal(starts(*state), 1);
}

static void what_ends_the_program_fails_alone(void **state)
{
    static const struct row rows[] = {GOOD("a"), BAD("ends"), GOOD("b"), BAD("ends 2"), GOOD("c")};
    ask(*state, rows, COUNT(rows));
    assert_int_equal(starts(*state), 5);
}

static void a_program_that_was_killed_is_started_again(void **state)
{
    struct stage *s = *state;
    static const struct row rows[] = {GOOD("a"), GOOD("ends once"), GOOD("b")};
    static const struct row later[] = {GOOD("c")};
    ask(s, rows, COUNT(rows));
    assert_int_equal(starts(s), 2);
    kill(s->program.pid, SIGKILL);
    ask(s, later, COUNT(later));
    assert_int_equal(starts(s), 3);
}

static void what_hangs_fails_alone(void **state)
{
    struct stage *s = *state;
    static const struct row rows[] = {
        GOOD("a"), {"hangs", MATH_FAILED, "blahtexml took longer than 2000 ms"}, GOOD("b")};
    ask(s, rows, COUNT(rows));
    assert_int_equal(starts(s), 2);
}

static void what_is_no_answer_is_not_taken(void **state)
{
    static const struct row rows[] = {BAD("other"), GOOD("a"), BAD("nothing"), GOOD("b")};
    ask(*state, rows, COUNT(rows));
}

static void a_program_that_is_missing_is_named(void **state)
{
    struct stage *s = *state;
    static const struct row missing[] = {{"a", MATH_FAILED, "blahtexml is not installed"},
                                         {"b", MATH_FAILED, "blahtexml is not installed"}};
    static const struct row locked[] = {{"a", MATH_FAILED, "blahtexml cannot be run"}};
    setenv("PATH", "/nowhere", 1);
    ask(s, missing, COUNT(missing));
    setenv("PATH", s->folder, 1);
    buf name = BUF_INIT;
    path_of(s, "blahtexml", &name);
    assert_int_equal(chmod(name.ptr, 0), 0);
    ask(s, locked, COUNT(locked));
    buf_free(&name);
}

static void markup_is_written_as_elements_of_a_page(void **state)
{
    static const struct {
        const char *inside;
        bool display;
        const char *want;
    } rows[] = {
        {"<mi>x</mi>", false, "<math><mi>x</mi></math>"},
        {"<mi>x</mi>", true, "<math display=\"block\"><mi>x</mi></math>"},
        {"", false, "<math><mrow/></math>"},
        {"<mi>x</mi><mo>+</mo>", false, "<math><mrow><mi>x</mi><mo>+</mo></mrow></math>"},
        {"<msqrt></msqrt>", false, "<math><msqrt/></math>"},
        {"<mrow><mspace width=\"1em\"></mspace></mrow>", false,
         "<math><mrow><mspace width=\"1em\"/></mrow></math>"},
        {"<msup><mi></mi><mrow></mrow></msup>", false, "<math><msup><mi/><mrow/></msup></math>"},
        {"<mtext> </mtext>", false, "<math><mtext> </mtext></math>"},
        {"<mi mathvariant=\"bold\">W</mi>", false, "<math><mi>𝐖</mi></math>"},
        {"<mi", false, "<math><mi</math>"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        buf out = BUF_INIT;
        math_markup(str_c(rows[i].inside), rows[i].display, &out);
        assert_str(buf_view(&out), rows[i].want);
        buf_free(&out);
    }
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(many_are_answered_in_order_by_one_process),
        STAGED(a_refusal_is_one_formulas_own),
        STAGED(what_ends_the_program_fails_alone),
        STAGED(a_program_that_was_killed_is_started_again),
        STAGED(what_hangs_fails_alone),
        STAGED(what_is_no_answer_is_not_taken),
        STAGED(a_program_that_is_missing_is_named),
        cmocka_unit_test(markup_is_written_as_elements_of_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
