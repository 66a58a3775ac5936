// Figures: page.lua, cells in five locales, arithmetic that carries kind and source, records,
// examples, checks.
#include "tests/unit/base_fixture.h"

#include <unistd.h>

#include "gen/site/figures/figures.h"
#include "gen/site/source/measurements.h"
#include "gen/site/template/view.h"

struct fixture {
    char dir[64];
    struct site site;
    struct language language, *list[1];
    struct page page, *pages[1];
    struct document document;
    struct diag *d;
    struct figures *figures;
    buf out, messages;
};

static void put_file(const struct fixture *f, const char *name, const char *text)
{
    buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", f->dir, name);
    size_t slash = str_rfind(buf_view(&path), '/');
    path.ptr[slash] = '\0';
    fs_mkdirs(path.ptr);
    path.ptr[slash] = '/';
    assert_true(fs_write(path.ptr, str_c(text)) >= 0);
    buf_free(&path);
}

static struct fixture *setup(const char *tag)
{
    struct fixture *f = calloc(1, sizeof *f);
    memcpy(f->dir, "/tmp/vramdoc-figs.XXXXXX", 25);
    assert_non_null(mkdtemp(f->dir));
    f->d = diag_new((struct diag_options){.quiet = true});
    f->out = f->messages = BUF_INIT;
    struct locale *l = locale_open(str_c(tag));
    struct catalog *c = catalog_parse(
        STR("{\"figure.missing\":\"noch nicht gemessen\",\"figure.stale\":\"alt\","
            "\"figure.kind.claimed\":\"behauptet\",\"source.two bytes\":\"zwei Byte\","
            "\"source.rule of thumb\":\"Faustregel\"}"),
        STR("c"), l, NULL, f->d);
    f->language = (struct language){str_c(tag), l, c, 0};
    f->list[0] = &f->language;
    f->page =
        (struct page){.document = &f->document, .language = &f->language, .source = STR("a/de.md")};
    f->pages[0] = &f->page;
    f->document = (struct document){
        .key = STR("a"), .pages = f->pages, .source = &f->page, .page_lua = STR("")};
    f->site.languages = f->list;
    f->site.language_count = 1;
    f->site.settings.content_dir = str_c(f->dir);
    f->site.diag = f->d;
    f->site.settings.max_page_bytes = 1 << 20;
    return f;
}

static void load(struct fixture *f, const char *page_lua)
{
    static const char name[] = "a/page.lua";
    char *path = malloc(strlen(f->dir) + sizeof name + 1);
    if (page_lua) {
        put_file(f, name, page_lua);
        memcpy(path, f->dir, strlen(f->dir));
        path[strlen(f->dir)] = '/';
        memcpy(path + strlen(f->dir) + 1, name, sizeof name);
        f->document.page_lua = str_c(path);
    } else {
        free(path);
    }
    fs_walk(f->dir, NULL, &f->site.arena, &f->site.files, NULL);
    measurements_read(&f->site);
    f->figures = figures_load(&f->site, &f->document, f->d);
    figures_begin_page(f->figures);
}

static void teardown(struct fixture *f)
{
    figures_free(f->figures);
    if (f->document.page_lua.len)
        free((char *)f->document.page_lua.ptr);
    measurements_free(&f->site);
    arena_free(&f->site.arena);
    catalog_free(f->language.catalog);
    locale_free(f->language.locale);
    fs_remove_tree(f->dir);
    diag_free(f->d);
    buf_free(&f->out);
    buf_free(&f->messages);
    free(f);
}

// What a cell or an example gives and says is looked at by itself: output and messages of earlier
// ones are forgotten.
static void forget(struct fixture *f)
{
    buf_clear(&f->out);
    diag_clear(f->d);
}

static const char *messages(struct fixture *f)
{
    buf_clear(&f->messages);
    diag_text(f->d, &f->messages);
    return f->messages.ptr;
}

