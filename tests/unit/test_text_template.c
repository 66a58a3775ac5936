// Templates: what they compile to, how values are escaped by place, and where errors point.
#include "tests/unit/base_fixture.h"

#include "gen/base/diag.h"
#include "gen/text/template.h"

struct compiled {
    arena arena;
    buf lua, messages;
    struct template info;
    bool ok;
};

static struct compiled compile(const char *source)
{
    struct compiled c = {.lua = BUF_INIT, .messages = BUF_INIT};
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    c.ok = template_compile(str_c(source), STR("t.html"), 1, &c.arena, d, &c.info, &c.lua);
    diag_text(d, &c.messages);
    diag_free(d);
    return c;
}

static void compiled_free(struct compiled *c)
{
    arena_free(&c->arena);
    buf_free(&c->lua);
    buf_free(&c->messages);
}

static void wants_code(const char *source, const char *code)
{
    struct compiled c = compile(source);
    if (!c.ok || str_search(buf_view(&c.lua), str_c(code)) == c.lua.len)
        fail_msg("%s\n  gives %s\n  wanted %s\n  %s", source, c.lua.ptr, code, c.messages.ptr);
    compiled_free(&c);
}

static void wants_error(const char *source, const char *place, const char *text)
{
    struct compiled c = compile(source);
    str all = buf_view(&c.messages);
    if (c.ok || str_search(all, str_c(place)) == all.len || str_search(all, str_c(text)) == all.len)
        fail_msg("%s\n  gives %d: %s\n  wanted %s %s", source, c.ok, c.messages.ptr, place, text);
    compiled_free(&c);
}

