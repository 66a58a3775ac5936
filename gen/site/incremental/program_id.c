// Which program this is, by what the file system says of it and of every library in it.
#include "gen/site/incremental/program_id.h"

#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/base/buf.h"

// The first object is the program, without a path; others without one are the kernel's.
static int take_object(struct dl_phdr_info *o, size_t size, void *ctx)
{
    buf *bytes = ctx;
    struct stat st = {0};
    (void)size;
    const char *path = bytes->len ? o->dlpi_name : "/proc/self/exe";
    if (strchr(path, '/'))
        (void)stat(path, &st);  // one that is gone counts as such
    uint64_t parts[3] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                         (uint64_t)st.st_mtim.tv_nsec};
    buf_put(bytes, parts, sizeof parts);
    return 0;
}

uint64_t program_id(void)
{
    buf bytes = BUF_INIT;
    dl_iterate_phdr(take_object, &bytes);
    uint64_t id = str_hash(buf_view(&bytes));
    buf_free(&bytes);
    return id;
}
