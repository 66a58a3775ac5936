// The site's settings from any bytes.
#include "gen/site/source/settings.h"
#include "tests/fuzz/gen_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    struct settings s;
    settings_defaults(&s);
    bool ok = settings_parse(&s, fuzz_text(data, size), STR("site.yaml"), STR("."), &a, d);
    fuzz_check(ok || diag_count(d, DIAG_ERROR) > 0, "refused without a message\n");
    if (ok) {
        settings_title(&s, STR("en"));
        settings_description(&s, STR("hi"));
    }
    fuzz_messages(d);
    arena_free(&a);
    return 0;
}
