// Translations followed by hashes: fresh, stale, missing, orphaned; sequences aligned; numbers and
// structure compared.
#include "tests/unit/base_fixture.h"

#include "gen/site/translation/parity.h"
#include "gen/site/translation/sequence.h"
#include "gen/site/translation/staleness.h"

// Blocks written as words: "p1 p2 h3": a kind and a hash.
static struct md_result blocks(arena *a, const char *words)
{
    struct md_result r = {0};
    str rest = str_c(words), word;
    r.blocks = arena_new(a, struct md_block, rest.len + 1);
    while (str_cut(&rest, ' ', &word)) {
        uint64_t hash;
        if (!word.len)
            continue;
        str text = arena_str(a, str_slice(word, 1, word.len));
        hash = md_block_hash((uint8_t)word.ptr[0], text);
        r.blocks[r.block_count] = (struct md_block){
            .hash = hash, .offset = r.block_count * 10, .kind = (uint8_t)word.ptr[0], .text = text};
        r.block_count++;
    }
    return r;
}

// States of the translation's blocks as letters, then the missing blocks of the source.
static void states(const char *source_then, const char *own_then, const char *source_now,
                   const char *own_now, const char *want)
{
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    buf json = BUF_INIT, got = BUF_INIT;
    struct sidecar record = {.source = STR("a/en.md"), .language = STR("es")};
    struct md_result s1 = blocks(&a, source_then), o1 = blocks(&a, own_then),
                     s2 = blocks(&a, source_now), o2 = blocks(&a, own_now);
    staleness_accept_all(&s1, &o1, &record, &a);
    sidecar_format(&record, &json);
    struct staleness *x = staleness_parse(buf_view(&json), STR("es.source.json"), &s2, &o2, d, &a);
    assert_non_null(x);
    for (size_t i = 0; i < x->count; i++) {
        buf_char(&got, "fsou"[x->blocks[i].state]);
        assert_int_equal(x->behind[i],
                         x->blocks[i].state == BLOCK_STALE || x->blocks[i].state == BLOCK_ORPHANED);
    }
    for (size_t i = 0; i < x->missing_count; i++)
        buf_printf(&got, " %zu@%zu", x->missing[i].source, x->missing[i].before);
    if (!str_eq(buf_view(&got), str_c(want)))
        fail_msg("%s | %s -> %s | %s\n  gives %s\n  wanted %s\n%s", source_then, own_then,
                 source_now, own_now, got.ptr, want, json.ptr);
    buf_free(&json);
    buf_free(&got);
    diag_free(d);
    arena_free(&a);
}

static void follows_blocks(void **state)
{
    (void)state;
    states("h1 p2 p3", "h11 p12 p13", "h1 p2 p3", "h11 p12 p13", "fff");
    states("h1 p2 p3", "h11 p12 p13", "h1 p9 p3", "h11 p12 p13", "fsf");
    states("h1 p2 p3", "h11 p12 p13", "h1 p2 p9 p3", "h11 p12 p13", "fff 2@2");
    states("h1 p2 p3", "h11 p12 p13", "h1 p3", "h11 p12 p13", "fof");
    states("h1 p2 p3", "h11 p12 p13", "h1 p2 p3", "h11 p19 p13", "fff");
    states("h1 p2 p3", "h11 p12 p13", "h1 p2 p3", "h11 p12 p99 p13", "ffuf");
    states("h1 p2 p3", "h11 p13", "h1 p2 p3", "h11 p13", "ff 2@2");
    states("h1 p2 h3 p4", "h11 h13 p14", "h1 p2 h3 p4", "h11 h13 p14", "fff 1@1");
    states("p1 p2 p3", "p11 p12 p13", "p7 p8 p9", "p11 p12 p13", "sss");
    states("p1 p2 p3", "p11 p12 p13", "p3 p1 p2", "p11 p12 p13", "ffo 0@0");
    states("p1", "p11", "", "p11", "o");
    states("", "", "p1", "", " 0@0");
    states("p1 p2", "p11 p12 p13", "p1 p2", "p11 p12 p13", "ffu");
    states("p1 c2 p3", "p11 c12 p13", "p1 c9 c8 p3", "p11 c12 p13", "fsf 2@2");
}

