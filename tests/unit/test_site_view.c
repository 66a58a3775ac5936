// Pages rendered through templates: fields, scopes of once blocks, the switcher's splice, errors,
// limits.
#include "tests/unit/view_fixture.h"

// Renders page.html for one page of a fresh view and compares.
static void renders(const char *source, const char *want)
{
    struct fixture *f = setup();
    write_template(f, "page.html", source);
    struct view *v = view_open(&f->site, &f->vs, f->d);
    struct view_page p = page_of(f, 1, "de/sub/a.html");
    bool ok = v && view_render(v, &p, f->d, &f->out);
    diag_text(f->d, &f->messages);
    if (!ok || !str_eq(buf_view(&f->out), str_c(want)))
        fail_msg("%s\n  gives %s\n  wanted %s\n  %s", source, f->out.ptr, want, f->messages.ptr);
    view_free(v);
    teardown(f);
}

static void complains(const char *source, const char *want)
{
    struct fixture *f = setup();
    write_template(f, "page.html", source);
    struct view *v = view_open(&f->site, &f->vs, f->d);
    struct view_page p = page_of(f, 1, "de/sub/a.html");
    bool ok = v && view_render(v, &p, f->d, &f->out);
    diag_text(f->d, &f->messages);
    if (ok || str_search(buf_view(&f->messages), str_c(want)) == f->messages.len)
        fail_msg("%s\n  gives %d: %s\n  wanted %s", source, ok, f->messages.ptr, want);
    view_free(v);
    teardown(f);
}

static void shows_fields(void **state)
{
    (void)state;
    renders("{{ page.title }}|{{ page.lang }}|{{ page.dir }}|{{ page.body }}",
            "T &lt;1&gt;|de|ltr|<p>B</p>");
    renders("<p title=\"{{ page.body }}\">{{ site.title }}", "<p title=\"B\">A &amp; B");
    renders("{{ page.is_fallback }}{{ page.reading_minutes }}{{ page.updated == nil }}",
            "false0true");
    renders("{{ page.published.iso }} {{ page.published.text }}", "1970-01-01 1. Januar 1970");
    renders("{% for _, t in ipairs(page.translations) do %}{{ t.tag }}={{ t.url }}{{ t.current "
            "}};{% end %}",
            "en=../../a.htmlfalse;de=../../de/a.htmltrue;fr=../../fr/a.htmlfalse;");
    renders(
        "{{ site.home }} {{ site.root }} {{ asset(\"style.css\") }} {{ href(\"de/sub/b.html\") }}",
        "../index.html ../../ ../../assets/style.1.css b.html");
    renders("{% for _, l in ipairs(site.languages) do %}{{ l.tag }} {{ l.name }} {{ l.home }};{% "
            "end %}",
            "en English ../../index.html;de Deutsch ../../de/index.html;fr Français "
            "../../fr/index.html;");
    renders("{{ page.source_language_name }} {{ page.language_name }}", "Deutsch Deutsch");
    renders("{{ page.translation_count }}{{ page.translations_html }}",
            "3<li><a href=\"../../a.html\" lang=\"en\" hreflang=\"en\">English</a></li>\n"
            "<li><a href=\"../../de/a.html\" lang=\"de\" hreflang=\"de\" "
            "aria-current=\"true\">Deutsch</a></li>\n"
            "<li><a href=\"../../fr/a.html\" lang=\"fr\" hreflang=\"fr\" "
            "class=\"absent\">Français</a></li>\n");
    renders("{{ given.title }}{{ given.lede }}{{ given.translations }}{{ given.updated }}{{ "
            "given.published }}{{ given.next }}{{ given.is_fallback }}",
            "truefalsetruefalsetruefalsefalse");
}