static bool cell(struct fixture *f, const char *code)
{
    forget(f);
    str text = STR("line one\nline `{lua} x`\n");
    return figures_cell(f->figures, &f->page, str_c(code), DIAG_AT(STR("a/de.md"), text, 14),
                        &f->out);
}

static void shows(struct fixture *f, const char *code, const char *want)
{
    bool ok = cell(f, code);
    if (!ok || str_search(buf_view(&f->out), str_c(want)) == f->out.len)
        fail_msg("%s\n  gives %s\n  wanted %s\n  %s", code, f->out.ptr, want, messages(f));
}

static bool reports(struct fixture *f, const char *what)
{
    return strstr(messages(f), what);
}

static void refuses(struct fixture *f, const char *code, const char *message)
{
    bool ok = cell(f, code);
    if (ok || !reports(f, message))
        fail_msg("%s\n  gives %d %s\n  wanted %s", code, ok, f->messages.ptr, message);
}

static const char lua[] =
    "local function twice(x) return 2 * x end\n"
    "return {\n"
    "  peak = computed(6187763980, 'B', 'batch_size=16'),\n"
    "  half = computed(twice(3093881990), 'B', {dtype = 'float16', batch_size = 16}),\n"
    "  seen = reported(4464 * 2^20, 'B', 'https://example.org/a?b=c'),\n"
    "  rule = claimed(300e6, 'B', \"somebody's rule\"),\n"
    "  params = computed(30135168, '', 'from the config'),\n"
    "  speed = computed(1234.567, 'tokens/s', 'x'),\n"
    "}\n";

static void cells_in_german(void **state)
{
    (void)state;
    struct fixture *f = setup("de");
    load(f, lua);
    shows(f, "peak",
          "<a class=\"fig computed\" href=\"#source-1\" id=\"cite-1\"><data "
          "value=\"6187763980\">5.901\xc2\xa0MiB</data></a>");
    shows(f, "GiB(peak, 2)", "5,76\xc2\xa0GiB");
    shows(f, "GB(peak)", "6,2\xc2\xa0GB");
    shows(f, "MB(peak, 1)", "6.187,8\xc2\xa0MB");
    shows(f, "params", "30.135.168");
    shows(f, "number(params / 1e6, 1)", "30,1");
    shows(f, "percent(peak / seen)", "132\xc2\xa0%");
    shows(f, "difference(rule, peak)", "-95\xc2\xa0%");
    shows(f, "difference(peak, seen, 1)", "+32,2\xc2\xa0%");
    shows(f, "ratio(peak, rule, 1)", "20,6\xc3\x97");
    shows(f, "given(12282, \"MiB\")",
          "<data value=\"12878610432\" class=\"fig given\">12.282\xc2\xa0MiB</data>");
    shows(f, "given(16)", "<data value=\"16\" class=\"fig given\">16</data>");
    shows(f, "given(12, \"GB\")", "12\xc2\xa0GB");
    shows(f, "speed", "1.234,57\xc2\xa0tokens/s");
    teardown(f);
}

static void cells_in_other_locales(void **state)
{
    static const char *const rows[][2] = {
        {"en", "5,901\xc2\xa0MiB"},
        {"fr", "5\xe2\x80\xaf"
               "901\xe2\x80\xafMio"},
        {"es", "5901\xc2\xa0MiB"},
        {"hi", "5,901\xc2\xa0MiB"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *f = setup(rows[i][0]);
        load(f, lua);
        shows(f, "peak", rows[i][1]);
        teardown(f);
    }
}

static void arithmetic_carries_kind_and_source(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f, lua);
    shows(f, "peak / seen", "fig computed");
    shows(f, "peak - rule", "fig claimed");
    shows(f, "peak + given(1, 'MiB')", "fig computed");
    shows(f, "2 * peak", "12375527960");
    shows(f, "peak // given(1, 'MiB')", "value=\"5901\"");
    const struct figure *const *list;
    assert_int_equal(figures_cited(f->figures, &list), 5);
    assert_str(list[0]->source, "batch_size=16; https://example.org/a?b=c");
    assert_str(list[0]->name, "peak / seen");
    assert_str(list[2]->source, "batch_size=16");
    shows(f, "difference(peak, seen)", "fig computed");
    shows(f, "difference(seen, seen)", "fig reported");
    shows(f, "seen - peak", "fig reported");
    refuses(f, "peak + params", "cannot be added");
    refuses(f, "peak * seen", "has no unit here");
    refuses(f, "peak ^ 2", "powers are for plain numbers");
    refuses(f, "peak / (peak - peak)", "not a finite number");
    teardown(f);
}

