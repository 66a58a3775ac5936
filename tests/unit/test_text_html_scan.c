// The HTML scan as a list of tokens, entities, and every fault that html_check names.
#include "gen/text/html_names.h"
#include "gen/text/html_scan.h"
#include "tests/unit/base_fixture.h"

static bool print_token(void *ctx, const struct html_token *t)
{
    static const char *const events[] = {"open", "close", "text", "comment", "doctype"};
    buf *out = ctx;
    buf_printf(out, "%zu %s %.*s%.*s", t->offset, events[t->event], STR_ARG(t->name),
               STR_ARG(t->text));
    for (size_t i = 0; i < t->attribute_count; i++)
        buf_printf(out, " [%.*s=%.*s]", STR_ARG(t->attributes[i].name),
                   STR_ARG(t->attributes[i].value));
    buf_str(out, t->self_closing ? STR(" /\n") : STR("\n"));
    return true;
}

static void scans(const char *html, const char *want)
{
    buf out = BUF_INIT;
    html_scan(str_c(html), print_token, &out);
    assert_str(buf_view(&out), want);
    buf_free(&out);
}

static void tokens(void **state)
{
    (void)state;
    scans("<!doctype html><p class=a id='b c' hidden>x &amp; y</p >",
          "0 doctype doctype html\n"
          "15 open p [class=a] [id=b c] [hidden=]\n42 text x &amp; y\n51 close p\n");
    scans("a <!-- b > c --> d<br/><img src = \"x\" />",
          "0 text a \n2 comment  b > c \n16 text  d\n18 open br /\n"
          "23 open img [src=x] /\n");
    scans("1 < 2 <3 <a", "0 text 1 < 2 <3 \n9 open a\n");
    scans("<a href=\"never", "0 open a [href=never]\n");
    scans("<!-- never", "0 comment  never\n");
    scans("", "");
}

static void scripts_hold_no_tags(void **state)
{
    (void)state;
    scans("<script>if (a<b) x='<p>';</script><style>a>b{}</STYLE>",
          "0 open script\n8 text if (a<b) x='<p>';\n"
          "25 close script\n34 open style\n41 text a>b{}\n46 close STYLE\n");
    scans("<title>a <b> c</title>", "0 open title\n7 text a <b> c\n14 close title\n");
    scans("<script>never", "0 open script\n8 text never\n");
}

static bool first_only(void *ctx, const struct html_token *t)
{
    (void)t;
    ++*(unsigned *)ctx;
    return false;
}

static void a_visit_can_stop(void **state)
{
    (void)state;
    unsigned seen = 0;
    html_scan(STR("<a>b</a>"), first_only, &seen);
    assert_int_equal(seen, 1);
}

static void unescapes(const char *s, const char *want)
{
    buf out = BUF_INIT;
    html_unescape(str_c(s), &out);
    assert_str(buf_view(&out), want);
    buf_free(&out);
}

static void character_references(void **state)
{
    (void)state;
    unescapes("a &lt;&amp;&gt; &quot;&#39;&#x27;&apos; &eacute;&nbsp;&rarr;&Alpha;&zwnj;",
              "a <&> \"''' é\xc2\xa0→Α\xe2\x80\x8c");
    unescapes("& &; &x &nosuch; &#; &#x; &#65 &#0; &#xD800; &#x110000; &#9999999999;",
              "& &; &x &nosuch; &#; &#x; &#65 � � � �");
    unescapes("&amp;lt;", "&lt;");
}

// What html_check says about a page: its lines without the file's name and the carets.
static void says(const char *html, const char *want)
{
    struct diag *d = diag_new((struct diag_options){0});
    buf text = BUF_INIT, got = BUF_INIT;
    bool ok = html_check(str_c(html), STR("f"), d);
    diag_text(d, &text);
    str rest = buf_view(&text), line;
    while (str_line(&rest, &line))
        if (str_starts(line, STR("f:")))
            buf_printf(&got, "%.*s\n", STR_ARG(str_slice(line, 2, line.len)));
    assert_str(buf_view(&got), want);
    assert_int_equal(ok, !*want);
    buf_free(&text);
    buf_free(&got);
    diag_free(d);
}

#define FAULT(place, what) \
    place ": error: HTML that is not well-formed: " what " [html-malformed]\n"

static void well_formed_pages(void **state)
{
    (void)state;
    says(
        "<!doctype html><html lang=\"en\"><head><meta charset=utf-8><title>A &amp; B</title></head>"
        "<body><p>a<br>b &copy; &#8594;</p><ul><li>c</li></ul></body></html>",
        "");
    says("<svg viewBox=\"0 0 1 1\"><path d=\"M0 0\"/><g><title>x</title></g></svg>", "");
    says("<math><mi>x</mi><mspace/></math>", "");
    says("<script>if (a && b < c) {}</script>", "");
    says("<p><input disabled value=\"\"></p><div><p>x</p></div>", "");
}

static void faults(void **state)
{
    (void)state;
    says("<p>a", FAULT("1:1", "not closed: <p>"));
    says("a</p>", FAULT("1:2", "end tag of nothing that is open: </p>"));
    says("<b><i>x</b></i>",
         FAULT("1:4", "not closed: <i>") FAULT("1:12", "end tag of nothing that is open: </i>"));
    says("<br></br>", FAULT("1:5", "end tag of nothing that is open: </br>"));
    says("<div/>", FAULT("1:1", "element that cannot close itself: <div>"));
    says("<a id=x\n ID=y>x</a>", FAULT("2:2", "attribute given twice in <a>"));
    says("<a b\"c=d>x</a>", FAULT("1:4", "attribute with a quote or < in its name in <a>"));
    says("a & b", FAULT("1:3", "& that begins no character reference"));
    says("<a href=\"?a=1&b=2\">x</a>", FAULT("1:14", "& that begins no character reference"));
    says("1 < 2", FAULT("1:3", "< that begins no tag"));
    says("<a href=x>y <b><a>z</a></b></a>", FAULT("1:16", "within another: <a>"));
    says("<p><div>x</div></p>", FAULT("1:4", "within a paragraph: <div>"));
}

static void many_faults_are_cut(void **state)
{
    (void)state;
    buf html = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_lit(&html, "</b>");
    struct diag *d = diag_new((struct diag_options){0});
    assert_false(html_check(buf_view(&html), STR("f"), d));
    assert_int_equal(diag_count(d, DIAG_ERROR), 20);
    diag_free(d);
    buf_free(&html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(scripts_hold_no_tags),
        cmocka_unit_test(a_visit_can_stop),
        cmocka_unit_test(character_references),
        cmocka_unit_test(well_formed_pages),
        cmocka_unit_test(faults),
        cmocka_unit_test(many_faults_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