static void sidecars_are_readable(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    buf json = BUF_INIT;
    struct sidecar record = {.source = STR("a/en.md"), .language = STR("es")}, again;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct md_result s = blocks(&a, "h1 p2"), o = blocks(&a, "h17");
    staleness_accept_all(&s, &o, &record, &a);
    sidecar_format(&record, &json);
    buf want = BUF_INIT;
    buf_printf(&want,
               "{\n  \"schema\": \"vramdoc-source/2\",\n  \"source\": \"a/en.md\",\n  "
               "\"language\": \"es\",\n  \"blocks\": [\n"
               "    {\"kind\": \"h\", \"own\": \"%016llx\", \"source\": \"1\"},\n    {\"kind\": "
               "\"p\", \"source\": \"2\"}\n  ]\n}\n",
               (unsigned long long)o.blocks[0].hash);
    assert_str(buf_view(&json), want.ptr);
    assert_true(sidecar_parse(buf_view(&json), STR("x"), &a, d, &again));
    assert_int_equal(again.count, 2);
    assert_true(again.pairs[1].source == s.blocks[1].hash &&
                again.pairs[0].own == o.blocks[0].hash);
    diag_free(d);
    buf_free(&want);
    buf_free(&json);
    arena_free(&a);
}

// Of the translation's blocks only the chosen are accepted; then states as above.
static void accepts(const char *source_now, const char *own_now, const char *choice,
                    const char *want)
{
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct md_result s1 = blocks(&a, "h1 p2 p3"), o1 = blocks(&a, "h11 p12 p13");
    struct md_result s2 = blocks(&a, source_now), o2 = blocks(&a, own_now);
    struct sidecar first = {0}, second = {0};
    buf json = BUF_INIT, got = BUF_INIT;
    bool chosen[8] = {false};
    for (size_t i = 0; choice[i]; i++)
        chosen[i] = choice[i] == 'x';
    staleness_accept_all(&s1, &o1, &first, &a);
    sidecar_format(&first, &json);
    struct staleness *x = staleness_parse(buf_view(&json), STR("x"), &s2, &o2, d, &a);
    staleness_accept(x, chosen, &s2, &o2, &second, &a);
    buf_clear(&json);
    sidecar_format(&second, &json);
    x = staleness_parse(buf_view(&json), STR("x"), &s2, &o2, d, &a);
    for (size_t i = 0; i < x->count; i++)
        buf_char(&got, "fsou"[x->blocks[i].state]);
    assert_str(buf_view(&got), want);
    buf_free(&json);
    buf_free(&got);
    diag_free(d);
    arena_free(&a);
}

static void single_blocks_are_accepted(void **state)
{
    (void)state;
    accepts("h1 p8 p9", "h11 p12 p13", "", "fss");
    accepts("h1 p8 p9", "h11 p12 p13", "-x", "ffs");
    accepts("h1 p8 p9", "h11 p12 p13", "--x", "fsf");
    accepts("h1 p8 p9", "h11 p19 p13", "-x", "ffs");
    accepts("h1 p3", "h11 p12 p13", "-x", "fuf");
    accepts("h1 p8 p3", "h11 p12 p99 p13", "--x", "fsuf");
    accepts("h1 p2 p3", "p98 h11 p12 p13", "x", "ufff");
}

// A record of schema 1 is read as one of schema 2 whose texts are not known, and stays so where it
// is stale.
static void older_sidecars(void **state)
{
    (void)state;
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct md_result s = blocks(&a, "h1 p9"), o = blocks(&a, "h11 p12");
    buf json = BUF_INIT, again = BUF_INIT;
    bool none[2] = {false};
    struct sidecar next = {.source = STR("a"), .language = STR("es")};
    buf_printf(&json,
               "{\"schema\":\"vramdoc-source/1\",\"blocks\":[\"h %016llx %016llx\",\"p "
               "000000000000000a %016llx\"]}",
               (unsigned long long)s.blocks[0].hash, (unsigned long long)o.blocks[0].hash,
               (unsigned long long)o.blocks[1].hash);
    struct staleness *x = staleness_parse(buf_view(&json), STR("x"), &s, &o, d, &a);
    assert_non_null(x);
    assert_true(x->blocks[0].state == BLOCK_FRESH && x->blocks[1].state == BLOCK_STALE);
    staleness_accept(x, none, &s, &o, &next, &a);
    sidecar_format(&next, &again);
    assert_true(str_search(buf_view(&again), STR("\"source\": \"1\"}")) < again.len);
    assert_true(str_search(buf_view(&again), STR("\"hash\": \"000000000000000a\"}")) < again.len);
    x = staleness_parse(buf_view(&again), STR("x"), &s, &o, d, &a);
    assert_true(x && x->blocks[1].state == BLOCK_STALE);
    buf_free(&json);
    buf_free(&again);
    diag_free(d);
    arena_free(&a);
}