static void escapes_by_place(void **state)
{
    static const char *const rows[][2] = {
        {"<p>{{ x }}</p>", "__t(( x  ),\"<p>\")"},
        {"<p title=\"{{ x }}\">", "__a("},
        {"<p>{{ page.x }}</p>", "__f(\"x\",0,\"<p>\")"},
        {"<p title=\"{{ page.x.y }}\">", "__f(\"x.y\",2,"},
        {"{% if page.x then %}{{ page.y }}{% end %}", "__f(\"y\",0)"},
        {"{{ page.x or 1 }}", "__t(( page.x or 1 "},
        {"{{ page.x.y.z }}", "__t(( page.x.y.z "},
        {"{{ page[1] }}", "__t(( page[1] "},
        {"{% local page = 1 %}{{ page.x }}", "__t(( page.x "},
        {"{% local f = function(page) %}{{ page.x }}{% end %}", "__t(( page.x "},
        {"{% local _ENV = {} %}{{ page.x }}", "__t(( page.x "},
        {"<p title='{{ x }}'>", "__a("},
        {"<a href=\"{{ x }}\">", "__u("},
        {"<a HREF=\"{{ x }}\">", "__u("},
        {"<img src=\"{{ x }}\">", "__u("},
        {"<a href=\"/a/{{ x }}\">", "__w("},
        {"<a href=\"a{{ x }}\">", "__w("},
        {"<a href=\"{{ x }}{{ y }}\">", "__w(( y"},
        {"<a href=\"#{{ x }}\">", "__w("},
        {"<a href=\"/s?q={{ x }}\">", "__q("},
        {"<title>{{ x }}</title>", "__p("},
        {"<title class=\"a\">a</title>{{ x }}", "__t("},
        {"<textarea>{{ x }}</textarea>", "__p("},
        {"<!-- {{ x }} -->", "__p("},
        {"<option value=\"a\">{{ x }}</option>", "__p("},
        {"<option>a</option>{{ x }}", "__t("},
        {"<!-- a --><b>{{ x }}</b>", "__t("},
        {"<!doctype html>{{ x }}", "__t("},
        {"<script>var a = \"{{ x }}\";</script>", "__j("},
        {"<script>var a = '\\'{{ x }}';</script>", "__j("},
        {"<script>var a = {{ x }};</script>", "__v("},
        {"<script>\"//\"; var a = {{ x }};</script>", "__v("},
        {"<script>// it's\nvar a = {{ x }};</script>", "__v("},
        {"<script>/* \" */ var a = {{ x }};</script>", "__v("},
        {"<script></script>{{ x }}", "__t("},
        // A quote in a regular expression begins no string; behind an operand a / divides.
        {"<script>var r = /\"/; var a = {{ x }};</script>", "__v("},
        {"<script>s.match(/'/g); var a = {{ x }};</script>", "__v("},
        {"<script>f(/[/\"]/, {{ x }})</script>", "__v("},
        {"<script>f(/\\/\"/, {{ x }})</script>", "__v("},
        {"<script>return /\"/.test({{ x }})</script>", "__v("},
        {"<script>a.return / \"{{ x }}\" / 2</script>", "__j("},
        {"<script>var a = b / 2 + \"/{{ x }}\";</script>", "__j("},
        {"<script>var a = (b + c[1]) / 2 + \"/{{ x }}\";</script>", "__j("},
        {"<script>a = b++ / 2 + '/{{ x }}';</script>", "__j("},
        {"<script>a = 1. / '{{ x }}';</script>", "__j("},
        {"<script>a = b /{{ x }}/ '{{ y }}';</script>", "__v("},
        {"<script>a = 1 /* ' *// 2 + '{{ x }}';</script>", "__j("},
        {"<script>/*/ ' */ var a = {{ x }};</script>", "__v("},
        {"<script><!-- it's\nvar a = {{ x }};</script>", "__v("},
        // Code within templates.
        {"<script>`${\"`\"}`; var a = {{ x }};</script>", "__v("},
        {"<script>`${ {a: 1}.a + `${b}'` }\"`; a = {{ x }};</script>", "__v("},
        {"<script>`\\${'`; a = {{ x }};</script>", "__v("},
        {"<script>`a${ {{ x }} }`</script>", "__v("},
        {"<script>a = b{% if c then %} + 1{% end %} / 2 + '{{ x }}'</script>", "__j("},
        {"<style>a{}</style>{{ x }}", "__t("},
        {"1 < 2 {{ x }}", "__t("},
        {"<p hidden>{{ x }}", "__t("},
        {"<p hidden title=\"{{ x }}\">", "__a("},
        {"<p a = \"{{ x }}\">", "__a("},
        {"<p data-x=1 title=\"{{ x }}\">", "__a("},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wants_code(rows[i][0], rows[i][1]);
}

static void refuses_values_without_a_safe_place(void **state)
{
    (void)state;
    wants_error("<p class={{ x }}>", "t.html:1:10", "without quotes");
    wants_error("<p class=a{{ x }}>", "t.html:1:11", "without quotes");
    wants_error("<{{ x }}>", "t.html:1:2", "name of a tag");
    wants_error("<h{{ x }}>", "t.html:1:3", "name of a tag");
    wants_error("<p {{ x }}>", "t.html:1:4", "inside a tag");
    wants_error("<p a{{ x }}=\"\">", "t.html:1:5", "inside a tag");
    wants_error("<p onclick=\"{{ x }}\">", "t.html:1:13", "event attribute");
    wants_error("<p style=\"{{ x }}\">", "t.html:1:11", "style attribute");
    wants_error("<iframe srcdoc=\"{{ x }}\">", "t.html:1:17", "srcdoc");
    wants_error("<style>{{ x }}</style>", "t.html:1:8", "style element");
    wants_error("<script>`{{ x }}`</script>", "t.html:1:10", "JavaScript template");
    wants_error("<script>// {{ x }}\n</script>", "t.html:1:12", "JavaScript comment");
    wants_error("<script>\"\\{{ x }}\"</script>", "t.html:1:11", "backslash");
    wants_error("<script>a = /{{ x }}/</script>", "t.html:1:14", "regular expression");
    wants_error("<script>a = /[{{ x }}/]/</script>", "t.html:1:15", "regular expression");
    wants_error("<script>`${'`'} {{ x }}`</script>", "t.html:1:17", "JavaScript template");
    wants_error("<script>`${`${`${`${`${1}`}`}`}`}`; {{ x }}</script>", "t.html:1:37",
                "in two ways");
    wants_error("<script>a{% if c then %} = {% end %}/ 1; '{{ x }}'</script>", "t.html:1:43",
                "in two ways");
}

static void blocks_match(void **state)
{
    (void)state;
    wants_code("{% if a then %}x{% elseif b then %}y{% else %}z{% end %}", "__s(\"z\"); end");
    wants_code("<p{% if a then %} class=\"{{ a }}\"{% end %}>", "__a(( a  ),\" class=\\\"\")");
    wants_code("<a href=\"{% if a then %}x{% else %}y{% end %}{{ z }}\">", "__w(");
    wants_code("{% local f = function(x) %}{{ x }}{% end %}{% f(1) %}", "__t(");
    wants_code("{% while a() do local x = 1 %}{{ x }}{% end %}", "__t(");
    wants_code("{% repeat %}x{% until true %}", "until true");
    wants_code("{% do %}x{% end %}", "do  __s");
    wants_error("{% if a then %}", "t.html:1:4", "without its end");
    wants_error("a\n{% end %}", "t.html:2:4", "end without a block");
    wants_error("{% else %}", "t.html:1:4", "else without if");
    wants_error("{% if a then %}<p{% else %}{% end %}>", "t.html:1:31", "different places");
    wants_error("{% for i = 1, 2 do %}<p {% end %}>", "t.html:1:4", "another place of HTML");
    wants_error("<p", "t.html:1:3", "in a tag's name");
    wants_error("<p class=\"x", "t.html:1:12", "inside an attribute's value");
    wants_error("<scr{% if a then %}{% end %}ipt>", "t.html:1:29", "splits the name");
}

static void tags_are_read_as_lua(void **state)
{
    (void)state;
    wants_code("{{ t(\"a\", {n = {x = 1}}) }}", "__t(( t(\"a\", {n = {x = 1}}) ");
    wants_code("{{ \"}}\" }}", "__t(( \"}}\" ");
    wants_code("{{ [[ }} ]] }}", "__t(( [[ }} ]] ");
    wants_code("{{ x -- a comment }}y", "__t(( x ");
    wants_code("{% -- only a comment %}y", "__s(\"y\")");
    wants_code("{% x = \"%}\" %}y", "x = \"%}\"");
    wants_code("a{# not {{ here }} #}b", "__s(\"ab\")");
    wants_code("{ {x} { %", "__s(\"{ {x} { %\")");
    wants_error("{{ x", "t.html:1:1", "{{ without }}");
    wants_error("{% x", "t.html:1:1", "{% without %}");
    wants_error("{{ }}", "t.html:1:1", "without a value");
    wants_error("{# x", "t.html:1:1", "{# without #}");
}

static void keeps_lines(void **state)
{
    (void)state;
    struct compiled c = compile(
        "<p>\n  a\n{% if x then %}\n  <b>{{\n x }}</b>\n{% end %}\n{# a\n b #}\n\n{{ y }}\n");
    assert_true(c.ok);
    size_t line = 1, found = 0;
    for (size_t i = 0; i < c.lua.len; i++) {
        str rest = str_slice(buf_view(&c.lua), i, c.lua.len);
        if (str_starts(rest, STR("if x")))
            assert_int_equal(line, 3), found++;
        if (str_starts(rest, STR("x  ")))
            assert_int_equal(line, 5), found++;
        if (str_starts(rest, STR(" y ")))
            assert_int_equal(line, 10), found++;
        line += c.lua.ptr[i] == '\n';
    }
    assert_int_equal(found, 3);
    compiled_free(&c);
}

static void drops_lines_of_tags(void **state)
{
    (void)state;
    wants_code("<ul>\n  {% for i = 1, 2 do %}\n  <li>x</li>\n  {% end %}\n</ul>\n",
               "__s(\"<li>x</li>\\n\")");
    wants_code("<pre>\n  a\n</pre>", "__s(\"<pre>\\n  a\\n</pre>\")");
    wants_code("a {% if x then %} b {% end %}", "__s(\" b \")");
}

static void includes_and_once(void **state)
{
    (void)state;
    struct compiled c =
        compile("a{% include \"head\" %}{% once \"language\" %}{% if x then %}y{% end %}{% end %}");
    assert_true(c.ok);
    assert_int_equal(c.info.include_count, 1);
    assert_str(c.info.includes[0].name, "head");
    assert_int_equal(c.info.includes[0].offset, 1);
    assert_int_equal(c.info.once_count, 1);
    assert_true(str_search(buf_view(&c.lua), STR("__o(\"language\",1,function()")) < c.lua.len);
    assert_true(str_search(buf_view(&c.lua), STR("end   end)")) < c.lua.len);
    compiled_free(&c);
    wants_error("<p title=\"{% include \"x\" %}\">", "t.html:1:11", "between elements");
    wants_error("{% once \"page\" %}{% end %}", "t.html:1:9", "unknown scope");
}

static void accepts(const char *source)
{
    struct compiled c = compile(source);
    if (!c.ok)
        fail_msg("%s is refused", source);
    compiled_free(&c);
}

// An element that only one branch opens or closes would leave pages broken.
static void elements_on_one_branch(void **state)
{
    (void)state;
    wants_error("{% if x then %}<div>{% end %}", "1:1", "<div> is on one branch only");
    wants_error("a\n{% if x then %}</div>{% end %}", "2:1", "</div> is on one branch only");
    wants_error("{% if x then %}<a href=\"b\">{% else %}<b>{% end %}c</a>", "1:1", "<a> is on");
    wants_error("{% for i = 1, 3 do %}<ul>{% end %}", "1:1", "<ul> is on");
    wants_error("{% if x then %}<div>{% end %}a{% if y then %}</div>{% end %}", "1:1",
                "<div> is on");
    wants_error("{% if x then %}<div>{% elseif y then %}<div>{% end %}", "1:1", "<div> is on");
    wants_error(
        "{% if x then %}<div>{% end %}{% if x then %}</div>{% end %}{% if x then %}</div>{% end %}",
        "1:60", "</div> is on");
    wants_error("{% if x then %}{% for i = 1, 2 do %}<b>{% end %}{% end %}", "1:16", "<b> is on");
    accepts("{% if x then %}<div>{% end %}a{% if x then %}</div>{% end %}");
    // As deep as blocks may be, and one deeper.
    buf deep = BUF_INIT;
    for (int depth = 64; depth <= 65; depth++) {
        buf_clear(&deep);
        for (int i = 1; i < depth; i++)
            buf_lit(&deep, "{% if x then %}");
        buf_lit(&deep, "{% if y then %}<i>{% end %}");
        for (int i = 1; i < depth; i++)
            buf_lit(&deep, "{% end %}");
        wants_error(deep.ptr, depth == 64 ? "1:946" : "1:964",
                    depth == 64 ? "<i> is on one branch only" : "nested too deeply");
    }
    buf_free(&deep);
    accepts("{% if x then %}<a href=\"{{ u }}\">{% else %}<b>{% end %}c{% if x then %}</a>{% else "
            "%}</b>{% end %}");
    accepts("{% if x then %}<div class=\"a\">{% else %}<div>{% end %}b</div>");
    accepts("{% for i = 1, 3 do %}<div><span>a</span></div>{% end %}");
    accepts("{% if x then %}<p>a<br><li>b<img src=\"c\">{% end %}");
    accepts(
        "{% if x then %}<svg><path d=\"a\"/></svg><script>if (a < b) '<div>';</script>{% end %}");
    accepts("{% if x then %}{# <div> #}<!-- <div> -->{{ \"}} <div>\" }}{% end %}");
    accepts("{% once \"site\" %}<div>{% if x then %}a{% end %}</div>{% end %}");
    accepts("<div{% if x then %} class=\"b\"{% end %}>a</div>");
    accepts("{% do %}<div>{% end %}</div>{% local f = function(a) if a then return 1 end end %}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_by_place),  cmocka_unit_test(refuses_values_without_a_safe_place),
        cmocka_unit_test(blocks_match),      cmocka_unit_test(tags_are_read_as_lua),
        cmocka_unit_test(keeps_lines),       cmocka_unit_test(drops_lines_of_tags),
        cmocka_unit_test(includes_and_once), cmocka_unit_test(elements_on_one_branch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
