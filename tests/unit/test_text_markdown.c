// What md_result says of a page, and the same bytes as cmark-gfm's own renderer where a plain
// fragment is asked for.
#include <cmark-gfm-core-extensions.h>

#include "gen/text/markdown.h"
#include "tests/unit/base_fixture.h"

struct page {
    arena a;
    buf out;
    struct diag *d;
    struct md_result r;
};

static bool render_at(struct page *p, const char *text, size_t from, struct md_options o)
{
    *p = (struct page){.out = BUF_INIT, .d = diag_new((struct diag_options){0})};
    return md_render(str_c(text), from, STR("a.md"), &o, &p->a, p->d, &p->out, &p->r);
}

static bool render(struct page *p, const char *text)
{
    return render_at(p, text, 0, (struct md_options){.extensions = MD_GFM});
}

static void drop(struct page *p)
{
    arena_free(&p->a);
    buf_free(&p->out);
    diag_free(p->d);
}

static uint64_t hash_of(const char *text, size_t block)
{
    struct page p;
    render(&p, text);
    assert_true(block < p.r.block_count);
    uint64_t hash = p.r.blocks[block].hash;
    drop(&p);
    return hash;
}

static void wrapping_lines_anew_keeps_hashes(void **state)
{
    (void)state;
    uint64_t hash = hash_of("one two three four five six seven eight nine ten eleven\n", 0);
    assert_true(hash == hash_of("one two three four\nfive six seven eight nine\nten eleven", 0));
    assert_true(hash ==
                hash_of("one  two   three four five six seven\teight nine\n   ten eleven\n", 0));
    assert_true(hash ==
                hash_of("> one two three\n> four five six seven eight nine ten\neleven\n", 0));
    assert_true(hash ==
                hash_of("- one two three four five six\n  seven eight nine ten eleven\n", 0));
    assert_true(hash != hash_of("one two three four five six seven eight nine ten twelve\n", 0));
    assert_true(hash != hash_of("one twothree four five six seven eight nine ten eleven\n", 0));
    assert_true(hash_of("| a b | c |\n|---|---|\n", 0) == hash_of("|a b|   c|\n|---|:--|\n", 0));
    assert_true(hash_of("| a b | c |\n|---|---|\n", 0) != hash_of("| a | b c |\n|---|---|\n", 0));
    assert_true(hash_of("```\na  b\n```\n", 0) != hash_of("```\na b\n```\n", 0));
}

static void words_are_counted_by_white_space(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t words;
    } rows[] = {
        {"", 0},
        {"one", 1},
        {"one two", 2},
        {"  one\n  two  \n", 2},
        {"a b c d e f g h i j k l m n o p q r s t u v w x y z\n", 26},
        {"## one *two* `three`\n\n- four\n- five six\n", 6},
        {"```\nno words\n```\n", 0},
        {"| a b | c |\n|---|---|\n| d | e f |\n", 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct page p;
        render(&p, rows[i].text);
        assert_int_equal(p.r.words, rows[i].words);
        drop(&p);
    }
}

static void places_count_from_the_file_not_the_body(void **state)
{
    (void)state;
    static const char text[] =
        "---\ntitle: x\n---\nSee [it](no.md).\r\n\r\n## H\n\nTwo\rlines [b](c.md)\n";
    struct page p;
    render_at(&p, text, 17, (struct md_options){.extensions = MD_GFM});
    assert_int_equal(p.r.link_count, 2);
    assert_int_equal(p.r.links[0].offset, strstr(text, "no.md") - text);
    assert_int_equal(p.r.links[1].offset, strstr(text, "c.md") - text);
    assert_int_equal(p.r.blocks[1].offset, strstr(text, "## H") - text);
    assert_int_equal(p.r.blocks[2].offset, strstr(text, "Two") - text);
    drop(&p);
}