static void speaks_the_language(void **state)
{
    (void)state;
    renders("{{ t(\"hello\", {name = \"<x>\"}) }}", "Hallo &lt;x&gt;");
    renders("{{ t(\"hello\", {name = raw(\"<b>x</b>\")}) }}", "Hallo <b>x</b>");
    renders("{{ t(\"n\", {n = 1}) }}, {{ t(\"n\", {n = 4464}) }}", "1 Seite, 4.464 Seiten");
    renders("{{ t(\"only\") }}", "<span lang=\"en\">Only &lt;English&gt;</span>");
    renders("<p title=\"{{ t(\"only\") }}\">", "<p title=\"Only &lt;English&gt;\">");
    renders("{{ number(4464.5) }} {{ number(1, 2) }} {{ percent(0.805) }}",
            "4.464,5 1,00 81\xc2\xa0%");
    renders("{{ bytes(4464 * 2^20) }} {{ bytes(6.5e9, \"GB\") }}",
            "4.464\xc2\xa0MiB 6,5\xc2\xa0GB");
    renders("{{ date(1763683200) }}", "21. November 2025");
}

static void escapes(void **state)
{
    (void)state;
    renders("{{ \"<&>\" }}<a title=\"{{ \"\\\"'\" }}\">", "&lt;&amp;&gt;<a title=\"&quot;&#39;\">");
    renders("<a href=\"{{ \"javascript:x\" }}\">", "<a href=\"#\">");
    renders("<a href=\"{{ \"java\" }}{{ \"script:x\" }}\">", "<a href=\"javascript%3Ax\">");
    renders("<a href=\"?q={{ \"a&b=c d\" }}\">", "<a href=\"?q=a%26b%3Dc%20d\">");
    renders("<a href=\"/x/{{ \"a?b&c\" }}\">", "<a href=\"/x/a?b&amp;c\">");
    renders("<script>a = {{ 1 }}; b = {{ \"</script>\" }}</script>",
            "<script>a = 1; b = \"\\u003c/script\\u003e\"</script>");
    renders("{{ raw(\"<b>\") .. \"<i>\" }}", "<b>&lt;i&gt;");
    renders("<title>{{ raw(\"<b>x</b>\") }}</title>", "<title>x</title>");
    complains("<script>{{ raw(\"</script>\") }}</script>", "page.html:1:1");
}

static void splices_the_current_translation(void **state)
{
    static const char *const want[LANGUAGES] = {
        "<i>en*</i><i>de</i><i>fr</i>|a",
        "<i>../en</i><i>../de*</i><i>../fr</i>|a",
        "<i>../en</i><i>../de</i><i>../fr*</i>|a",
    };
    static const char *const urls[LANGUAGES] = {"a.html", "de/a.html", "fr/a.html"};
    (void)state;
    struct fixture *f = setup();
    write_template(f, "page.html",
                   "{% once \"document\" %}{% for _, t in ipairs(page.translations) do %}"
                   "<i>{{ site.root }}{{ t.tag }}{% if t.current then %}*{% end %}</i>{% end %}|{{ "
                   "page.key }}{% end %}");
    struct view *v = view_open(&f->site, &f->vs, f->d);
    assert_non_null(v);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < LANGUAGES; i++) {
            struct view_page p = page_of(f, i, urls[i]);
            buf_clear(&f->out);
            assert_true(view_render(v, &p, f->d, &f->out));
            assert_str(buf_view(&f->out), want[i]);
        }
    }
    view_free(v);
    teardown(f);
}

