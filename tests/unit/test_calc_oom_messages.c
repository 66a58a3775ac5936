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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