static void the_scan_finds_what_rendering_finds(void **state)
{
    (void)state;
    static const char text[] = "# T\n\np $`x`$ [a](b)\n\n```{lua}\nx\n```\n```output\ny\n```\n\n- "
                               "i\n\n> q\n\n| r |\n|---|\n\n```c\n```\n[^1]\n\n[^1]: n\n";
    struct page p;
    struct md_result scanned;
    struct md_options o = {.extensions = MD_GFM};
    render(&p, text);
    assert_true(md_scan(str_c(text), 0, STR("a.md"), &o, &p.a, p.d, &scanned));
    assert_int_equal(scanned.block_count, p.r.block_count);
    for (size_t i = 0; i < scanned.block_count; i++) {
        assert_true(scanned.blocks[i].hash == p.r.blocks[i].hash);
        assert_int_equal(scanned.blocks[i].kind, p.r.blocks[i].kind);
        assert_int_equal(scanned.blocks[i].offset, p.r.blocks[i].offset);
    }
    assert_int_equal(scanned.heading_count, 1);
    assert_str(scanned.headings[0].id, "t");
    assert_int_equal(scanned.link_count, 1);
    drop(&p);
}

static void wants_html(const char *text, const char *want)
{
    struct page p;
    assert_true(render(&p, text));
    assert_str(buf_view(&p.out), want);
    drop(&p);
}

static void odd_bytes(void **state)
{
    (void)state;
    wants_html("", "");
    wants_html("\xef\xbb\xbf# T", "<h1 id=\"t\">T<a class=\"anchor\" href=\"#t\" "
                                  "aria-hidden=\"true\" tabindex=\"-1\">#</a></h1>\n");
    wants_html("a\r\nb\rc\n", "<p>a\nb\nc</p>\n");
    wants_html("\xff\xfe", "<p>\xff\xfe</p>\n");
    wants_html("\n\n   \n", "");
}

static void what_stands_in_the_output_before_is_kept(void **state)
{
    (void)state;
    struct page p = {.out = BUF_INIT, .d = diag_new((struct diag_options){0})};
    struct md_options o = {.extensions = MD_GFM};
    buf_lit(&p.out, "<main>");
    md_render(STR("# H\n\ntext"), 0, STR("a.md"), &o, &p.a, p.d, &p.out, &p.r);
    assert_true(str_starts(buf_view(&p.out), STR("<main><h1 id=\"h\">")));
    assert_str(p.r.first_paragraph, "text");
    drop(&p);
}

static void put_cmark(const char *text, bool unsafe, buf *out)
{
    static const char *const names[] = {"table", "strikethrough", "autolink", "tasklist",
                                        "tagfilter"};
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_FOOTNOTES);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(names[i]));
    cmark_parser_feed(parser, text, strlen(text));
    cmark_node *root = cmark_parser_finish(parser);
    char *html = cmark_render_html(root, unsafe ? CMARK_OPT_UNSAFE : 0,
                                   cmark_parser_get_syntax_extensions(parser));
    buf_str(out, str_c(html));
    free(html);
    cmark_node_free(root);
    cmark_parser_free(parser);
}

static void a_plain_fragment_has_the_bytes_of_cmark(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a[^x] b[^x] c[^y]\n\n[^x]: note\n\n    > q\n\n[^y]: *z*\n",
        "- [x] a\n- [ ] b\n\n3) x\n4) y\n\n   z\n",
        "| a | b | c |\n|:--|--:|:-:|\n| `x \\| y` | ~~d~~ |\n",
        "<b>x</b> <!-- c -->\n\n<div>\n\n[a](javascript:x \"t\\\"q\") ![*b* <i>](d&e.png)  "
        "\nx\\\ny\n",
        "[^b]: see[^a]\n\nx[^a] ![i[^a]](u) y[^b]\n\n> [^a]: note[^b]\n>\n>     "
        "more\n\nlast[^a][^A]\n",
        "\xef\xbb\xbf[^a[^b]: one\n>[^c]: two\n\n[^a[^b] [^c]\n\n\t[^c]\n\n- [^d]: [^e]: "
        "deep\n\n[^d]: again[^e]\n[^d]\n",
        "> # h\n> ***\n\n```a b\n<&\">\n```\n\n    code\n",
        "a <b title=\"<script>x<style>\"> <script src=\"<xmp>\"> c\n\n<div "
        "title=\"<script>\">\n<xmp>\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int unsafe = 0; unsafe < 2; unsafe++) {
            struct page p;
            buf want = BUF_INIT;
            render_at(&p, texts[i], 0,
                      (struct md_options){
                          .extensions = MD_GFM | MD_TAGFILTER, .plain = true, .unsafe = unsafe});
            put_cmark(texts[i], unsafe, &want);
            assert_str(buf_view(&p.out), want.ptr);
            buf_free(&want);
            drop(&p);
        }
    }
}