static void damaged_sidecars(void **state)
{
    static const char *const rows[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"schema\":\"vramdoc-source/3\",\"blocks\":[]}",
        "{\"schema\":\"vramdoc-source/1\"}",
        "{\"schema\":\"vramdoc-source/1\",\"blocks\":[5]}",
        "{\"schema\":\"vramdoc-source/1\",\"blocks\":[\"p 1 2\"]}",
        "{\"schema\":\"vramdoc-source/1\",\"blocks\":[\"p 000000000000000g -\"]}",
        "{\"schema\":\"vramdoc-source/1\",\"blocks\":[\"pp 0000000000000001 -\"]}",
        "{\"schema\":\"vramdoc-source/2\",\"blocks\":[\"p 0000000000000001 -\"]}",
        "{\"schema\":\"vramdoc-source/2\",\"blocks\":[{}]}",
        "{\"schema\":\"vramdoc-source/2\",\"blocks\":[{\"kind\":\"p\",\"own\":\"x\"}]}",
        "{\"schema\":\"vramdoc-source/2\",\"blocks\":[{\"kind\":\"p\",\"hash\":5}]}",
        "{\"schema\":\"vramdoc-source/2\",\"blocks\":[{\"kind\":\"p\",\"source\":[]}]}",
    };
    (void)state;
    arena a = ARENA_INIT;
    struct md_result s = blocks(&a, "p1"), o = blocks(&a, "p2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diag *d = diag_new((struct diag_options){.quiet = true});
        assert_null(staleness_parse(str_c(rows[i]), STR("x.source.json"), &s, &o, d, &a));
        assert_true(diag_has(d, D_SIDECAR_SYNTAX));
        diag_free(d);
    }
    arena_free(&a);
}

static void aligns_long_sequences(void **state)
{
    enum { N = 6000 };
    (void)state;
    arena a = ARENA_INIT;
    uint64_t *x = arena_new(&a, uint64_t, N), *y = arena_new(&a, uint64_t, N);
    size_t *partner = arena_new(&a, size_t, N), paired = 0;
    for (size_t i = 0; i < N; i++) {
        x[i] = i;
        y[i] = i % 10 == 5 ? 1000000 + i : i;
    }
    sequence_align(x, N, y, N, partner, &a);
    for (size_t i = 0; i < N; i++)
        paired += partner[i] == i;
    assert_int_equal(paired, N - N / 10);
    arena_free(&a);
}

// ---- numbers -----------------------------------------------------------------------------------

struct side {
    struct language language;
    struct page page;
    struct parity_text text;
    struct md_result md;
};

static void side_make(struct side *s, const char *tag, const char *text, arena *a)
{
    struct md_options o = {.extensions = MD_GFM};
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    *s = (struct side){.language = {.tag = str_c(tag), .locale = locale_open(str_c(tag))}};
    s->page.language = &s->language;
    md_scan(str_c(text), 0, STR("x"), &o, a, d, &s->md);
    s->text = (struct parity_text){&s->page, arena_printf(a, "%s.md", tag), str_c(text), &s->md};
    diag_free(d);
}

static void compares(const char *english, const char *tag, const char *other, const char *want)
{
    arena a = ARENA_INIT;
    struct side en, own;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    buf said = BUF_INIT;
    side_make(&en, "en", english, &a);
    side_make(&own, tag, other, &a);
    parity_check(&en.text, &own.text, d, &a);
    diag_text(d, &said);
    if (want ? str_search(buf_view(&said), str_c(want)) == said.len : said.len != 0)
        fail_msg("%s\n%s\n  says %s\n  wanted %s", english, other, said.ptr,
                 want ? want : "nothing");
    locale_free(en.language.locale);
    locale_free(own.language.locale);
    buf_free(&said);
    diag_free(d);
    arena_free(&a);
}

