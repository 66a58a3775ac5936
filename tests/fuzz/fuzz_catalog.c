// Catalogs from any bytes, and messages formatted with arguments of any names and numbers.
#include "gen/text/catalog.h"
#include "tests/fuzz/gen_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tags[] = {"en", "ar", "hi", "ru"};
    if (size < 1)
        return 0;
    struct locale *l = locale_open(str_c(tags[data[0] % 4]));
    struct diag *d = diag_new((struct diag_options){0});
    str text = fuzz_text(data + 1, size - 1);
    struct catalog *base =
        catalog_parse(STR("{\"a\":\"A {n}\",\"b\":{\"one\":\"{n} x\",\"other\":\"{n} xs\"}}"),
                      STR("en.json"), l, NULL, d);
    struct catalog *c = catalog_parse(text, STR("fuzz.json"), l, base, d);
    struct catalog_argument arguments[] = {{STR("n"), STR("3"), (double)data[0] / 3, true},
                                           {STR("x"), STR("<b>"), 0, false}};
    static const char *const keys[] = {"a", "b", "n", ""};
    for (size_t i = 0; i < 4; i++) {
        buf out = BUF_INIT;
        bool differs;
        if (c)
            catalog_format(c, str_c(keys[i]), arguments, 2, &out, &differs);
        buf_free(&out);
    }
    fuzz_check(c || diag_count(d, DIAG_ERROR) > 0, "refused without a message\n");
    catalog_free(c);
    catalog_free(base);
    locale_free(l);
    fuzz_messages(d);
    return 0;
}