static void rows_of_sources(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f, lua);
    shows(f, "seen", "#source-1");
    shows(f, "peak", "#source-2");
    shows(f, "seen", "#source-1");
    shows(f, "half", "#source-3");
    size_t n;
    const struct view_figure *rows = figures_view(f->figures, &n);
    assert_int_equal(n, 3);
    assert_str(rows[0].source_html,
               "<a href=\"https://example.org/a?b=c\">https://example.org/a?b=c</a>");
    assert_str(rows[0].anchor, "source-1");
    assert_str(rows[0].kind, "reported");
    assert_str(rows[0].text, "4,464\xc2\xa0MiB");
    assert_str(rows[2].source_html, "batch_size=16 dtype=float16");
    figures_begin_page(f->figures);
    shows(f, "peak", "#source-1");
    teardown(f);
}

static void wrong_cells(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f, lua);
    refuses(
        f, "nothing",
        "a/de.md:2:6: error: a figure that the page.lua of this document does not define: nothing");
    refuses(f, "percent(peak / other)", "does not define: other");
    refuses(f, "42", "write given(...)");
    refuses(f, "GiB(42)", "a bare number has no source");
    refuses(f, "MiB(params)", "not bytes");
    refuses(f, "peak +", "a/de.md:2:6: error: error in Lua");
    refuses(f, "(function() while true do end end)()", "ran past its limit");
    refuses(f, "rawset(_ENV, 'peak', 1)", "a/de.md:2:6: error");
    refuses(f, "peak.nothing", "has no field");
    assert_true(reports(f, "has no field"));
    shows(f, "peak", "5,901");
    assert_string_equal(messages(f), "");
    teardown(f);
}

static void without_page_lua(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f, NULL);
    shows(f, "given(12282, 'MiB')", "12,282\xc2\xa0MiB");
    refuses(f, "peak", "does not define: peak");
    teardown(f);
}

