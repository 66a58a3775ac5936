// Figures: page.lua, cells in five locales, arithmetic that carries kind and source, records.
#include "tests/unit/figures_fixture.h"

static void cells_in_german(void **state)
{
    (void)state;
    struct fixture *f = setup("de");
    load(f, figures_lua);
    shows(f, "peak",
          "<a class=\"fig computed\" href=\"#source-1\" id=\"cite-1\"><data "
          "value=\"6187763980\">5.901\xc2\xa0MiB</data></a>");
    shows(f, "GiB(peak, 2)", "5,76\xc2\xa0GiB");
    shows(f, "GB(peak)", "6,2\xc2\xa0GB");
    shows(f, "MB(peak, 1)", "6.187,8\xc2\xa0MB");
    shows(f, "params", "30.135.168");
    shows(f, "number(params / 1e6, 1)", "30,1");
    shows(f, "percent(peak / seen)", "132\xc2\xa0%");
    shows(f, "difference(rule, peak)", "−95\xc2\xa0%");
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
        load(f, figures_lua);
        shows(f, "peak", rows[i][1]);
        teardown(f);
    }
}

static void arithmetic_carries_kind_and_source(void **state)
{
    (void)state;
    struct fixture *f = setup("en");
    load(f, figures_lua);
    shows(f, "peak / seen", "fig computed");
    shows(f, "peak - rule", "fig claimed");
    shows(f, "peak + given(1, 'MiB')", "fig computed");
    shows(f, "2 * peak", "12375527960");
    shows(f, "peak // given(1, 'MiB')", "value=\"5901\"");
    assert_int_equal(f->figures->cited_count, 5);
    assert_str(f->figures->cited[0]->source, "batch_size=16; https://example.org/a?b=c");
    assert_str(f->figures->cited[0]->name, "peak / seen");
    assert_str(f->figures->cited[2]->source, "batch_size=16");
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
    load(f, figures_lua);
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
    load(f, figures_lua);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
