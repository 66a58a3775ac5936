// SVGs of others: what draws stays to the byte, what runs is left out, what is not understood
// becomes an empty picture.
#include "gen/text/svg_clean.h"
#include "tests/unit/base_fixture.h"

#define S "<svg xmlns=\"http://www.w3.org/2000/svg\">"

static enum svg_clean clean(const char *svg, buf *out)
{
    size_t place;
    enum svg_clean how = svg_clean(str_c(svg), out, &place);
    assert_int_equal(how == SVG_SAME, place == strlen(svg));
    return how;
}

static void what_draws_stays(void **state)
{
    static const char *const rows[] = {
        S "<path d=\"M0 0\"/><text>a &lt; b</text></svg>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE svg PUBLIC \"a\" \"b\">\n<!-- "
        "<script> -->\n" S "<style><![CDATA[a<b{}]]></style></svg>\n",
        "\xEF\xBB\xBF" S "<a xlink:href='https://example.org/?a=1&amp;b=2'><g id=\"x\" /></a><use "
        "href=\"#x\"/></svg>",
        S "<image href=\"data:image/png;base64,AAAA\"/><image href=\"photo.jpg\"/><a "
          "href=\"page.html#a:b\">x</a></svg>",
        "<!DOCTYPE svg [\n<!ENTITY ns_svg \"http://www.w3.org/2000/svg\">\n <!ENTITY x 'y'>]><svg "
        "xmlns=\"&ns_svg;\"/>",
        "<?xml version='1.0' encoding='ISO-8859-1'?>" S "</svg>",
        "<?xml version=\"1.0\" encoding = \"windows-1252\"?>" S "</svg>",
        S "<animate attributeName=\"x\" values=\"0;1\" from=\"0\" to=\"1\"/><g two=\"on\"/></svg>",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf out = BUF_INIT;
        if (clean(rows[i], &out) != SVG_SAME)
            fail_msg("%s becomes %s", rows[i], out.ptr);
        assert_str(buf_view(&out), rows[i]);
        buf_free(&out);
    }
}

static void what_runs_goes(void **state)
{
    static const char *const rows[][2] = {
        {S "<script>alert(1)</script><g/></svg>", S "<g/></svg>"},
        {S "<SCRIPT href=\"x.js\"/><s:script "
           "xmlns:s=\"http://www.w3.org/2000/svg\">a<b>c</b></s:script></svg>",
         S "</svg>"},
        {S "<g onload=\"alert(1)\" id=\"a\"/></svg>", S "<g id=\"a\"/></svg>"},
        {"<svg onload='a()' ONCLICK=\"b()\"/>", "<svg/>"},
        {S "<a href=\"javascript:alert(1)\">x</a></svg>", S "<a>x</a></svg>"},
        {S "<a xlink:href=' java&#x73;cript&#58;alert(1)'/></svg>", S "<a/></svg>"},
        {S "<a href=\"&#106;ava&#9;script:x\"/><a href=\"java\nscript:x\"/><a "
           "href=\"vbscript:x\"/></svg>",
         S "<a/><a/><a/></svg>"},
        {S
         "<use href=\"data:image/svg+xml;base64,AAAA#x\"/><image href=\"data:text/html,x\"/></svg>",
         S "<use/><image/></svg>"},
        {S "<foreignObject><body xmlns=\"http://www.w3.org/1999/xhtml\"><iframe "
           "src=\"a\"></iframe></body></foreignObject><g/></svg>",
         S "<g/></svg>"},
        {S "<set attributeName=\"href\" to=\"javascript:x\"/><animate attributeName=\"onclick\" "
           "to=\"x\"/></svg>",
         S "<set/><animate to=\"x\"/></svg>"},
        {S "<animate attributeName=\"xlink:href\" values=\"javascript:x;y\"/></svg>",
         S "<animate/></svg>"},
        {"<?xml-stylesheet href=\"x.xsl\" type=\"text/xsl\"?>" S "</svg>", S "</svg>"},
        {"<!DOCTYPE svg [<!ENTITY x \"javascript:y\">]>" S
         "<a href=\"&x;\"/><set attributeName=\"&x;\"/></svg>",
         "<!DOCTYPE svg [<!ENTITY x \"javascript:y\">]>" S "<a/><set/></svg>"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf out = BUF_INIT;
        assert_int_equal(clean(rows[i][0], &out), SVG_CLEANED);
        assert_str(buf_view(&out), rows[i][1]);
        buf_free(&out);
    }
}

static void what_is_not_understood(void **state)
{
    static const char *const rows[] = {
        "<",
        "<svg",
        "<svg a=b/>",
        "<svg a/>",
        "<svg a=\"b\"c=\"d\"/>",
        "<svg a=\"<\"/>",
        "<svg a=\"b/>",
        "<svg></svg",
        "< svg/>",
        "<svg/ >",
        "<!-- ",
        "<![CDATA[ ",
        "<!DOCTYPE svg",
        "<!DOCTYPE svg [<!ENTITY x \"<script>\">]><svg>&x;</svg>",
        "<!DOCTYPE svg [<!ENTITY x SYSTEM \"a\">]><svg/>",
        "<!DOCTYPE svg [<!ENTITY % x \"y\">%x;]><svg/>",
        "<!DOCTYPE svg [<!ATTLIST svg onload CDATA \"x\">]><svg/>",
        "<!ELEMENT a>",
        "<svg>\xff</svg>",
        "<?xml version=\"1.0\" encoding=\"UTF-7\"?><svg/>",
        "<?xml version='1.0' encoding = 'ISO-2022-JP'?><svg/>",
        "<?xml version=\"1.0\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf out = BUF_INIT;
        size_t place;
        if (svg_clean(str_c(rows[i]), &out, &place) != SVG_UNREADABLE)
            fail_msg("%s becomes %s", rows[i], out.ptr);
        assert_str(buf_view(&out), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_draws_stays),
        cmocka_unit_test(what_runs_goes),
        cmocka_unit_test(what_is_not_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
