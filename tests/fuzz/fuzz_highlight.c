// Any bytes in any of the languages: what comes out is well-formed, and without its tags it is the
// code again.
#include <stdlib.h>
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/highlight.h"
#include "tests/fuzz/gen_fuzz.h"

static const str languages[] = {STR("python"), STR("lua"),  STR("c"),    STR("bash"),
                                STR("json"),   STR("yaml"), STR("diff"), STR("console")};

// Takes the spans out; the rest must be the escaped code.
static void without_spans(str html, buf *out)
{
    unsigned open = 0;
    while (html.len) {
        size_t n = str_find(html, '<');
        buf_str(out, str_slice(html, 0, n));
        html = str_slice(html, n, html.len);
        if (!html.len)
            break;
        bool end = str_starts(html, STR("</span>"));
        if ((end && !open) || (!end && (open || !str_starts(html, STR("<span class=\"")))))
            abort();
        open = !end;
        html = str_slice(html, str_find(html, '>') + 1, html.len);
    }
    if (open)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    char *copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data + 1, size - 1);
    str code = {copy, size - 1};
    buf html = BUF_INIT, plain = BUF_INIT, wanted = BUF_INIT;
    highlight(languages[data[0] % 8], code, &html);
    without_spans(buf_view(&html), &plain);
    escape_text(&wanted, code);
    if (!str_eq(buf_view(&plain), buf_view(&wanted)))
        abort();
    buf_free(&html);
    buf_free(&plain);
    buf_free(&wanted);
    free(copy);
    return 0;
}
