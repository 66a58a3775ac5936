// Every wording of an out-of-memory message in tests/calc/oom_messages.tsv: whose it is, its sizes,
// the hints.

#include <stdarg.h>

#include "tests/unit/calc_answers.h"
#include "tests/unit/calc_fixture.h"

enum { LINE = 4096 };

static void add(char *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t len = strlen(out);
    vsnprintf(out + len, LINE - len, format, args);
    va_end(args);
}

static void add_size(char *out, const char *name, const struct vram_size *s)
{
    if (s->present)
        add(out, " %s=%.1f", name, (double)s->bytes / (1 << 20));
}

static void describe(char *out, const struct vram_oom *o)
{
    out[0] = 0;
    add(out, "%s", o->source);
    add_size(out, "tried", &o->tried);
    add_size(out, "total", &o->total);
    add_size(out, "free", &o->free);
    add_size(out, "allocated", &o->allocated);
    add_size(out, "reserved", &o->reserved);
    add_size(out, "unallocated", &o->unallocated);
    add_size(out, "in_use", &o->in_use);
    for (size_t i = 0; i < o->hint_count; i++)
        add(out, " %s", o->hints[i].id);
}

// "\n" becomes a line end.
static void unescape(char *s)
{
    char *to = s;
    for (; *s; s++)
        *to++ = s[0] == '\\' && s[1] == 'n' ? (s++, '\n') : *s;
    *to = 0;
}

// A line as it should be; false: it has another answer.
static bool is_answered(char *line, FILE *again)
{
    char *who = strtok(line, "\t"), *address = strtok(NULL, "\t"), *wanted = strtok(NULL, "\t"),
         *text = strtok(NULL, "\n");
    char found[LINE], raw[LINE];
    assert_non_null(text);
    snprintf(raw, sizeof raw, "%s", text);
    unescape(text);
    struct heap h = {0};
    vram *v = open_vram(&h);
    const struct vram_oom *o;
    set_all(v, "preset=gpt2 batch_size=8");
    // a configuration does not matter to what is no tensor of PyTorch's
    int code = vram_explain_oom(v, text, strlen(text), false, &o);
    snprintf(found, sizeof found, "%s", code ? vram_error(v)->text : "");
    if (code == VRAM_OK)
        describe(found, o);
    bool same = strcmp(found, wanted) == 0;
    if (code == VRAM_OK)
        same = same && (o->about != NULL) == o->driver;
    if (again)
        fprintf(again, "%s\t%s\t%s\t%s\n", who, address, found, raw);
    else if (!same)
        print_error("%s\n  wanted %s\n  found  %s\n", who, wanted, found);
    if (code == VRAM_OK)
        assert_int_equal(write_oom(v, text, strlen(text), true, VRAM_FORMAT_TEXT), VRAM_OK);
    close_vram(v, &h);
    return same;
}

static void test_messages(void **state)
{
    (void)state;
    FILE *f = fopen("tests/calc/oom_messages.tsv", "r");
    const char *update = getenv("UPDATE");
    FILE *again = update && *update ? fopen("tests/calc/oom_messages.new", "w") : NULL;
    char line[LINE];
    size_t count = 0, wrong = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') {
            if (again)
                fputs(line, again);
            continue;
        }
        count++;
        wrong += !is_answered(line, again);
    }
    fclose(f);
    if (again) {
        fclose(again);
        assert_int_equal(rename("tests/calc/oom_messages.new", "tests/calc/oom_messages.tsv"), 0);
        return;
    }
    assert_true(count >= 45);
    assert_int_equal(wrong, 0);
}

// The id of the error with which a text is no configuration; "": it is one.
static const char *refusal(vram *v, const char *text, const char *file)
{
    int rc = vram_parse(v, VRAM_KIND_AUTO, text, strlen(text), file, NULL, NULL);
    return rc == VRAM_OK ? "" : vram_error(v)->id;
}

// A message in place of a configuration is told from one, whoever's it is: the command line, Lua,
// Python and the page then say what reads it.
static void test_no_configuration(void **state)
{
    (void)state;
    FILE *f = fopen("tests/calc/oom_messages.tsv", "r");
    struct vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    char line[LINE];
    size_t count = 0;
    assert_non_null(f);
    for (; fgets(line, sizeof line, f); count += line[0] != '#') {
        char *text = strrchr(line, '\t');
        if (line[0] == '#' || !text)
            continue;
        line[strcspn(line, "\n")] = 0;
        unescape(++text);
        const struct vram_oom *oom;
        bool none = vram_explain_oom(v, text, strlen(text), false, &oom) != VRAM_OK &&
                    strcmp(vram_error(v)->id, "oom_no_message") == 0;
        if (!none)
            assert_string_equal(refusal(v, text, NULL), "text_is_oom");
    }
    fclose(f);
    assert_true(count > 100);
    vram_free(v);
}

// Settings, scripts and logs that speak of a message are what they are.
static void test_settings_that_speak_of_one(void **state)
{
    (void)state;
    static const char *const settings[][2] = {
        {"batch_size = 8  # 16: CUDA out of memory. Tried to allocate 2.00 GiB\n", NULL},
        {"# 16: torch.OutOfMemoryError\nout_dir = 'out'\nbatch_size = 8\nn_layer = 3\n", "t.py"},
        {"n_layer: 3  # more is killed: out of memory\nn_head: 3\n", "run.yaml"},
        {"number of parameters: 29.94M\niter 0: loss 10.9\nCUDA out of memory. Tried to allocate "
         "2.00 GiB\n",
         "run.log"},
    };
    struct vram_mem mem = vram_mem_malloc();
    vram *v = vram_new(&mem);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_string_equal(refusal(v, settings[i][0], settings[i][1]), "");
    assert_string_equal(refusal(v, "\x80\x04\x95pickle", "step.pickle"), "text_is_snapshot");
    vram_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_no_configuration),
                                       cmocka_unit_test(test_settings_that_speak_of_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