static void the_same_numbers(void **state)
{
    (void)state;
    compares("It takes 4,464 of 6.5.\n", "de", "Es braucht 4.464 von 6,5.\n", NULL);
    compares("It takes 30,130,176.\n", "hi", "3,01,30,176 \xe0\xa4\xb9\xe0\xa5\x88\n", NULL);
    compares("It takes 4464 bytes and 80%.\n", "fr",
             "4\xe2\x80\xaf"
             "464 octets et 80 %.\n",
             NULL);
    compares("Two of twelve, and 12 more.\n", "de", "2 von 12, und zw\xc3\xb6lf mehr.\n", NULL);
    compares("An H200 with fp16, see [one](a-2024.html) and https://x.org/77 or <b>x</b> &#160;.\n",
             "de",
             "Ein H100 mit fp32, siehe [eins](b-2025.html) und https://x.org/78 oder <i>x</i> .\n",
             NULL);
    compares("`{lua} peak` and `batch_size=16`\n", "de", "`batch_size=16` und `{lua} peak`\n",
             NULL);
    compares("```\nx = 16\n```\n", "de", "```\nx = 16\n```\n", NULL);
    compares("PyTorch 2.5.1 of 2025-11-21\n", "de", "PyTorch 2.5.1 vom 2025-11-21\n", NULL);
}

static void other_numbers(void **state)
{
    (void)state;
    compares("It takes 4,464.\n", "de", "Es braucht 4.465.\n",
             "de.md:1:12: warning: a number that differs between translations of a document: 4465 "
             "here, 4464 in line 1 of the source");
    compares("It takes 4,464 of 5,000.\n", "de", "Es braucht 4.464.\n",
             "en.md:1:19: warning: a number that differs between translations of a document: 5000 "
             "is not in de.md:1");
    compares("It takes 4,464.\n", "de", "Es braucht 4.464 von 5.000.\n", "de.md:1:22: warning");
    compares("It takes 4.464.\n", "de", "Es braucht 4.464.\n",
             "4464 here, 4.464 in line 1 of the source");
    compares("a\n\n`{lua} peak`\n", "de", "a\n\n`{lua} peek`\n",
             "de.md:3:1: warning: a number that differs between translations of a document: {lua} "
             "peek here, {lua} peak in line 3 of the source");
    compares("```\nx = 16\n```\n", "de", "```\nx = 17\n```\n",
             "17 here, 16 in line 2 of the source");
    compares("`size=16`\n", "de", "`size=8`\n", "size=8 here, size=16 in line 1 of the source");
    compares("20 and 20\n", "de", "20\n",
             "en.md:1:8: warning: a number that differs between translations of a document: 20 is "
             "not in de.md:1");
    compares("| a | b |\n|---|---|\n| 15 | 20 |\n", "de", "| a | b |\n|---|---|\n| 15 | 21 |\n",
             "21 here, 20 in line 3 of the source");
}

static void other_structure(void **state)
{
    (void)state;
    compares("# A\n\nb\n\nc\n", "de", "# A\n\nb\n",
             "de.md:4:1: warning: a translation whose structure differs from its source: the end "
             "here, a paragraph in line 5");
    compares("# A\n\nb\n", "de", "# A\n\n```\nb\n```\n",
             "code here, a paragraph in line 3 of the source");
    compares("# A\n\n15\n\nc\n", "de", "# A\n\nc 15\n", "structure differs");
}

static void setup_markdown(void)
{
    md_init();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_blocks),   cmocka_unit_test(sidecars_are_readable),
        cmocka_unit_test(damaged_sidecars), cmocka_unit_test(single_blocks_are_accepted),
        cmocka_unit_test(older_sidecars),   cmocka_unit_test(aligns_long_sequences),
        cmocka_unit_test(the_same_numbers), cmocka_unit_test(other_numbers),
        cmocka_unit_test(other_structure),
    };
    setup_markdown();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
