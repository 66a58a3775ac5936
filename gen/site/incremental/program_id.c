// Which program this is: the build ids of all that is loaded, or what the file system says of the program without any.
#include "gen/site/incremental/program_id.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/base/buf.h"

struct ids { buf bytes; size_t count; bool own; };

// A note: a name and a description, each padded to four bytes.
static void take_notes(struct ids *x, const char *at, const char *end)
{
    while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) n;
        memcpy(&n, at, sizeof n);
        const char *name = at + sizeof n, *text = name + ((n.n_namesz + 3) & ~3u);
        if (n.n_namesz > (size_t)(end - name) || text > end || n.n_descsz > (size_t)(end - text)) return;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(name, "GNU", 4)) {
            buf_put(&x->bytes, text, n.n_descsz);
            x->own = true;
        }
        at = text + ((n.n_descsz + 3) & ~3u);
    }
}

// The first object is the program; one without a path is the kernel's.
static int take_object(struct dl_phdr_info *o, size_t size, void *ctx)
{
    struct ids *x = ctx;
    (void)size;
    bool had = x->own;
    if (x->count++ && !strchr(o->dlpi_name, '/')) return 0;
    x->own = false;
    for (size_t i = 0; i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->dlpi_phdr[i];
        const char *at = (const char *)(o->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_NOTE && p->p_align <= 4) take_notes(x, at, at + p->p_memsz);
    }
    if (!x->own) buf_str(&x->bytes, str_c(o->dlpi_name));
    x->own = x->count == 1 ? x->own : had;   // whether the program itself has one
    return 0;
}

uint64_t program_id(void)
{
    struct ids x = {.bytes = BUF_INIT};
    struct stat st;
    dl_iterate_phdr(take_object, &x);
    if (!x.own && stat("/proc/self/exe", &st) == 0) {
        uint64_t parts[4] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec, st.st_ino};
        buf_put(&x.bytes, parts, sizeof parts);
    }
    uint64_t digest = str_hash(buf_view(&x.bytes));
    buf_free(&x.bytes);
    return digest;
}
