// PO files: any bytes are read or refused with a message; what was read and written is read again
// alike.
#include <stdlib.h>
#include <string.h>

#include "gen/text/po.h"

static void same(str a, str b)
{
    if (!str_eq(a, b))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct po po, again;
    buf out = BUF_INIT;
    bool ok = po_parse((str){(const char *)data, size}, STR("fuzz.po"), &a, d, &po);
    if (!ok && !diag_count(d, DIAG_ERROR))
        abort();
    if (ok) {
        po_format(&po, &out);
        if (!po_parse(buf_view(&out), STR("fuzz.po"), &a, d, &again) || again.count != po.count)
            abort();
        for (size_t i = 0; i < po.count; i++) {
            same(po.entries[i].id, again.entries[i].id);
            same(po.entries[i].text, again.entries[i].text);
            same(po.entries[i].previous, again.entries[i].previous);
        }
    }
    buf_free(&out);
    diag_free(d);
    arena_free(&a);
    return 0;
}
