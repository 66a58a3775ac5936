// The reader of YAML and JSON: what each construct becomes, and what is refused.

#include "tests/unit/calc_fixture.h"

#include "calc/parse/pairs.h"

// Reads a text into "key=value;key=value;" or, where it is refused, "id@line:col".
static void read_into(const char *text, char *out, size_t cap)
{
    struct heap h = {0};
    vram *v = open_vram(&h);
    struct parse p = {.v = v, .text = text, .len = strlen(text)};
    struct pair_list pairs;
    pairs_init(&pairs, &v->mem, text);
    int rc = read_yaml(&p, &pairs);
    const struct vram_message *m = vram_error(v);
    size_t n = 0;
    out[0] = 0;
    if (rc != VRAM_OK)
        snprintf(out, cap, "%s@%u:%u", m->id, (unsigned)m->line, (unsigned)m->col);
    for (size_t i = 0; rc == VRAM_OK && i < pairs.count && n < cap; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s=%s;", pairs.at[i].key, pairs.at[i].value);
    pairs_free(&pairs);
    close_vram(v, &h);
}

static void check(const char *text, const char *wanted)
{
    char got[2000];
    read_into(text, got, sizeof got);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s\n  gives  %s\n  wanted %s", text, got, wanted);
}

static void test_blocks(void **state)
{
    (void)state;
    check("a: 1\nb: two words # a comment\nc:\nd: x#y\n", "a=1;b=two words;d=x#y;");
    check("---\na:\n  b:\n    c: 1\n  d: 2\n...\nnot read", "a.b.c=1;a.d=2;");
    check("a:\n- x\n- y\nb: 1\n", "a=x,y;b=1;");
    check("a:\n  - p: 1\n    q: 2\n  - p: 3\n", "a.0.p=1;a.0.q=2;a.1.p=3;");
    check("a:\n  -\n    p: 1\n  - - 1\n    - 2\n", "a.0.p=1;a=1,2;");
    check("a: one\n  two\n  three\nb: 1\n", "a=one two three;b=1;");
    check("a: |\n  text: no key\n  more\nb: 1\n", "a=|\n  text: no key\n  more;b=1;");
    check("a: http://x.org/y\nb: 12:30\r\nc: 1\r\n", "a=http://x.org/y;b=12:30;c=1;");
    check("a: []\nb: {}\nc: [ ]\n", "a=;b=;c=;");
    check("lr: 5e8\nn: 1_000\nm: 2048.0\nk: 1.5\nz: 0.0\n",
          "lr=500000000;n=1_000;m=2048;k=1.5;z=0.0;");
}

static void test_scalars(void **state)
{
    (void)state;
    check("a: 'it''s'\nb: \"x\\ty\\u00e9\\n\"\n", "a=it's;b=x\ty\xc3\xa9\n;");
    check("a: \"one\n  two\"\n\"k 1\": 2\n", "a=one two;k 1=2;");
    check("a: \"\\ud83d\\ude00\"\n", "a=\xf0\x9f\x98\x80;");
    check("a: &x 8\nb: *x\n", "a=8;b=8;");
}

static void test_flow(void **state)
{
    (void)state;
    check("a: [q, 'v', {b: 1}]\nc: {d: [1, 2], e: \"f\"}\n", "a.2.b=1;a=q,v;c.d=1,2;c.e=f;");
    check("a: [\n  x, # first\n  y,\n]\nb: 1\n", "a=x,y;b=1;");
    check("{\"a\": {\"b\": [1, 2], \"c\": null},\n \"d\": -1e-5}", "a.b=1,2;a.c=null;d=-1e-5;");
    check("  {}\n", "");
}

static void test_refusals(void **state)
{
    (void)state;
    check("a: [1, 2\n", "yaml_open_bracket@1:4");
    check("a: 'x\nb: 1\n", "open_quote@1:4");
    check("a: 1\n b: 2\n", "yaml_indent@2:2");
    check("a:\n\tb: 2\n", "yaml_tab@2:1");
    check("a: !!python/object x\n", "yaml_special@1:4");
    check("a: &x\n  b: 1\nc: *x\n", "yaml_alias@3:4");
    check("a: 1\n---\nb: 2\n", "yaml_second_document@2:1");
    check("a: \"x\" y\n", "yaml_after_value@1:8");
    check("a: \"\\q\"\n", "yaml_escape@1:5");
    check("{\"a\": 1,}", "json_comma@1:8");
    check("{a: 1}", "json_name@1:2");
    check("{\"a\": yes}", "json_word@1:7");
    check("{\"a\": 1} {", "yaml_after_value@1:10");
    check("words alone", "yaml_no_pair@1:1");
    check("[1, 2]", "list_alone@1:1");
    check("\n", "nothing_here@1:1");
}

// Nested as deep as nothing is, and long: an error or an answer, in no time that grows as its
// square.
static void test_hostile(void **state)
{
    enum { LONG = 200000 };
    char got[200], *text = malloc(LONG + 1);
    (void)state;
    assert_non_null(text);
    memset(text, '[', LONG);
    text[LONG] = 0;
    read_into(text, got, sizeof got);
    assert_string_equal(got, "nested_too_deep@1:64");
    memset(text, 'x', LONG);
    read_into(text, got, sizeof got);
    assert_string_equal(got, "yaml_no_pair@1:1");
    for (int i = 0; i + 4 <= LONG; i += 4)
        memcpy(text + i, "- - ", 4);
    read_into(text, got, sizeof got);
    assert_string_equal(got, "nested_too_deep@1:129");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),  cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_flow),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
