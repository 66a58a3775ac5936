// The HTML scan on any bytes: tokens go forward, lie inside, and unescaping any text gives UTF-8
// when it was.
#include "gen/text/html_names.h"
#include "gen/text/html_scan.h"
#include "tests/fuzz/gen_fuzz.h"

struct seen {
    str html;
    size_t last;
};

static void check_inside(const struct seen *s, str part)
{
    if (part.len == 0)
        return;
    fuzz_check(part.ptr >= s->html.ptr && part.ptr + part.len <= s->html.ptr + s->html.len,
               "a token outside\n");
}

static bool visit(void *ctx, const struct html_token *t)
{
    struct seen *s = ctx;
    fuzz_check(t->offset >= s->last && t->offset <= s->html.len, "tokens go back\n");
    s->last = t->offset;
    check_inside(s, t->name);
    check_inside(s, t->text);
    for (size_t i = 0; i < t->attribute_count; i++) {
        check_inside(s, t->attributes[i].name);
        check_inside(s, t->attributes[i].value);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen s = {fuzz_text(data, size), 0};
    html_scan(s.html, visit, &s);
    struct diag *d = diag_new((struct diag_options){0});
    html_check(s.html, STR("fuzz.html"), d);
    buf out = BUF_INIT;
    html_unescape(s.html, &out);
    if (utf8_invalid(s.html) == s.html.len)
        fuzz_check(utf8_invalid(buf_view(&out)) == out.len, "unescaped to what is no UTF-8\n");
    buf_free(&out);
    fuzz_messages(d);
    return 0;
}
