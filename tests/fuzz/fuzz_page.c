// The whole way of a page: front matter, Markdown with every extension and hook, and the HTML that
// comes out must be well-formed, without a script or an event handler, and the same each time.
#include "gen/base/escape.h"
#include "gen/text/front.h"
#include "gen/text/html_names.h"
#include "gen/text/html_scan.h"
#include "gen/text/markdown.h"
#include "tests/fuzz/gen_fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    md_init();
    return 0;
}

static void run_cells(struct md *page, arena *a)
{
    size_t count;
    struct md_lua *cells = md_cells(page, &count);
    for (size_t i = 0; i < count; i++) {
        buf html = BUF_INIT;
        buf_lit(&html, "<data value=\"1\">");
        escape_text(&html, cells[i].code);
        buf_lit(&html, "</data>");
        cells[i].html = arena_str(a, buf_view(&html));
        buf_free(&html);
    }
}

// Nothing that runs may come out of what a page says.
static bool is_harmless(void *ctx, const struct html_token *t)
{
    (void)ctx;
    if (t->event != HTML_OPEN)
        return true;
    static const char *const bad[] = {"script", "style", "iframe", "object", "embed",
                                      "form",   "base",  "meta",   "link"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fuzz_check(!str_eq_nocase(t->name, str_c(bad[i])), "a tag that runs or loads something\n");
    for (size_t i = 0; i < t->attribute_count; i++) {
        str name = t->attributes[i].name;
        fuzz_check(!(name.len > 2 && str_eq_nocase(str_slice(name, 0, 2), STR("on"))),
                   "an event handler\n");
        fuzz_check(!str_eq_nocase(name, STR("style")) && !str_eq_nocase(name, STR("srcdoc")),
                   "a style or a document\n");
        if (!str_eq_nocase(name, STR("href")) && !str_eq_nocase(name, STR("src")))
            continue;
        buf value = BUF_INIT;
        html_unescape(t->attributes[i].value, &value);
        fuzz_check(url_is_safe(buf_view(&value)), "an address that runs something\n");
        buf_free(&value);
    }
    return true;
}

// Pages of this project, of a vault and of GitBook, by turns.
static unsigned foreign_of(str text)
{
    static const unsigned foreign[] = {
        0, MD_FOREIGN_WIKI | MD_FOREIGN_BREAKS, MD_FOREIGN_BRACES | MD_FOREIGN_GITBOOK,
        MD_FOREIGN_BRACES | MD_FOREIGN_SHORTCODES, MD_FOREIGN_BRACES | MD_FOREIGN_LIQUID};
    return foreign[text.len % 5];
}

static bool render(str text, arena *a, struct diag *d, buf *out)
{
    struct front f;
    if (!front_parse(text, STR("fuzz.md"), a, d, &f))
        return false;
    static const bool stale[] = {false, true, false, false, true};
    struct md_options o = {.extensions = MD_GFM,
                           .top_heading = 2,
                           .foreign = foreign_of(text),
                           .open_html = foreign_of(text) != 0,
                           .max_table_cells = 2000,
                           .stale = stale,
                           .stale_count = sizeof stale};
    struct md *page = md_open(text, f.body, STR("fuzz.md"), &o, a, d, out);
    run_cells(page, a);
    return md_print(page, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    // A formula starts a process of another program: thousands of them a second would test that
    // program.
    if (utf8_invalid(text) < text.len || str_search(text, STR("$")) < text.len ||
        str_search(text, STR("math")) < text.len)
        return 0;
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){0}),
                *again = diag_new((struct diag_options){0});
    buf one = BUF_INIT, two = BUF_INIT;
    bool ok = render(text, &a, d, &one);
    fuzz_check(ok || diag_count(d, DIAG_ERROR) > 0, "refused without a message\n");
    render(text, &a, again, &two);
    fuzz_check(str_eq(buf_view(&one), buf_view(&two)), "not the same twice\n");
    if (ok) {
        struct diag *html = diag_new((struct diag_options){0});
        html_check(buf_view(&one), STR("out.html"), html);
        if (diag_count(html, DIAG_ERROR)) {
            diag_flush(html);
            fuzz_check(false, "what came out is not well-formed\n");
        }
        html_scan(buf_view(&one), is_harmless, NULL);
        diag_free(html);
    }
    buf_free(&one);
    buf_free(&two);
    diag_free(again);
    fuzz_messages(d);
    arena_free(&a);
    return 0;
}