static void keeps_what_is_shared(void **state)
{
    (void)state;
    struct fixture *f = setup();
    write_template(f, "page.html",
                   "{% once \"language\" %}{{ page.lang }}{{ t(\"hello\", {name = \"x\"}) }}{{ "
                   "site.home }}{% end %}"
                   "{% once \"site\" %}{{ site.generator }}{% end %}{{ page.title }}");
    struct view *v = view_open(&f->site, &f->vs, f->d);
    assert_non_null(v);
    static const struct {
        unsigned language;
        const char *url, *want;
    } rows[] = {
        {1, "de/a.html", "deHallo xindex.htmlvramdocT &lt;1&gt;"},
        {2, "fr/a.html", "frBonjour xindex.htmlvramdocT &lt;1&gt;"},
        {1, "de/b/a.html", "deHallo x../index.htmlvramdocT &lt;1&gt;"},
        {1, "de/a.html", "deHallo xindex.htmlvramdocT &lt;1&gt;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct view_page p = page_of(f, rows[i].language, rows[i].url);
        buf_clear(&f->out);
        assert_true(view_render(v, &p, f->d, &f->out));
        assert_str(buf_view(&f->out), rows[i].want);
    }
    view_free(v);
    teardown(f);
}

// What was asked for by the last page of v, as the first two bytes of view_assets().
static unsigned assets_of(struct view *v)
{
    str bits = view_assets(v);
    assert_int_equal(bits.len, 2);
    return (unsigned)(unsigned char)bits.ptr[0] | (unsigned)(unsigned char)bits.ptr[1] << 8;
}

enum { LATE = 1 << 9, STYLE = 1 << 10 };  // by their places in assets

static void notes_the_assets_of_a_page(void **state)
{
    (void)state;
    struct fixture *f = setup();
    write_template(f, "page.html",
                   "{% once \"language\" %}{{ asset(\"style.css\") }}{% end %}"
                   "{% if page.kind == \"late\" then %}{% once \"document\" %}{{ "
                   "asset(\"late.js\") }}{% end %}{% end %}");
    write_template(f, "bad.html",
                   "{% once \"language\" %}{{ asset(\"late.js\") }}{{ nil }}{% end %}");
    struct view *v = view_open(&f->site, &f->vs, f->d);
    assert_non_null(v);
    static const struct {
        unsigned language;
        const char *layout, *kind;
        unsigned want;
    } rows[] = {
        {1, "page", "", STYLE},
        {1, "page", "", STYLE},
        {1, "page", "late", STYLE | LATE},
        {2, "page", "", STYLE},
        {1, "page", "late", STYLE | LATE},
        {1, "bad", "", 0},
        {1, "page", "", STYLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct view_page p = page_of(f, rows[i].language, "de/a.html");
        p.layout = str_c(rows[i].layout);
        p.kind = str_c(rows[i].kind);
        if (view_render(v, &p, f->d, &f->out))
            assert_int_equal(assets_of(v), rows[i].want);
        else
            assert_string_equal(rows[i].layout, "bad");
    }
    view_assets_clear(v);
    assert_int_equal(assets_of(v), 0);
    view_free(v);
    teardown(f);
}

static void wants_the_lists_that_templates_name(void **state)
{
    (void)state;
    struct fixture *f = setup();
    write_template(f, "page.html", "{% for _, c in ipairs(page.crumbs) do %}{{ c.url }}{% end %}");
    write_template(f, "other.html", "{% if page.unmeasured > 0 then %}x{% end %}");
    struct view *v = view_open(&f->site, &f->vs, f->d);
    assert_non_null(v);
    assert_int_equal(view_lists(v), VIEW_BIT(VIEW_CRUMBS) | VIEW_BIT(VIEW_FIGURES));
    assert_int_equal(view_lists(v), VIEW_BIT(VIEW_CRUMBS) | VIEW_BIT(VIEW_FIGURES));
    view_free(v);
    teardown(f);
    complains("{{ page[\"cru\" .. \"mbs\"] }}", "page.crumbs is read by a name");
}

static void guards_scopes(void **state)
{
    (void)state;
    complains("{% once \"language\" %}{{ page.title }}{% end %}", "page.title belongs to the page");
    complains("{% once \"document\" %}{{ page.lang }}{% end %}",
              "page.lang belongs to the language");
    complains("{% once \"document\" %}{{ t(\"hello\") }}{% end %}", "t() depends on the language");
    complains("{% local x = page.title %}{% once \"site\" %}{{ x }}{% end %}", "the local 'x'");
    complains("{% once \"site\" %}{% once \"language\" %}{% end %}{% end %}",
              "inside {% once \"site\" %}");
    complains(
        "{% once \"document\" %}{% local n = \"\" %}{% for _, t in ipairs(page.translations) do %}"
        "{% if t.current then n = t.tag end %}{% end %}{% for _, t in ipairs(page.translations) do "
        "%}"
        "{% local c = t.current %}{{ n }}{% end %}{% end %}",
        "`current` may decide only");
}

static void reports_errors_in_templates(void **state)
{
    (void)state;
    complains("a\n  {{ page.nothing }}",
              "page.html:2:3: error: error in Lua: page has no field \"nothing\"");
    complains("\n{{ nil }}", "page.html:2:1: error: error in Lua: the value is nil");
    complains("{{ page }}", "a userdata cannot be shown");
    complains("{% x = 1 %}", "cannot be changed");
    complains("{% page.title = 1 %}", "page.html:1:1");
    complains("{% if %}x{% end %}", "page.html:1:1: error");
    complains("{% include \"none\" %}", "page.html:1:1: error: template that does not exist: none");
    complains("{% include \"page\" %}",
              "page.html:1:1: error: template that includes itself: page");
    complains("{% while true do %}{% end %}", "ran past its limit");
    complains("{% local s = \"x\" while true do s = s .. s end %}", "ran past its limit");
    complains("{% while true do pcall(error) end %}", "ran past its limit");
    complains("{{ asset(\"none.css\") }}", "the value is nil");
}

static void includes_other_templates(void **state)
{
    (void)state;
    struct fixture *f = setup();
    write_template(f, "page.html", "{% include \"head\" %}<p>x</p>");
    write_template(f, "head.html", "<title>{{ page.title }}</title>\n{% include \"foot\" %}");
    write_template(f, "foot.html", "f");
    struct view *v = view_open(&f->site, &f->vs, f->d);
    assert_non_null(v);
    assert_true(view_has(v, STR("foot")));
    assert_false(view_has(v, STR("nothing")));
    struct view_page p = page_of(f, 0, "a.html");
    p.layout = STR("nothing");
    assert_true(view_render(v, &p, f->d, &f->out));
    assert_str(buf_view(&f->out), "<title>T &lt;1&gt;</title>\nf<p>x</p>");
    write_template(f, "foot.html", "{% include \"head\" %}");
    view_free(v);
    assert_null(view_open(&f->site, &f->vs, f->d));
    diag_text(f->d, &f->messages);
    assert_true(str_search(buf_view(&f->messages), STR("template that includes itself")) <
                f->messages.len);
    teardown(f);
}

static void recovers_after_an_error(void **state)
{
    (void)state;
    struct fixture *f = setup();
    write_template(f, "page.html",
                   "{{ page.kind == \"bad\" and nil or \"good\" }}{% if page.kind == \"bad\" then "
                   "error(\"x\") end %}");
    struct view *v = view_open(&f->site, &f->vs, f->d);
    struct view_page bad = page_of(f, 0, "a.html"), good = page_of(f, 0, "b.html");
    bad.kind = STR("bad");
    assert_false(view_render(v, &bad, f->d, &f->out));
    buf_clear(&f->out);
    assert_true(view_render(v, &good, f->d, &f->out));
    assert_str(buf_view(&f->out), "good");
    view_free(v);
    teardown(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_fields),
        cmocka_unit_test(speaks_the_language),
        cmocka_unit_test(escapes),
        cmocka_unit_test(splices_the_current_translation),
        cmocka_unit_test(keeps_what_is_shared),
        cmocka_unit_test(notes_the_assets_of_a_page),
        cmocka_unit_test(wants_the_lists_that_templates_name),
        cmocka_unit_test(guards_scopes),
        cmocka_unit_test(reports_errors_in_templates),
        cmocka_unit_test(includes_other_templates),
        cmocka_unit_test(recovers_after_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