static int begin(void **state)
{
    (void)state;
    md_init();
    return 0;
}

// The text of each block gives its hash again, and is where it is said to.
static void blocks_keep_their_text(void **state)
{
    (void)state;
    static const struct {
        char kind;
        const char *text, *source;
    } rows[] = {
        {'h', "Title {#t}", "Title {#t}"},
        {'p', "Text *goes* on.", "Text\n  *goes* on."},
        {'i', "item  \nbroken", "item  \n  broken"},
        {'q', "quoted lines", "quoted\n> lines"},
        {'r', "a | b |", "| a | b |"},
        {'r', "1 \\| 2 | `x` |", "| 1 \\| 2 | `x` |"},
        {'c', "  int x;\n\nint y;", "  int x;\n\nint y;"},
        {'i', "two", "two"},
        {'c', "y", "  y"},
        {'m', "x^2", "x^2"},
        {'q', "A *title*", "A *title*"},
        {'q', "Inside.", "Inside."},
        {'p', "Note.", "Note."},
    };
    static const char text[] =
        "# Title {#t}\n\nText\n  *goes* on.\n\n- item  \n  broken\n\n> quoted\n> lines\n\n| a | b "
        "|\n|---|---|\n| 1 \\| 2 | `x` |\n\n"
        "```c\n  int x;\n\nint y;\n```\n\n- two\n\n  ```\n  y\n  ```\n\n$$x^2$$\n\n!!! note \"A "
        "*title*\"\n    Inside.\n\n[^1]\n\n[^1]: Note.\n";
    struct md_options o = {.extensions = MD_GFM | MD_MATH | MD_ADMONITIONS, .keep_text = true};
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    struct md_result r;
    assert_true(md_scan(str_c(text), 0, STR("a.md"), &o, &a, d, &r));
    size_t n = 0;
    for (size_t i = 0; i < r.block_count; i++) {
        const struct md_block *b = &r.blocks[i];
        assert_true(md_block_hash(b->kind, b->text) == b->hash);
        if (b->kind == 'p' && str_eq(b->text, STR("[^1]")))
            continue;
        assert_true(n < sizeof rows / sizeof *rows);
        assert_int_equal(b->kind, rows[n].kind);
        assert_str(b->text, rows[n].text);
        assert_str(str_slice(str_c(text), b->start, b->end), rows[n].source);
        n++;
    }
    assert_int_equal(n, sizeof rows / sizeof *rows);
    diag_free(d);
    arena_free(&a);
}

// cmark-gfm gives empty blocks memory that was not written; what stood there before must not
// show.
static void empty_blocks_are_empty(void **state)
{
    (void)state;
    void *dirty[256];
    for (size_t i = 0; i < 256; i++)
        memset(dirty[i] = malloc(56), 'x', 56);
    for (size_t i = 0; i < 256; i++)
        free(dirty[i]);
    struct md_options o = {.extensions = MD_GFM, .keep_text = true};
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    struct md_result r;
    assert_true(md_scan(STR("| a | b |\n|---|---|\n| c |\n\n#\n"), 0, STR("a.md"), &o, &a, d, &r));
    assert_int_equal(r.block_count, 3);
    assert_str(r.blocks[1].text, "c |  |");
    assert_true(md_block_hash('r', r.blocks[1].text) == r.blocks[1].hash);
    assert_str(r.blocks[2].text, "");
    diag_free(d);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapping_lines_anew_keeps_hashes),
        cmocka_unit_test(words_are_counted_by_white_space),
        cmocka_unit_test(places_count_from_the_file_not_the_body),
        cmocka_unit_test(the_scan_finds_what_rendering_finds),
        cmocka_unit_test(odd_bytes),
        cmocka_unit_test(what_stands_in_the_output_before_is_kept),
        cmocka_unit_test(a_plain_fragment_has_the_bytes_of_cmark),
        cmocka_unit_test(blocks_keep_their_text),
        cmocka_unit_test(empty_blocks_are_empty),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
