// How a command ends: its messages, what it prints, its exit code.
#include "gen/cmd.h"

#include <errno.h>
#include <string.h>

#include "gen/base/fs.h"

bool cmd_print(buf *out)
{
    bool ok = fs_print(buf_view(out));
    if (!ok) {
        buf say = BUF_INIT;
        buf_printf(&say, "vramdoc: standard output cannot be written: %s\n", strerror(errno));
        diag_say(buf_view(&say));
        buf_free(&say);
    }
    buf_free(out);
    return ok;
}

int cmd_end(struct diag *d, buf *out, bool ok)
{
    bool failed = !ok || diag_count(d, DIAG_ERROR) > 0, io = diag_has_io(d);
    diag_flush(d);
    diag_free(d);
    return !cmd_print(out) || io ? EXIT_IO : failed ? EXIT_CHECK : EXIT_OK;
}
