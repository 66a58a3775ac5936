// PO files: what is read is written again, escapes both ways, comments and what stands for the text
// as it was.
#include "gen/text/po.h"
#include "tests/unit/base_fixture.h"

static bool parse(const char *text, arena *a, struct po *out)
{
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    bool ok = po_parse(str_c(text), STR("x.po"), a, d, out);
    assert_int_equal(ok, diag_count(d, DIAG_ERROR) == 0);
    diag_free(d);
    return ok;
}

static const char sample[] =
    "# Of the translator\n# in two lines\nmsgid \"\"\nmsgstr \"\"\n\"Language: "
    "de\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n"
    "\n#. paragraph\n#: a/en.md:5\n#, fuzzy\n#| msgid \"Old\"\nmsgctxt \"a#p1\"\nmsgid \"A "
    "\\\"text\\\"\\twith\\\\\"\nmsgstr \"Ein Text\"\n"
    "\nmsgctxt \"a#c1\"\nmsgid \"\"\n\"one\\n\"\n\"two\"\nmsgstr \"\"\n\"eins\\n\"\n\"zwei\"\n"
    "\nmsgid \"no context\"\nmsgstr \"\\001\"\n";

static void what_is_read_is_written(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    struct po po;
    buf out = BUF_INIT;
    assert_true(parse(sample, &a, &po));
    assert_int_equal(po.count, 3);
    assert_str(po_field(&po, STR("language")), "de");
    assert_str(po_field(&po, STR("Missing")), "");
    assert_str(po.header.comment, "Of the translator\nin two lines");
    assert_str(po.entries[0].id, "A \"text\"\twith\\");
    assert_str(po.entries[0].previous, "Old");
    assert_true(po.entries[0].fuzzy && !po.entries[1].fuzzy);
    assert_str(po.entries[1].text, "eins\nzwei");
    assert_str(po.entries[2].text, "\x01");
    po_format(&po, &out);
    assert_str(buf_view(&out), sample);
    buf_free(&out);
    arena_free(&a);
}

// What other tools write: wrapped strings, several references, flags, obsolete entries, a byte
// order mark, CR LF, no last line end.
static void what_others_write(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    struct po po;
    assert_true(parse("\xEF\xBB\xBFmsgid \"\"\r\nmsgstr \"Language: de\\n\"\r\n\r\n#: a:1 "
                      "b:2\r\n#: c:3\r\n#, c-format, fuzzy\r\n"
                      "#| msgctxt \"x\"\r\n#| msgid \"\"\r\n#| \"was \"\r\n#| \"this\"\r\nmsgctxt "
                      "\"k\"\r\nmsgid \"a \"\r\n  \"b\"\r\nmsgstr\"\"\r\n\"\\303\\244\\x41\"\r\n"
                      "\r\n#~ msgid \"gone\"\r\n#~ msgstr \"weg\"\r\n",
                      &a, &po));
    assert_int_equal(po.count, 1);
    assert_str(po.entries[0].id, "a b");
    assert_str(po.entries[0].text, "\xC3\xA4"
                                   "A");
    assert_str(po.entries[0].previous, "was this");
    assert_str(po.entries[0].reference, "a:1 b:2\nc:3");
    assert_true(po.entries[0].fuzzy);
    assert_true(parse("msgid \"a\"\nmsgstr \"b\"", &a, &po));
    assert_int_equal(po.count, 1);
    assert_true(parse("", &a, &po) && po.count == 0);
    arena_free(&a);
}

static void what_is_none(void **state)
{
    static const char *const rows[] = {
        "msgid",
        "msgid \"",
        "msgid \"a\" \"b\"\nmsgstr \"\"",
        "msgid \"a\\\"",
        "msgid \"\\\"",
        "msgid \"\\0\"\nmsgstr \"\"",
        "msgstr \"a\"",
        "msgid \"a\"\nmsgctxt \"b\"\nmsgstr \"c\"",
        "msgid \"a\"\nmsgstr \"b\"\nmsgstr \"c\"",
        "msgid \"a\"\n\"b\"\n#| \"c\"\nmsgstr \"d\"",
        "#| msgstr \"a\"",
        "#| msgid \"a\"\n\"b\"",
        "domain \"x\"",
        "msgid \"a\"\nmsgstr \"\\377\"",
        "msgid \"a\\377\"\nmsgstr \"b\"",
        "msgctxt \"\\377\"\nmsgid \"a\"\nmsgstr \"b\"",
        "#| msgid \"\\xC3\"\nmsgid \"a\"\nmsgstr \"b\"",
        "msgid \"\\xZZ\"\nmsgstr \"\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arena a = ARENA_INIT;
        struct po po;
        if (parse(rows[i], &a, &po))
            fail_msg("%s is read", rows[i]);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written),
        cmocka_unit_test(what_others_write),
        cmocka_unit_test(what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
