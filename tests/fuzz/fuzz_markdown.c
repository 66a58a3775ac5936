// Any bytes as Markdown: no crash; what a site shows is well-formed HTML; what a plain fragment
// shows is what cmark-gfm itself would print. The first byte chooses extensions and whether
// cells, addresses and stale blocks are given, and whether it is of a vault or of GitBook.
#include <cmark-gfm-core-extensions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/html_scan.h"
#include "gen/text/markdown.h"
#include "tests/fuzz/gen_fuzz.h"

static void run_cells(str text, struct md *page, arena *a)
{
    size_t count;
    struct md_lua *cells = md_cells(page, &count);
    for (size_t i = 0; i < count; i++) {
        buf html = BUF_INIT;
        if (cells[i].offset > text.len || (!cells[i].is_example && !cells[i].code.len))
            abort();
        buf_lit(&html, "<a class=\"fig\" href=\"#x\"><data value=\"1\">");
        escape_text(&html, cells[i].code);
        escape_text(&html, cells[i].wanted);
        buf_lit(&html, "</data></a>");
        cells[i].html = arena_str(a, buf_view(&html));
        buf_free(&html);
    }
}

static void keep_addresses(str text, struct md_result *result)
{
    for (size_t i = 0; i < result->link_count; i++) {
        if (result->links[i].offset > text.len)
            abort();
        result->links[i].address = result->links[i].destination;
        result->links[i].width = i % 2;
    }
}

static void check_site(str text, unsigned extensions, bool given, unsigned foreign, arena *a,
                       struct diag *d)
{
    struct md_options o = {.extensions = extensions,
                           .top_heading = 2,
                           .max_table_cells = 2000,
                           .foreign = foreign,
                           .open_html = foreign != 0};
    static const bool stale[] = {true, false, false, true};
    if (given)
        o.gaps = true, o.stale = stale, o.stale_count = sizeof stale;
    buf printed = BUF_INIT, out = BUF_INIT;
    struct md_result result, scanned;
    struct md *page = md_open(text, 0, STR("fuzz.md"), &o, a, d, &printed);
    if (given)
        run_cells(text, page, a);
    md_print(page, &result);
    keep_addresses(text, &result);
    md_fill(buf_view(&printed), &result, a, &out);
    struct diag *found = diag_new((struct diag_options){0});
    if (utf8_invalid(text) == text.len && !html_check(buf_view(&out), STR("fuzz.html"), found)) {
        diag_flush(found);
        fwrite(out.ptr, 1, out.len, stdout);
        abort();
    }
    diag_free(found);
    md_scan(text, 0, STR("fuzz.md"), &o, a, d, &scanned);
    if (scanned.block_count != result.block_count || scanned.heading_count != result.heading_count)
        abort();
    for (size_t i = 0; i < result.block_count; i++)
        if (result.blocks[i].offset > text.len)
            abort();
    buf_free(&printed);
    buf_free(&out);
}

static cmark_node *parse(str text, unsigned extensions, cmark_parser **parser)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {MD_TABLE, "table"},         {MD_STRIKETHROUGH, "strikethrough"}, {MD_AUTOLINK, "autolink"},
        {MD_TAGFILTER, "tagfilter"}, {MD_TASKLIST, "tasklist"},
    };
    *parser = cmark_parser_new(extensions & MD_FOOTNOTES ? CMARK_OPT_FOOTNOTES : 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (extensions & names[i].bit)
            cmark_parser_attach_syntax_extension(*parser,
                                                 cmark_find_syntax_extension(names[i].name));
    cmark_parser_feed(*parser, text.ptr, text.len);
    return cmark_parser_finish(*parser);
}

static void check_plain(str text, unsigned extensions, bool unsafe, arena *a, struct diag *d)
{
    struct md_options o = {
        .extensions = extensions, .plain = true, .unsafe = unsafe, .max_table_cells = 2000};
    buf out = BUF_INIT;
    bool ok = md_render(text, 0, STR("fuzz.md"), &o, a, d, &out, NULL);
    cmark_parser *parser;
    cmark_node *root = ok ? parse(text, extensions, &parser) : NULL;
    if (root) {
        char *wanted = cmark_render_html(root, unsafe ? CMARK_OPT_UNSAFE : 0,
                                         cmark_parser_get_syntax_extensions(parser));
        if (!str_eq(buf_view(&out), str_c(wanted))) {
            printf("wanted:\n%s\ngot:\n%s\n", wanted, out.ptr);
            abort();
        }
        free(wanted);
        cmark_node_free(root);
        cmark_parser_free(parser);
    }
    buf_free(&out);
}

// The first line as a title, the text as its page: no line of its own may come out.
static void check_words(str text, arena *a)
{
    str rest = text, line = STR_NONE;
    str_line(&rest, &line);
    str words = md_words(line, text, a);
    if (str_find(words, '\n') < words.len)
        abort();
}

// What trees of other generators have besides, by the byte that chooses.
static unsigned foreign_of(uint8_t chosen)
{
    return (chosen & 16 ? MD_FOREIGN_WIKI | MD_FOREIGN_BREAKS : 0u) |
           (chosen & 8 ? MD_FOREIGN_BRACES | MD_FOREIGN_GITBOOK | MD_FOREIGN_SHORTCODES : 0u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    md_init();
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    char *copy = malloc(size);  // of its own size, so that a read behind it is seen
    if (!copy)
        return 0;
    memcpy(copy, data + 1, size - 1);
    str text = {copy, size - 1};
    check_site(text, data[0] & 32 ? MD_GFM | MD_MATH | MD_ADMONITIONS | MD_CONTAINERS : MD_GFM,
               data[0] & 64, foreign_of(data[0]), &a, d);
    check_plain(text, data[0] & 63, data[0] & 128, &a, d);
    check_words(text, &a);
    diag_free(d);
    arena_free(&a);
    free(copy);
    return 0;
}
