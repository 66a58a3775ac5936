// The text of a page by sections, as the search index gets it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen/text/page_text.h"
#include "gen/text/script.h"
#include "gen/text/stylesheet.h"

// The sections of html, one a line: anchor|heading|text with line feeds as /.
static void sections_are(const char *html, const char *wanted)
{
    arena a = ARENA_INIT;
    buf text = BUF_INIT, out = BUF_INIT;
    size_t count;
    const struct text_section *s = page_text_sections(str_c(html), &a, &text, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%.*s|%.*s|%.*s\n", STR_ARG(s[i].anchor), STR_ARG(s[i].heading),
                   STR_ARG(s[i].text));
    // A line feed that ends no section is one of its text.
    for (size_t i = 0; i + 1 < out.len; i++) {
        if (out.ptr[i] != '\n')
            continue;
        size_t bars = 0;
        for (size_t k = i + 1; k < out.len && out.ptr[k] != '\n'; k++)
            bars += out.ptr[k] == '|';
        if (bars < 2)
            out.ptr[i] = '/';
    }
    assert_string_equal(out.ptr, wanted);
    buf_free(&text), buf_free(&out);
    arena_free(&a);
}

static void test_sections(void **state)
{
    (void)state;
    sections_are("", "||\n");
    sections_are("<p>One  two\nthree &amp; four</p>\n<p>Five</p>", "||One two three & four/Five\n");
    sections_are("<p>Lead</p>\n<h2 id=\"a-b\">A <em>b</em><a class=\"anchor\" href=\"#a-b\" "
                 "aria-hidden=\"true\" tabindex=\"-1\">#</a></h2>\n"
                 "<p>Text</p><h3 id=\"c\">C</h3>",
                 "||Lead\na-b|A b|Text\nc|C|\n");
    // A heading without an anchor is no place to go to.
    sections_are("<h2>Plain</h2><p>x</p>", "||Plain/x\n");
    sections_are("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
                 "||a · b/1 · 2\n");
    sections_are("<pre><code>int <span class=\"k\">x</span>;\n  y();\n</code></pre>",
                 "||int x;/y();\n");
    sections_are("<p>a<svg><text>hidden</text></svg>b <br>c</p><ul><li>d</li><li>e</li></ul>",
                 "||ab/c/d/e\n");
}

static void test_what_is_damaged(void **state)
{
    (void)state;
    sections_are("<p>a &", "||a &\n");
    sections_are("<h2 id=\"x", "||\nx||\n");
    sections_are("a<svg><text>never closed", "||a\n");
    sections_are("<", "||\n");
    sections_are("</h2>text", "||text\n");
    sections_are("a\001\013b", "||a b\n");
    // What is no entity: white space behind it is folded all the same.
    sections_are("<p>A&T\n  b; c &unknown; d&#9999999999;</p>",
                 "||A&T b; c &unknown; d\xEF\xBF\xBD\n");
}

static void shortened_is(void (*shorten)(str, buf *), const char *text, const char *wanted)
{
    buf out = BUF_INIT;
    shorten(str_c(text), &out);
    assert_string_equal(out.ptr, wanted);
    buf_free(&out);
}

static void test_scripts(void **state)
{
    (void)state;
    shortened_is(script_shorten, "// What it is.\n  var a = 1;   \n\n\t// why\n  b(a); // stays\n",
                 "var a = 1;\nb(a); // stays\n");
    shortened_is(script_shorten, "/* of\n  // lines */\na();\n", "/* of\n// lines */\na();\n");
    shortened_is(script_shorten, "var a = `\n  // in a literal\n`;\n",
                 "var a = `\n  // in a literal\n`;\n");
    shortened_is(script_shorten, "var a = '\\\n  // in a literal';\n",
                 "var a = '\\\n  // in a literal';\n");
}

static void test_stylesheets(void **state)
{
    (void)state;
    shortened_is(stylesheet_shorten, "/* why */ a { b: c; }/* and\nwhy */\n", "a{b:c}");
    shortened_is(stylesheet_shorten, "a/**/b { }", "a/**/b{}");
    shortened_is(stylesheet_shorten, "a { b: \" /* c */ \"; }", "a{b:\" /* c */ \"}");
    shortened_is(stylesheet_shorten, "a { b: url(/*/c) }", "a{b:url(/*/c)}");
    shortened_is(stylesheet_shorten, ".a\\/* b */ { }", ".a\\/* b */{}");
    shortened_is(stylesheet_shorten, "a { } /* never closed", "a{}");
    shortened_is(stylesheet_shorten,
                 "a,\n  b > c :hover {\n  d: calc(1em + 2px)\n}\n\n@media (x: 1) and (y) {\n}",
                 "a,b > c :hover{d:calc(1em + 2px)}@media (x:1) and (y){}");
    shortened_is(stylesheet_shorten, "a { --b: ; --c: { } ; --d: }", "a{--b: ;--c:{};--d: }");
    shortened_is(stylesheet_shorten, ".a\\: b, .\\31  c, .d\\  e, .\\66\r\n f { g: '\\'  ;  }' ; }",
                 ".a\\: b,.\\31  c,.d\\  e,.\\66\r\n f{g:'\\'  ;  }' }");
    shortened_is(stylesheet_shorten, "a { b: url( c.png ) } \\", "a{b:url( c.png )}\\");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_what_is_damaged),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_stylesheets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
