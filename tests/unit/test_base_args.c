// Options by table: every way to write them, what is wrong said well, and the three printers
// reading the same rows.
#include "tests/unit/base_fixture.h"

#include "gen/base/args.h"

struct options {
    bool verbose, all;
    const char *output, *strict;
    uint64_t jobs;
};

static const struct arg_option rows[] = {
    {'v', "verbose", ARG_FLAG, offsetof(struct options, verbose), NULL, "say more"},
    {0, "all", ARG_FLAG, offsetof(struct options, all), NULL, "everything"},
    {'o', "output", ARG_STRING, offsetof(struct options, output), "DIR", "where to write"},
    {0, "strict", ARG_STRING, offsetof(struct options, strict), "[WHAT]", "warnings are errors"},
    {'j', "jobs", ARG_UINT, offsetof(struct options, jobs), "N", "how many at once"},
    {0},
};
static const struct arg_command command = {
    "build", "[FILE]", "Builds", rows, sizeof(struct options), NULL};
static const struct arg_command *const commands[] = {&command, NULL};
static const struct args_program program = {"prog",        "1.2",
                                            "does things", "About -x.\n\n.dot",
                                            "0  fine\n",   "NO_COLOR  no colours\n",
                                            commands,      "title  name of it\n"};

// Parses words separated by single spaces.
static int parse(const char *line, struct options *o, char ***operands, int *count, buf *error)
{
    static char words[200];
    static char *argv[20];
    int argc = 0;
    memset(o, 0, sizeof *o);
    strncpy(words, line, sizeof words - 1);
    for (char *p = strtok(words, " "); p; p = strtok(NULL, " "))
        argv[argc++] = p;
    buf_clear(error);
    return args_parse(&command, argc, argv, o, operands, count, error);
}

static void every_way_to_write_an_option(void **state)
{
    (void)state;
    struct options o;
    char **operands;
    int count;
    buf error = BUF_INIT;
    assert_int_equal(parse("one -v --output=x two -j4 -- --all", &o, &operands, &count, &error), 0);
    assert_true(o.verbose && !o.all && o.jobs == 4 && !o.strict);
    assert_string_equal(o.output, "x");
    assert_int_equal(count, 3);
    assert_string_equal(operands[1], "two");
    assert_string_equal(operands[2], "--all");
    assert_int_equal(parse("-vo y - --strict --jobs 12", &o, &operands, &count, &error), 0);
    assert_true(o.verbose && o.jobs == 12);
    assert_string_equal(o.output, "y");
    assert_string_equal(o.strict, "");
    assert_string_equal(operands[0], "-");
    assert_int_equal(parse("--strict=measured -oz", &o, &operands, &count, &error), 0);
    assert_string_equal(o.strict, "measured");
    assert_string_equal(o.output, "z");
    assert_int_equal(parse("-v --help", &o, &operands, &count, &error), ARGS_HELP);
    assert_int_equal(parse("-vh", &o, &operands, &count, &error), ARGS_HELP);
    buf_free(&error);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *said;
    } cases[] = {
        {"--verbos", "build: unknown option --verbos; did you mean --verbose?"},
        {"--ouptut=x", "build: unknown option --ouptut; did you mean --output?"},
        {"--zzzzzz", "build: unknown option --zzzzzz"},
        {"-x", "build: unknown option -x"},
        {"--all=1", "build: --all takes no value"},
        {"--output", "build: --output wants a value: --output DIR"},
        {"-j x", "build: --jobs wants a number, not x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o;
        char **operands;
        int count;
        buf error = BUF_INIT;
        assert_int_equal(parse(cases[i].line, &o, &operands, &count, &error), 2);
        assert_string_equal(error.ptr, cases[i].said);
        buf_free(&error);
    }
}

static void printers_read_the_rows(void **state)
{
    (void)state;
    buf help = BUF_INIT, man = BUF_INIT, completion = BUF_INIT;
    args_help(&program, &command, &help);
    args_man(&program, &man);
    args_completion(&program, &completion);
    assert_non_null(strstr(help.ptr, "  -o, --output DIR        where to write\n"));
    assert_non_null(strstr(help.ptr, "      --strict[=WHAT]     warnings are errors\n"));
    assert_non_null(strstr(man.ptr, ".TP\n\\fB\\-o, \\-\\-output DIR\\fR\nwhere to write\n"));
    assert_non_null(strstr(man.ptr, "\n\\&.dot\n"));
    for (const struct arg_option *o = rows; o->name; o++)
        assert_non_null(strstr(completion.ptr, o->name));
    buf_clear(&help);
    args_help(&program, NULL, &help);
    assert_non_null(strstr(help.ptr, "  build [FILE]            Builds\n"));
    assert_non_null(strstr(help.ptr, "  0  fine\n"));
    assert_non_null(strstr(man.ptr, ".SH SETTINGS\n.TP\n\\fBtitle\\fR\nname of it\n"));
    buf_clear(&help);
    args_settings(&program, &help);
    assert_string_equal(help.ptr, "  title                   name of it\n");
    buf_free(&help);
    buf_free(&man);
    buf_free(&completion);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_write_an_option),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(printers_read_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