static void wrong_page_lua(void **state)
{
    static const char *const rows[][2] = {
        {"return {\n x = computed(1, 'B')\n}",
         "page.lua:2:2: error: a figure without kind or source"},
        {"return { x = 5 }", "x is a bare number"},
        {"return 5", "must return a table"},
        {"return { computed(1, '', 'x') }", "without a name"},
        {"x = = 1", "page.lua:1:1: error: error in Lua"},
        {"local a\nlocal b = a.c\nreturn {}", "page.lua:2:1: error: error in Lua"},
        {"while true do end", "ran past its limit"},
        {"return { x = computed(0/0, '', 'x') }", "not a finite number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *f = setup("en");
        load(f, rows[i][0]);
        if (!reports(f, rows[i][1]))
            fail_msg("%s\n  says %s\n  wanted %s", rows[i][0], f->messages.ptr, rows[i][1]);
        teardown(f);
    }
}

#define SHA256 "0000000000000000000000000000000000000000000000000000000000000000"
#define RECORD(id, date, protocol, device, value) \
    "{\"schema\":\"vramprobe/1\",\"id\":\"" id "\",\"status\":\"ok\",\"created_utc\":\"" date \
    "T00:00:00Z\"," \
    "\"tool\":{\"name\":\"vramprobe\",\"version\":\"1.0\",\"protocols\":{\"framework_" \
    "step\":" protocol "}," \
    "\"sources_sha256\":\"" SHA256 "\",\"command\":[]},\"code\":{\"commit\":null,\"dirty\":null}," \
    "\"host\":{\"os\":\"Linux\"},\"device\":{\"name\":\"" device \
    "\",\"compute_capability\":\"9.0\"," \
    "\"sm_count\":132,\"memory_total_bytes\":150754820096}," \
    "\"software\":{\"driver\":\"550.1\",\"torch\":\"2.5.1\"},\"results\":[" \
    "{\"experiment\":\"framework_step\",\"engine\":\"torch-eager\",\"protocol\":" protocol "," \
    "\"config\":{\"batch_size\":16,\"dtype\":\"float16\",\"fused\":true},\"status\":\"ok\"," \
    "\"values\":{\"max_memory_allocated_bytes\":{\"unit\":\"B\",\"value\":" value "}}}," \
    "{\"experiment\":\"framework_step\",\"engine\":\"torch-eager\",\"protocol\":" protocol "," \
    "\"config\":{\"batch_size\":8},\"status\":\"oom\",\"values\":{}}]}"

static const char measuring[] = "local function m(q) q.value = 'max_memory_allocated_bytes' return "
                                "measured('framework_step', q) end\n"
                                "return {\n"
                                "  a = m{batch_size = 16, engine = 'torch-eager', fused = true},\n"
                                "  b = m{batch_size = 8},\n"
                                "  c = m{batch_size = 16, device = '4070'},\n"
                                "  d = m{batch_size = 16, record = 'old'},\n"
                                "}\n";

static void measured_figures(void **state)
{
    (void)state;
    struct fixture *f = setup("de");
    put_file(f, "measurements/new.json",
             RECORD("new", "2026-11-20", "2", "NVIDIA H200", "6187763980"));
    put_file(f, "measurements/old.json",
             RECORD("old", "2026-10-20", "1", "NVIDIA GeForce RTX 4070", "5"));
    put_file(f, "measurements/other.json", "{\"schema\":\"vramprobe/9\"}");
    put_file(f, "measurements/bare.json", "{\"schema\":\"vramprobe/1\"}");
    put_file(f, "measurements/renamed.json", RECORD("x", "2026-12-20", "3", "NVIDIA H200", "7"));
    put_file(f, "measurements/broken.json", "{");
    load(f, measuring);
    assert_true(reports(f, "other.json:1:11: error: a record of measurements that is not valid: "
                           "schema: vramprobe/1 is wanted"));
    assert_true(reports(
        f, "bare.json:1:1: error: a record of measurements that is not valid: tool: is missing"));
    assert_true(reports(f, "renamed.json:1:30: error: a record of measurements that is not valid: "
                           "id: the name of the file without .json"));
    assert_true(reports(f, "broken.json:1:2: error: a record of measurements that is not valid: a "
                           "key in quotes is wanted here"));
    assert_true(reports(
        f,
        "warning: a measured figure without a record: framework_step: max_memory_allocated_bytes"));
    shows(f, "a",
          "<a class=\"fig measured\" href=\"#source-1\" id=\"cite-1\"><data "
          "value=\"6187763980\">5.901\xc2\xa0MiB");
    shows(f, "b", "<span class=\"missing\" title=\"noch nicht gemessen\">\xe2\x80\x93</span>");
    shows(f, "b", "missing");
    assert_int_equal(figures_unmeasured(f->figures), 1);
    shows(f, "percent(a / b)", "missing");
    shows(f, "c", "value=\"5\"");
    shows(f, "d", "value=\"5\"");
    size_t n;
    const struct view_figure *rows = figures_view(f->figures, &n);
    assert_str(
        rows[0].source_html,
        "NVIDIA H200, driver 550.1, PyTorch 2.5.1, 2026-11-20, vramprobe 1.0, torch-eager: new");
    assert_int_equal(n, 3);
    assert_true(str_ends(rows[1].source_html, STR("torch-eager: old (alt)")));
    teardown(f);
}

// A source in the reader's language: sentences that the catalog has, formulas and commands as code;
// the kind in a title.
static void sources_in_words(void **state)
{
    (void)state;
    struct fixture *f = setup("de");
    load(f, "return {a = claimed(2, 'B', 'rule of thumb: https://example.org/x'),\n"
            "  b = computed(2, 'B', 'two bytes') + computed(3, 'B', '3 * T'),\n"
            "  c = vram.gpu('RTX 4070').memory_bytes,\n"
            "  d = vram.explain_oom('CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 "
            "GiB total)',\n"
            "    {preset = 'gpt2', batch_size = 32}).tried_bytes,\n"
            "  e = computed(4, '', 'a.tsv, b.sh: figure.stale'),\n"
            "  g = computed(5, '', '(a + b) / c; https://example.org/a - b')}\n");
    shows(f, "a", "href=\"#source-1\" id=\"cite-1\" title=\"behauptet\">");
    shows(f, "a", "href=\"#source-1\" title=\"behauptet\">");
    shows(f, "b", "#source-2");
    shows(f, "c", "#source-3");
    shows(f, "d", "#source-4");
    shows(f, "e", "#source-5");
    shows(f, "g", "#source-6");
    size_t n;
    const struct view_figure *rows = figures_view(f->figures, &n);
    assert_str(rows[0].source_html,
               "Faustregel: <a href=\"https://example.org/x\">https://example.org/x</a>");
    assert_str(rows[0].cite, "cite-1");
    assert_str(rows[1].source_html, "zwei Byte; <code>3 * T</code>");
    assert_str(rows[2].source_html,
               "<code class=\"command\">vramcalc gpus | grep 'RTX 4070'</code>");
    assert_str(rows[3].source_html, "<code class=\"command\">echo 'CUDA out of memory. Tried to "
                                    "allocate 6.14 GiB (GPU 0; 15.78 GiB total)' | "
                                    "vramcalc explain-oom - batch_size=32 preset=gpt2</code>");
    assert_str(rows[4].source_html, "a.tsv, b.sh: alt");
    assert_str(rows[5].source_html, "<code>(a + b) / c</code>; <a href=\"https://example.org/a\">"
                                    "https://example.org/a</a> - b");
    teardown(f);
}

// What the estimator gives is a figure with its unit and its configuration as source.
static void figures_of_the_estimator(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f,
         "local t = vram.step_seconds{preset = 'gpt2', gpu = 'RTX 4070'}\n"
         "local u = vram.step_seconds{preset = 'gpt2', gpu = 'RTX 4070', checkpointing = 'block'}\n"
         "return {time = t, slower = u, params = vram.estimate{preset = 'gpt2'}.params}\n");
    shows(f, "params", "<data value=\"124373760\">");
    shows(f, "difference(slower, time)", ">+2");
    shows(f, "time", "\xc2\xa0s</data>");
    size_t n;
    const struct view_figure *rows = figures_view(f->figures, &n);
    assert_str(rows[2].source_html,
               "<code class=\"command\">vramcalc advise gpu='RTX 4070' preset=gpt2</code>");
    teardown(f);
}

