// Files read and written whole: only what differs is written, and a reader never sees half a file.
#include "gen/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/base/path.h"

enum { FIRST_BYTE_MS = 2000 };  // longer than a process substitution takes to begin

int fs_read_fd(int fd, size_t limit, buf *out)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    if (limit && S_ISREG(st.st_mode) && (uint64_t)st.st_size > limit)
        return errno = EFBIG, -1;
    size_t before = out->len, step = st.st_size > 0 ? (size_t)st.st_size + 1 : 16384;
    for (;;) {
        buf_reserve(out, step);
        ssize_t n = read(fd, out->ptr + out->len, step);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        out->len += (size_t)n;
        out->ptr[out->len] = 0;
        if (n == 0)
            return 0;
        if (limit && out->len - before > limit)
            return errno = EFBIG, -1;
        // A regular file that gave less than was asked for is at its end.
        if (S_ISREG(st.st_mode) && (size_t)n < step)
            return 0;
        step = 16384;
    }
}

int fs_read(const char *path, size_t limit, buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = fs_read_fd(fd, limit, out), error = errno;
    close(fd);
    errno = error;
    return rc;
}

// Whether something is there to be read, or will be: a writer has opened it.
static bool has_writer(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct stat st;
    if (fstat(fd, &st) < 0 || S_ISREG(st.st_mode))
        return true;
    return poll(&p, 1, FIRST_BYTE_MS) > 0 && p.revents & POLLIN;
}

int fs_read_now(const char *path, size_t limit, buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    int rc = has_writer(fd) ? 0 : (errno = ENODATA, -1);
    if (rc == 0)
        rc = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (rc == 0)
        rc = fs_read_fd(fd, limit, out);
    int error = errno;
    close(fd);
    errno = error;
    return rc;
}

struct fs_stat fs_stat_of(const struct stat *st)
{
    return (struct fs_stat){
        .size = (uint64_t)st->st_size,
        .inode = (uint64_t)st->st_ino,
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
        .is_dir = S_ISDIR(st->st_mode),
    };
}

bool fs_same(const struct fs_stat *a, const struct fs_stat *b)
{
    return a->size == b->size && a->inode == b->inode && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

int fs_stat(const char *path, struct fs_stat *out)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -1;
    *out = fs_stat_of(&st);
    return 0;
}

int fs_write_all(int fd, str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? (errno = EIO, -1) : -1;
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
    return 0;
}

bool fs_print(str bytes)
{
    return fwrite(bytes.ptr, 1, bytes.len, stdout) == bytes.len && fflush(stdout) == 0;
}

// Creates path with these bytes; what could not be written whole is removed again.
static int create(const char *path, str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    int rc = fs_write_all(fd, bytes), error = errno;
    if (close(fd) < 0 && rc == 0)
        rc = -1, error = errno;
    if (rc < 0)
        unlink(path);
    errno = error;
    return rc;
}

static bool holds(const char *path, str bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    bool same =
        fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes.len;
    char block[16384];
    size_t at = 0;
    while (same && at < bytes.len) {
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        same =
            n > 0 && (size_t)n <= bytes.len - at && memcmp(block, bytes.ptr + at, (size_t)n) == 0;
        if (same)
            at += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return same;
}

int fs_write(const char *path, str bytes)
{
    if (holds(path, bytes))
        return 0;
    // A hidden name beside the target, so that rename stays within one file system; FS_TEMP_PREFIX
    // tells what it is.
    buf temp = BUF_INIT;
    buf_str(&temp, path_folder_slash(str_c(path)));
    buf_printf(&temp, FS_TEMP_PREFIX "%ld", (long)getpid());
    int rc = create(temp.ptr, bytes), error = errno;
    if (rc == 0 && rename(temp.ptr, path) < 0) {
        rc = -1, error = errno;
        unlink(temp.ptr);
    }
    buf_free(&temp);
    errno = error;
    return rc < 0 ? -1 : 1;
}

int fs_mkdirs(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno == EEXIST) {
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            return 0;
        return errno = ENOTDIR, -1;
    }
    if (errno != ENOENT)
        return -1;
    str whole = str_c(path);
    while (whole.len && whole.ptr[whole.len - 1] == '/')
        whole.len--;
    str folder = path_folder(whole);
    if (!folder.len)
        return errno = ENOENT, -1;
    buf parent = BUF_INIT;
    buf_str(&parent, folder);
    int rc = fs_mkdirs(parent.ptr), error = errno;
    buf_free(&parent);
    errno = error;
    if (rc < 0)
        return -1;
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -1;
}

int fs_remove_tree(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return 0;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 ? -1 : beneath_clear(fd, NULL), error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return rc < 0 ? -1 : rmdir(path);
}

bool fs_normalize(str path, buf *out)
{
    size_t start = out->len;
    str part;
    while (str_cut(&path, '/', &part)) {
        if (part.len == 0 || str_eq(part, STR(".")))
            continue;
        if (!str_eq(part, STR(".."))) {
            if (out->len > start)
                buf_char(out, '/');
            buf_str(out, part);
            continue;
        }
        if (out->len == start)
            return false;
        size_t slash = str_rfind(str_slice(buf_view(out), start, out->len), '/');
        out->len = slash + start == out->len ? start : start + slash;
        out->ptr[out->len] = 0;
    }
    return true;
}
