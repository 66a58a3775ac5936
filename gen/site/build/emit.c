// Output files on their way: written below a folder of their own, then moved into place at once.
#include "gen/site/build/emit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"

enum { OPEN_FOLDERS = 400 };

static bool failed(struct emit *e, str path)
{
    diag_add(e->diag, D_IO_WRITE, DIAG_FILE(path), "%s", strerror(errno));
    return false;
}

static str sibling(str output, const char *kind, arena *a)
{
    size_t slash = str_rfind(output, '/');
    str folder = slash == output.len ? STR_NONE : str_slice(output, 0, slash + 1);
    str name = slash == output.len ? output : str_slice(output, slash + 1, output.len);
    return arena_printf(a, "%.*s.%.*s.vramdoc-%s", STR_ARG(folder), STR_ARG(name), kind);
}

// Dot files of the old site (.git, .gitignore) stay with the new one, which does not have them yet.
static bool move_dot_files(str from, str to)
{
    DIR *dir = opendir(from.ptr), *target = opendir(to.ptr);
    bool ok = true;
    for (struct dirent *entry; dir && target && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (name[0] != '.' || !strcmp(name, ".") || !strcmp(name, "..")) continue;
        int rc = renameat2(dirfd(dir), name, dirfd(target), name, RENAME_NOREPLACE);
        ok = (rc == 0 || errno == EEXIST) && ok;
    }
    if (dir) closedir(dir);
    if (target) closedir(target);
    return ok;
}