static bool example(struct fixture *f, const char *code, const char *wanted)
{
    forget(f);
    buf file = BUF_INIT, text = BUF_INIT;
    buf_printf(&file, "%s/a/de.md", f->dir);
    fs_read(file.ptr, 0, &text);
    size_t at = str_search(buf_view(&text), str_c(code));
    bool ok =
        figures_example(f->figures, &f->page, str_c(code), str_c(wanted),
                        DIAG_AT(buf_view(&file), buf_view(&text), at < text.len ? at : 0), &f->out);
    buf_free(&file);
    buf_free(&text);
    return ok;
}

static void worked_examples(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f, lua);
    assert_true(example(f, "local x = 2\ny = 3\nprint(x + y)\nprint(\"<\")\n", "5\n<\n"));
    assert_true(str_search(buf_view(&f->out),
                           STR("<pre class=\"output\" tabindex=\"0\"><samp>5\n&lt;</samp></pre>")) <
                f->out.len);
    assert_true(example(f, "print(y)\n", "nil\n"));
    assert_true(example(f, "print(peak)\n", "6187763980\n"));
    assert_true(example(f, "local x = 1\n", ""));
    assert_false(example(f, "print(1)\nprint(2)\n", "1\n3\n"));
    assert_true(reports(f, "line 2: wanted \"3\", printed \"2\""));
    put_file(f, "a/de.md", "# T\n\n```{lua}\nprint(1)\nerror(\"no\")\n```\n");
    assert_false(example(f, "print(1)\nerror(\"no\")\n", "1\n"));
    assert_true(reports(f, "de.md:5:1: error: error in Lua: no"));
    teardown(f);
}

