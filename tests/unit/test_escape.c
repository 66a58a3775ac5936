// Escaping by place: every byte that needs it, at any offset of the sixteen that are looked at
// together.
#include <jansson.h>

#include "gen/base/escape.h"
#include "gen/text/html_names.h"
#include "tests/unit/base_fixture.h"

typedef void escaper(buf *out, str s);

static void wants(escaper *escape, str s, const char *want)
{
    buf out = BUF_INIT;
    escape(&out, s);
    assert_str(buf_view(&out), want);
    buf_free(&out);
}

static void text_and_attributes(void **state)
{
    (void)state;
    wants(escape_text, STR("a < b && c > \"d\" 'e'"), "a &lt; b &amp;&amp; c &gt; \"d\" 'e'");
    wants(escape_quoted, STR("<\"'"), "&lt;&quot;'");
    wants(escape_attribute, STR("<\"'"), "&lt;&quot;&#39;");
    wants(escape_text, STR_NONE, "");
}

// len bytes, plain but for two at first and second.
static void wants_two(escaper *escape, char special, const char *entity, size_t len, size_t first,
                      size_t second)
{
    char plain[40];
    buf want = BUF_INIT;
    memset(plain, 'x', len);
    plain[first] = plain[second] = special;
    for (size_t i = 0; i < len; i++)
        buf_str(&want, str_c(plain[i] == 'x' ? "x" : entity));
    wants(escape, (str){plain, len}, want.ptr);
    buf_free(&want);
}

static void every_offset_is_looked_at(void **state)
{
    (void)state;
    for (size_t len = 1; len < 40; len++) {
        for (size_t at = 0; at < len; at++) {
            for (size_t second = at; second < len; second++) {
                wants_two(escape_text, '<', "&lt;", len, at, second);
                wants_two(escape_quoted, '"', "&quot;", len, at, second);
                wants_two(escape_attribute, '\'', "&#39;", len, at, second);
                wants_two(escape_json, '\\', "\\\\", len, at, second);
            }
        }
    }
}

static void escaping_and_unescaping_give_the_text_back(void **state)
{
    (void)state;
    buf all = BUF_INIT, escaped = BUF_INIT, back = BUF_INIT;
    for (unsigned c = 1; c < 0x180; c++)
        buf_utf8(&all, c);
    escape_attribute(&escaped, buf_view(&all));
    html_unescape(buf_view(&escaped), &back);
    assert_true(str_eq(buf_view(&all), buf_view(&back)));
    buf_free(&all);
    buf_free(&escaped);
    buf_free(&back);
}

static void addresses(void **state)
{
    (void)state;
    wants(escape_href, STR("a b.html?x=1&y='2'#\xc3\xa9"),
          "a%20b.html?x=1&amp;y=&#x27;2&#x27;#%C3%A9");
    wants(escape_href, STR("[\\]^`{|}\x01\x7f\"<>%20"),
          "%5B%5C%5D%5E%60%7B%7C%7D%01%7F%22%3C%3E%20");
    wants(escape_url, STR("javascript:alert(1)"), "#");
    wants(escape_url, STR("JaVaScRiPt:x"), "#");
    wants(escape_url, STR("java\tscript:x"), "java%09script:x");
    wants(escape_url, STR("data:image/svg+xml,x"), "#");
    wants(escape_url, STR("data:image/png;base64,AA"), "data:image/png;base64,AA");
    wants(escape_url, STR("file:///etc/passwd"), "#");
    wants(escape_url, STR("https://example.org/"), "https://example.org/");
    wants(escape_url, STR(""), "");
}

static void javascript(void **state)
{
    (void)state;
    wants(escape_js, STR("a'b\"c\\d\n</script>&\xe2\x80\xa8\xe2\x82\xac"),
          "a\\u0027b\\u0022c\\\\d\\n\\u003c/script\\u003e\\u0026\\u2028\xe2\x82\xac");
}

static void json_is_read_back_by_jansson(void **state)
{
    (void)state;
    buf text = BUF_INIT, json = BUF_INIT;
    for (unsigned c = 1; c < 0x90; c++)
        buf_utf8(&text, c);
    buf_lit(&text, "\xe2\x80\xa9</script>\xe2\x82\xac");
    buf_lit(&json, "[\"");
    escape_json(&json, buf_view(&text));
    buf_lit(&json, "\"]");
    assert_null(strstr(json.ptr, "</script"));
    json_t *array = json_loadb(json.ptr, json.len, 0, NULL);
    assert_non_null(array);
    assert_str(str_c(json_string_value(json_array_get(array, 0))), text.ptr);
    json_decref(array);
    buf_free(&text);
    buf_free(&json);
}

static void xml(void **state)
{
    (void)state;
    wants(escape_xml, STR("a\x01\x1f\t\n<&>\"'\xef\xbf\xbe\xef\xbf\xbf\xef\xbc\xa1\xef"),
          "a\t\n&lt;&amp;&gt;&quot;&#39;\xef\xbc\xa1\xef");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_attributes),
        cmocka_unit_test(every_offset_is_looked_at),
        cmocka_unit_test(escaping_and_unescaping_give_the_text_back),
        cmocka_unit_test(addresses),
        cmocka_unit_test(javascript),
        cmocka_unit_test(json_is_read_back_by_jansson),
        cmocka_unit_test(xml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
