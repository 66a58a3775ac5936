// Files below one folder: the kernel resolves a parent's path beneath it, or it is walked part by
// part without following links.
#include "gen/base/beneath.h"
#include "gen/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC,
    PART_MAX = sizeof((struct beneath *)0)->name - 1
};

static bool is_part(str part)
{
    bool dots = str_eq(part, STR(".")) || str_eq(part, STR(".."));
    return part.len && part.len <= PART_MAX && !dots && !memchr(part.ptr, 0, part.len);
}

bool beneath_is_path(str path)
{
    str part;
    if (!path.len || path.ptr[path.len - 1] == '/')
        return false;
    while (str_cut(&path, '/', &part))
        if (!is_part(part))
            return false;
    return true;
}

// One part of a path: opened, and made before that when it is missing.
static int open_part(int folder, str part, bool make)
{
    char name[PART_MAX + 1] = "";
    memcpy(name, part.ptr, part.len);
    int fd = openat(folder, name, FOLDER | O_NOFOLLOW);
    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    if (mkdirat(folder, name, 0777) < 0 && errno != EEXIST)
        return -1;
    return openat(folder, name, FOLDER | O_NOFOLLOW);
}

// Part by part: what kernels before 5.6 and sandboxes that refuse openat2 leave, and the way on
// which folders are made.
static int walk(int root, str path, bool make)
{
    str part;
    int at = root;
    while (str_cut(&path, '/', &part)) {
        int next = open_part(at, part, make), error = errno;
        if (at != root)
            close(at);
        errno = error;
        if (next < 0)
            return -1;
        at = next;
    }
    return at;
}

int beneath_folder(int root, str path, bool make)
{
    if (!path.len)
        return openat(root, ".", FOLDER);
    if (!beneath_is_path(path))
        return errno = EINVAL, -1;
    struct open_how how = {.flags = FOLDER, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    char text[4096];
    if (path.len >= sizeof text)
        return errno = ENAMETOOLONG, -1;
    memcpy(text, path.ptr, path.len);
    text[path.len] = 0;
    int fd = (int)syscall(SYS_openat2, root, text, &how, sizeof how);
    bool refused = errno == ENOSYS || errno == EPERM || errno == EAGAIN;
    if (fd >= 0 || !(refused || (errno == ENOENT && make)))
        return fd;
    return walk(root, path, make);
}

bool beneath_place(int root, str path, bool make, struct beneath *out)
{
    if (!beneath_is_path(path))
        return errno = EINVAL, false;
    str folder = path_folder(path);
    str name = path_name(path);
    memcpy(out->name, name.ptr, name.len);
    out->name[name.len] = 0;
    out->own = folder.len > 0;
    out->folder = out->own ? beneath_folder(root, folder, make) : root;
    return out->folder >= 0;
}

int beneath_leave(struct beneath *b, int rc)
{
    int error = errno;
    if (b->own)
        close(b->folder);
    errno = error;
    return rc;
}

int beneath_create(int root, str path)
{
    struct beneath b;
    if (!beneath_place(root, path, false, &b))
        return -1;
    return beneath_leave(
        &b, openat(b.folder, b.name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
}

bool beneath_exists(int root, str path)
{
    struct beneath b;
    struct stat st;
    if (!beneath_place(root, path, false, &b))
        return false;
    return beneath_leave(&b, fstatat(b.folder, b.name, &st, AT_SYMLINK_NOFOLLOW)) == 0;
}

int beneath_move(int from, str path, int to, str target)
{
    struct beneath a, b;
    if (!beneath_place(from, path, false, &a))
        return -1;
    if (!beneath_place(to, target, true, &b))
        return beneath_leave(&a, -1);
    return beneath_leave(&a, beneath_leave(&b, renameat(a.folder, a.name, b.folder, b.name)));
}

int beneath_remove(int root, str path)
{
    struct beneath b;
    if (!beneath_place(root, path, false, &b))
        return -1;
    int rc = beneath_leave(&b, unlinkat(b.folder, b.name, 0)), error = errno;
    for (size_t slash; rc == 0 && (slash = str_rfind(path, '/')) < path.len;) {
        path = str_slice(path, 0, slash);
        if (!beneath_place(root, path, false, &b) ||
            beneath_leave(&b, unlinkat(b.folder, b.name, AT_REMOVEDIR)) < 0)
            break;
    }
    errno = error;
    return rc;
}

static int clear_one(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0)
        return 0;
    int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        return -1;
    int rc = beneath_clear(below, NULL), error = errno;
    close(below);
    errno = error;
    return rc < 0 ? -1 : unlinkat(folder, name, AT_REMOVEDIR);
}

int beneath_clear(int folder, const char *last)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0, error = 0;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return fd >= 0 ? close(fd) : 0, -1;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
            (last && !strcmp(e->d_name, last)))
            continue;
        if (clear_one(dirfd(dir), e->d_name) < 0)
            rc = -1, error = errno;
    }
    closedir(dir);
    if (rc == 0 && last && unlinkat(folder, last, 0) < 0 && errno != ENOENT)
        return -1;
    if (rc < 0)
        errno = error;
    return rc;
}
