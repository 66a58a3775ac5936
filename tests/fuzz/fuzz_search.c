// Any bytes as a page's body: its units, the index of them and the scripts of that are made, and
// words come out folded as UTF-8 when they went in so.
#include "gen/site/search/index.h"
#include "tests/fuzz/gen_fuzz.h"

static void put(void *ctx, str name, str bytes)
{
    bool is_text = *(bool *)ctx;
    fuzz_check(bytes.len > 0 && bytes.ptr[bytes.len - 1] == '\n', "a file without an end\n");
    fuzz_check(!is_text || utf8_invalid(bytes) == bytes.len, "a file that is no UTF-8\n");
    fuzz_check(name.len < 24, "a long name\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const str tags[] = {STR("en"), STR("de"), STR("ar"), STR("zh-Hans"), STR("xx")};
    str html = fuzz_text(data, size);
    bool is_text = utf8_invalid(html) == html.len;
    struct unit_maker m = {.text = BUF_INIT, .units = BUF_INIT};
    buf packed = BUF_INIT;
    units_pack(&m, STR("A title"), html, html, UNITS_WORDS, &packed);
    static struct index *x;  // of one language after the other, as a worker has it
    if (!x)
        x = index_new();
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        index_begin(x, tags[i]);
        index_page(x, STR("a.html"), STR("A title"), buf_view(&packed));
        index_page(x, STR("b.html"), html, buf_view(&packed));
        index_files(x, html, put, &is_text);
    }
    unit_maker_free(&m);
    buf_free(&packed);
    return 0;
}