bool emit_begin(struct emit *e, str output, bool fresh, struct diag *d)
{
    *e = (struct emit){.output = output, .fresh = fresh, .root = -1, .arena = ARENA_INIT, .diag = d};
    str other = sibling(output, fresh ? "stage" : "new", &e->arena);
    e->work = sibling(output, fresh ? "new" : "stage", &e->arena);
    str old = sibling(output, "old", &e->arena), new = fresh ? e->work : other;
    struct stat st;
    if (stat(output.ptr, &st) < 0 && stat(old.ptr, &st) == 0) rename(old.ptr, output.ptr);
    move_dot_files(new, output);
    move_dot_files(old, output);
    fs_remove_tree(old.ptr);
    fs_remove_tree(other.ptr);
    if (fs_remove_tree(e->work.ptr) < 0 && errno != ENOENT) return failed(e, e->work);
    if (fs_mkdirs(e->work.ptr) < 0) return failed(e, e->work);
    e->root = open(e->work.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return e->root >= 0 || failed(e, e->work);
}

static bool make_folders(int root, str path, arena *a)
{
    char *text = arena_c(a, path);
    for (char *c = text; *c; c++) {
        if (*c != '/') continue;
        *c = 0;
        if (mkdirat(root, text, 0777) < 0 && errno != EEXIST) return false;
        *c = '/';
    }
    return mkdirat(root, text, 0777) == 0 || errno == EEXIST;
}

static str folder_of(str url)
{
    size_t slash = str_rfind(url, '/');
    return slash == url.len ? STR_NONE : str_slice(url, 0, slash);
}

bool emit_folder_of(struct emit *e, str url)
{
    str folder = folder_of(url);
    bool is_new;
    if (!e->fresh || !folder.len) return true;
    void **slot = map_put(&e->folders, &e->arena, folder, &is_new);
    if (!is_new) return true;
    if (!make_folders(e->root, folder, &e->arena)) return failed(e, folder);
    *slot = NULL;
    if (e->folders.count > OPEN_FOLDERS) return true;
    int *fd = arena_new(&e->arena, int, 1);
    *fd = openat(e->root, arena_c(&e->arena, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd >= 0) *slot = fd;
    return true;
}

// The name of a url in the staging folder, which is flat.
static void staged_name(str url, buf *out)
{
    buf_printf(out, "%016llx%08x", (unsigned long long)str_hash(url), (unsigned)url.len);
}

// Where the file of url is written: a folder and a name in it.
static int place_of(struct emit *e, str url, buf *name)
{
    if (!e->fresh) {
        staged_name(url, name);
        return e->root;
    }
    str folder = folder_of(url);
    int *fd = folder.len ? map_get(&e->folders, folder) : NULL;
    buf_str(name, fd ? str_slice(url, folder.len + 1, url.len) : url);
    return fd ? *fd : e->root;
}

static bool write_all(int fd, str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
    return true;
}

bool emit_write(struct emit *e, str url, str bytes)
{
    buf name = BUF_INIT;
    int folder = place_of(e, url, &name);
    int fd = openat(folder, name.ptr, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && write_all(fd, bytes);
    if (fd >= 0 && close(fd) < 0) ok = false;
    buf_free(&name);
    return ok || failed(e, url);
}

bool emit_copy(struct emit *e, str url, str from)
{
    buf bytes = BUF_INIT;
    bool ok = fs_read(from.ptr, 0, &bytes) == 0;
    if (!ok) diag_add(e->diag, D_IO_READ, DIAG_FILE(from), "%s", strerror(errno));
    ok = ok && emit_write(e, url, buf_view(&bytes));
    buf_free(&bytes);
    return ok;
}

// A site of ours has a manifest; dot files (.git, .gitignore, .nojekyll) are not ours and do not count.
bool emit_may_replace(str output)
{
    DIR *dir = opendir(output.ptr);
    if (!dir) return errno == ENOENT;
    bool empty = true, ours = faccessat(dirfd(dir), "manifest.json", R_OK, 0) == 0;
    for (struct dirent *entry; (entry = readdir(dir));) empty = empty && entry->d_name[0] == '.';
    closedir(dir);
    return empty || ours;
}

static bool commit_fresh(struct emit *e)
{
    struct stat st;
    str old = sibling(e->output, "old", &e->arena);
    bool exists = stat(e->output.ptr, &st) == 0;
    if (exists && renameat2(AT_FDCWD, e->work.ptr, AT_FDCWD, e->output.ptr, RENAME_EXCHANGE) == 0) {
        if (!move_dot_files(e->work, e->output)) return failed(e, e->output);
        fs_remove_tree(e->work.ptr);
        return true;
    }
    if (exists && rename(e->output.ptr, old.ptr) < 0) return failed(e, e->output);
    if (rename(e->work.ptr, e->output.ptr) < 0) return failed(e, e->output);
    if (exists && !move_dot_files(old, e->output)) return failed(e, e->output);
    fs_remove_tree(old.ptr);
    return true;
}

static bool move_one(struct emit *e, int output, str url)
{
    buf name = BUF_INIT;
    staged_name(url, &name);
    char *to = arena_c(&e->arena, url);
    bool ok = renameat(e->root, name.ptr, output, to) == 0;
    if (!ok && errno == ENOENT && folder_of(url).len)
        ok = make_folders(output, folder_of(url), &e->arena) && renameat(e->root, name.ptr, output, to) == 0;
    if (!ok && (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)) {
        // A folder stands where a file is to go: what it held is gone from the site.
        str full = arena_printf(&e->arena, "%.*s/%.*s", STR_ARG(e->output), STR_ARG(url));
        ok = fs_remove_tree(full.ptr) == 0 && renameat(e->root, name.ptr, output, to) == 0;
    }
    buf_free(&name);
    return ok || failed(e, url);
}

static void remove_one(struct emit *e, int output, str url)
{
    if (unlinkat(output, arena_c(&e->arena, url), 0) < 0) return;
    for (str folder = folder_of(url); folder.len; folder = folder_of(folder))
        if (unlinkat(output, arena_c(&e->arena, folder), AT_REMOVEDIR) < 0) return;
}

bool emit_commit(struct emit *e, const str *written, size_t written_count, const str *removed, size_t removed_count)
{
    bool ok = true;
    if (e->fresh) {
        ok = commit_fresh(e);
    } else {
        int output = open(e->output.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (output < 0) return failed(e, e->output);
        for (size_t i = 0; i < removed_count; i++) remove_one(e, output, removed[i]);
        for (size_t i = 0; i < written_count; i++) ok = move_one(e, output, written[i]) && ok;
        close(output);
        fs_remove_tree(e->work.ptr);
    }
    emit_abandon(e);
    return ok;
}

void emit_abandon(struct emit *e)
{
    for (size_t i = 0; i < e->folders.count; i++) {
        int *fd = e->folders.entries[i].value;
        if (fd) close(*fd);
    }
    if (e->root >= 0) close(e->root);
    if (e->root >= 0 && e->work.len) fs_remove_tree(e->work.ptr);
    e->root = -1;
    arena_free(&e->arena);
    e->folders = (struct map){0};
}
