// Front matter from any bytes: it is read or refused with a message, and what it says lies inside
// the file.
#include "gen/text/front.h"
#include "tests/fuzz/gen_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    struct front f;
    bool ok = front_parse(text, STR("fuzz.md"), &a, d, &f);
    fuzz_check(ok || diag_count(d, DIAG_ERROR) > 0, "refused without a message\n");
    fuzz_check(!ok || f.body <= text.len, "the body begins behind the file\n");
    for (size_t i = 0; ok && i < f.pair_count; i++) {
        fuzz_check(f.pairs[i].offset < text.len, "a key outside of the file\n");
        // Copying reads each byte of it, where the sanitizer watches.
        arena_str(&a, f.pairs[i].value);
    }
    fuzz_messages(d);
    arena_free(&a);
    return 0;
}
