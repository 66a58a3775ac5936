// Output files on their way: written below a work folder beside the output, through descriptors
// that nothing leads out of.
#include "gen/site/output/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/base/fs.h"
#include "gen/base/path.h"

// A disk that is full, or may not be written to, is one message about the output and not one about
// each file.
bool emit_failed(struct emit *e, str path)
{
    bool disk = errno == ENOSPC || errno == EDQUOT || errno == EROFS;
    diag_add(e->diag, D_IO_WRITE, DIAG_FILE(disk ? e->output : path), "%s", strerror(errno));
    return false;
}

bool emit_may_write(str output, bool into, struct diag *d)
{
    const char *why = "";
    int fd = open(output.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return true;
    bool may = fd >= 0 && (into || foreign_may_build(fd, &why));
    if (fd < 0)
        diag_add(d, D_IO_WRITE, DIAG_FILE(output), "%s", strerror(errno));
    else if (!may)
        diag_add(d, D_IO_WRITE, DIAG_FILE(output),
                 "%s; choose an empty folder, or say --into to build among them", why);
    if (fd >= 0)
        close(fd);
    return may;
}

// Opens the folder that the output lies in, or is to lie in; a link to the output is followed, so
// that it stays one.
static bool open_parent(struct emit *e)
{
    char real[4096];
    str path = e->output;
    if (realpath(path.ptr, real))
        path = str_c(real);
    e->name = arena_c(&e->arena, path_name(path));
    const char *folder = arena_c(&e->arena, path_parent(path));
    e->parent = fs_mkdirs(folder) == 0 ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (e->parent >= 0 && !*e->name)
        return errno = EBUSY, false;  // the root of the file system
    return e->parent >= 0;
}

static const char *sibling(struct emit *e, const char *kind)
{
    return arena_printf(&e->arena, ".%s.vramdoc-%s", e->name, kind).ptr;
}

// Takes away a work folder that a killed build left. One without its mark is the site of before,
// which was just exchanged.
static bool remove_left(struct emit *e, const char *name)
{
    int fd = openat(e->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    if (beneath_exists(fd, STR(EMIT_UNFINISHED))) {
        beneath_clear(fd, EMIT_UNFINISHED);
    } else {
        struct map ours = {0};
        int output = openat(e->parent, e->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        foreign_ours(fd, &e->arena, &ours);
        foreign_retire(fd, &ours, output);
        if (output >= 0)
            close(output);
    }
    close(fd);
    return unlinkat(e->parent, name, AT_REMOVEDIR) == 0;
}

bool emit_begin(struct emit *e, str output, bool fresh, struct diag *d)
{
    *e = (struct emit){
        .output = output, .fresh = fresh, .parent = -1, .root = -1, .arena = ARENA_INIT, .diag = d};
    if (!open_parent(e))
        return emit_failed(e, output);
    const char *new = sibling(e, "new"), *stage = sibling(e, "stage");
    e->work = fresh ? new : stage;
    if (!remove_left(e, new))
        return emit_failed(e, str_c(new));
    if (!remove_left(e, stage))
        return emit_failed(e, str_c(stage));
    if (mkdirat(e->parent, e->work, 0777) == 0)
        e->root = openat(e->parent, e->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int mark = e->root >= 0 ? beneath_create(e->root, STR(EMIT_UNFINISHED)) : -1;
    if (mark < 0)
        return emit_failed(e, str_c(e->work));
    close(mark);
    return true;
}

void emit_end(struct emit *e)
{
    for (size_t i = 0; i < e->open_count; i++)
        close(e->open[i]->fd);
    e->open_count = 0;
    if (e->root >= 0) {
        beneath_clear(e->root, EMIT_UNFINISHED);
        close(e->root);
        unlinkat(e->parent, e->work, AT_REMOVEDIR);
    }
    if (e->parent >= 0)
        close(e->parent);
    e->root = e->parent = -1;
    arena_free(&e->arena);
    e->folders = (struct map){0};
}

// Keeps a folder open, in the place of the one that was not used for longest.
static void keep_open(struct emit *e, struct emit_folder *f, int fd)
{
    size_t place = 0;
    f->fd = fd;
    f->used = ++e->clock;
    if (e->open_count < EMIT_FOLDERS) {
        e->open[e->open_count++] = f;
        return;
    }
    for (size_t i = 1; i < EMIT_FOLDERS; i++)
        if (e->open[i]->used < e->open[place]->used)
            place = i;
    close(e->open[place]->fd);
    e->open[place]->fd = -1;
    e->open[place] = f;
}

bool emit_folder_of(struct emit *e, str url)
{
    str folder = path_folder(url);
    bool is_new;
    if (!e->fresh || !folder.len)
        return true;
    void **slot = map_put(&e->folders, &e->arena, folder, &is_new);
    if (!is_new)
        return true;
    *slot = NULL;
    int fd = beneath_folder(e->root, folder, true);
    if (fd < 0)
        return emit_failed(e, folder);
    struct emit_folder *f = arena_new(&e->arena, struct emit_folder, 1);
    *slot = f;
    keep_open(e, f, fd);
    return true;
}

// The descriptor of a folder that was made; -1 when it cannot be opened, or was not. The pages of a
// document are in as many folders as there are languages, again and again.
static int open_folder(struct emit *e, str folder)
{
    struct emit_folder *f = map_get(&e->folders, folder);
    if (!f)
        return -1;
    if (f->fd < 0) {
        int fd = beneath_folder(e->root, folder, false);
        if (fd >= 0)
            keep_open(e, f, fd);
    }
    f->used = ++e->clock;
    return f->fd;
}

void emit_work_path(const struct emit *e, str url, buf *out)
{
    if (e->fresh)
        buf_str(out, url);
    else
        buf_printf(out, "%016llx%08x", (unsigned long long)str_hash(url),
                   (unsigned)url.len);  // staging is flat
}

static int create(struct emit *e, str url)
{
    str folder = e->fresh ? path_folder(url) : STR_NONE;
    int fd = folder.len ? open_folder(e, folder) : -1;
    if (fd >= 0)
        return beneath_create(fd, str_slice(url, folder.len + 1, url.len));
    buf path = BUF_INIT;
    emit_work_path(e, url, &path);
    int created = beneath_create(e->root, buf_view(&path));
    buf_free(&path);
    return created;
}

bool emit_write(struct emit *e, str url, str bytes)
{
    int fd = create(e, url);
    bool ok = fd >= 0 && fs_write_all(fd, bytes) == 0;
    if (fd >= 0 && close(fd) < 0)
        ok = false;
    return ok || emit_failed(e, url);
}

bool emit_copy(struct emit *e, str url, str from)
{
    buf bytes = BUF_INIT;
    bool ok = fs_read(from.ptr, 0, &bytes) == 0;
    if (!ok)
        diag_add(e->diag, D_IO_READ, DIAG_FILE(from), "%s", strerror(errno));
    ok = ok && emit_write(e, url, buf_view(&bytes));
    buf_free(&bytes);
    return ok;
}