static void updates_wanted_output(void **state)
{
    static const char before[] =
        "a\n\n```{lua}\nprint(1)\n```\n\n```output\n9\n8\n```\n\n````{lua}\nprint(2)\n````\nb\n";
    static const char after[] = "a\n\n```{lua}\nprint(1)\n```\n```output\n1\n```\n\n````{lua}"
                                "\nprint(2)\n````\n```output\n2\n```\nb\n";
    (void)state;
    struct fixture *f = setup("en");
    load(f, lua);
    put_file(f, "a/de.md", before);
    setenv("UPDATE", "1", 1);
    assert_true(example(f, "print(1)\n", "9\n8\n"));
    assert_true(example(f, "print(2)\n", ""));
    unsetenv("UPDATE");
    buf path = BUF_INIT, text = BUF_INIT;
    buf_printf(&path, "%s/a/de.md", f->dir);
    fs_read(path.ptr, 0, &text);
    assert_str(buf_view(&text), after);
    buf_free(&path);
    buf_free(&text);
    teardown(f);
}

static void checks_the_document(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    put_file(
        f, "a/de.md",
        "Peak `{lua} peak`, 4464 MiB and 6.5\xc2\xa0GB, `12 GB`, [x](4GB), http://a/5GB 7GBx\n\n"
        "```\n8 GB\n```\n```{lua}\nprint(half)\n```\n12-GB card, `{lua} GiB(rule)` params speed\n");
    load(f, lua);
    figures_check(f->figures, f->d);
    assert_true(
        reports(f, "de.md:1:20: warning: a number with a byte unit that is no figure: 4464 MiB"));
    assert_true(reports(f, "6.5\xc2\xa0GB"));
    assert_true(
        reports(f, "de.md:9:1: warning: a number with a byte unit that is no figure: 12-GB"));
    assert_true(reports(f, "page.lua:5: warning: a figure that no page cites: seen"));
    assert_true(reports(f, "no page cites: params"));
    assert_false(reports(f, "no page cites: half"));
    assert_false(reports(f, "no page cites: rule"));
    assert_int_equal(diag_count(f->d, DIAG_WARNING), 6);
    teardown(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_in_german),
        cmocka_unit_test(cells_in_other_locales),
        cmocka_unit_test(arithmetic_carries_kind_and_source),
        cmocka_unit_test(rows_of_sources),
        cmocka_unit_test(wrong_cells),
        cmocka_unit_test(without_page_lua),
        cmocka_unit_test(wrong_page_lua),
        cmocka_unit_test(measured_figures),
        cmocka_unit_test(figures_of_the_estimator),
        cmocka_unit_test(sources_in_words),
        cmocka_unit_test(worked_examples),
        cmocka_unit_test(updates_wanted_output),
        cmocka_unit_test(checks_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
