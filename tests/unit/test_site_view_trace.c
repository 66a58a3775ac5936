// Pages rendered as others were before: the same bytes as a page that is the first.
#include <malloc.h>

#include "tests/unit/view_fixture.h"

// Pages that differ in what templates ask: the n-th of them.
static struct view_page kind_of_page(struct fixture *f, size_t n)
{
    static const struct view_link crumbs[] = {{STR("Up & up"), STR("de/index.html")}};
    static const char *const urls[] = {"de/a.html", "de/sub/b.html", "de/c.html"};
    struct view_page p = page_of(f, n % 5 == 4 ? 2 : 1, urls[n % 3]);
    p.title = n % 2 ? STR("One \"1\"") : STR("Two <2>");
    p.lede = n % 3 == 1 ? STR("lede") : STR_NONE;
    p.body = n % 7 == 3 ? STR_NONE : n % 2 ? STR("<p>a</p>") : STR("<p>b \"c\"</p>");
    p.kind = n % 4 == 3 ? STR("home") : STR("article");
    p.reading_minutes = (uint32_t)(n % 3);
    p.updated = n % 4 == 2 ? 86400 * (int64_t)n : INT64_MIN;
    p.next = n % 2 ? (struct view_link){STR("Next"), STR("de/n.html")} : (struct view_link){0};
    p.crumbs = crumbs;
    p.crumb_count = n % 3 == 2;
    p.lists |= VIEW_BIT(VIEW_CRUMBS);
    p.is_fallback = n % 6 == 5;
    return p;
}

// Every page is rendered by a view that has rendered all the others before, and by one that has
// rendered none.
static void renders_as_if_alone(const char *source)
{
    enum { PAGES = 90 };
    struct fixture *f = setup();
    write_template(f, "page.html", source);
    struct view *v = view_open(&f->site, &f->vs, f->d);
    buf alone = BUF_INIT;
    assert_non_null(v);
    for (size_t n = 0; n < PAGES; n++) {
        struct view_page p = kind_of_page(f, n);
        struct view *fresh = view_open(&f->site, &f->vs, f->d);
        buf_clear(&f->out), buf_clear(&alone);
        bool ok = view_render(fresh, &p, f->d, &alone);
        assert_int_equal(view_render(v, &p, f->d, &f->out), ok);
        if (ok && !str_eq(buf_view(&f->out), buf_view(&alone)))
            fail_msg("%s\n  page %zu gives %s\n  alone %s", source, n, f->out.ptr, alone.ptr);
        if (ok)
            assert_memory_equal(view_assets(v).ptr, view_assets(fresh).ptr, 2);
        view_free(fresh);
    }
    buf_free(&alone);
    view_free(v);
    teardown(f);
}

static void renders_pages_as_if_alone(void **state)
{
    static const char *const sources[] = {
        "<title>{{ page.title }}</title>{{ page.body }}<p title=\"{{ page.title }}\">",
        "{% if given.lede then %}<p>{{ page.lede }}{% else %}-{% end %}{{ page.crumbs_html }}",
        "{% if page.lede ~= \"\" then %}{{ page.lede }}{% end %}{{ page.title == \"Two <2>\" }}",
        "{% if page.kind == \"home\" then %}h{% end %}{{ t(\"n\", {n = page.reading_minutes}) }}",
        "{% if given.next then %}<a href=\"{{ page.next.url }}\">{{ page.next.title }}</a>{% end "
        "%}",
        "{% local n = page.next if n then %}<a href=\"{{ n.url }}\">{{ n.title }}</a>{% end %}",
        "{% if given.updated then %}{{ page.updated.iso }} {{ page.updated.text }}{% end %}",
        "{% local b = page.body %}{{ b }}<p title=\"{{ b }}\">{{ #b }}",
        "{% if page.body ~= \"\" then %}{{ page.body .. page.title }}{% end %}",
        "{{ tostring(page.body) }}{{ t(\"hello\", {name = page.body}) }}",
        "{% if given.crumbs then for _, c in ipairs(page.crumbs) do %}{{ c.url }}{% end end %}",
        "{{ site.home }}<a href=\"{{ asset(\"style.css\") }}\">{{ href(\"de/x.html\") }}</a>",
        "{% once \"language\" %}{{ site.home }}{{ asset(\"a\") }}{% end %}{{ page.title }}{% once "
        "\"document\" %}{% for _, t in ipairs(page.translations) do %}{{ t.url }}{% if t.current "
        "then %}*{% end %}{% end %}{{ page.is_fallback }}{% end %}{{ page.lang }}",
        "{% for _, t in ipairs(page.translations) do %}{{ t.current }}{% end %}{{ page.title }}",
        "{{ page.translations_html }}{% if given.crumbs_html then %}{{ page.crumbs_html }}{% end "
        "%}",
        "{% local page = {title = \"mine\"} %}{{ page.title }}",
        "{% for _, page in ipairs({{title = \"own\"}}) do %}{{ page.title }}{% end %}",
        "{{ pcall(function() return page.nothing end) }}{{ given.lede and page.lede or \"\" }}",
        "{% if page.reading_minutes == 1 then error(\"x\") end %}{{ page.title }}",
        "{{ page.next.title }}{{ page.reading_minutes }}",
        "<script>x = {{ page.title }}; y = {{ page.reading_minutes }}; z = \"{{ page.lede "
        "}}\"</script>{{ t(\"absent\") }}",
        "{% local f = coroutine.wrap(function() return page.title end) %}{{ f() }}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        renders_as_if_alone(sources[i]);
}

// Each question is kept, but not a million of them.
static void keeps_no_more_than_a_few_megabytes(void **state)
{
    (void)state;
    struct fixture *f = setup();
    write_template(f, "page.html", "{% for i = 1, 1000000 do local x = page.title end %}");
    struct view *v = view_open(&f->site, &f->vs, f->d);
    struct view_page p = kind_of_page(f, 0);
    struct mallinfo2 before = mallinfo2();
    assert_true(view_render(v, &p, f->d, &f->out));
    struct mallinfo2 after = mallinfo2();
    assert_true(after.uordblks + after.hblkhd <
                before.uordblks + before.hblkhd + ((size_t)40 << 20));
    view_free(v);
    teardown(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renders_pages_as_if_alone),
        cmocka_unit_test(keeps_no_more_than_a_few_megabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
