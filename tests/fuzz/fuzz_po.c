// PO files: any bytes are read or refused with a message; what was read and written is read again
// alike.
#include "gen/text/po.h"
#include "tests/fuzz/gen_fuzz.h"

static void same(str a, str b)
{
    fuzz_check(str_eq(a, b), "an entry is not read again alike\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct po po, again;
    buf out = BUF_INIT;
    bool ok = po_parse(fuzz_text(data, size), STR("fuzz.po"), &a, d, &po);
    fuzz_check(ok || diag_count(d, DIAG_ERROR), "refused without a message\n");
    if (ok) {
        po_format(&po, &out);
        ok = po_parse(buf_view(&out), STR("fuzz.po"), &a, d, &again);
        fuzz_check(ok && again.count == po.count, "what was written is not read again\n");
        for (size_t i = 0; i < po.count; i++) {
            same(po.entries[i].id, again.entries[i].id);
            same(po.entries[i].text, again.entries[i].text);
            same(po.entries[i].previous, again.entries[i].previous);
        }
    }
    fuzz_messages(d);
    buf_free(&out);
    arena_free(&a);
    return 0;
}
