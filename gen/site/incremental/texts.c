// The file of texts: opened, appended to by several workers at once, mapped.
#include "gen/site/incremental/texts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "texts-"

static char *path_of(str dir, uint64_t name, buf *out)
{
    buf file = BUF_INIT;
    buf_printf(&file, PREFIX "%016llx", (unsigned long long)name);
    char *path = cache_path(dir, file.ptr, out);
    buf_free(&file);
    return path;
}

// A name that no earlier build's cache has.
static uint64_t new_name(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_new(const char *path)
{
    if (fs_remove_tree(path) < 0)  // whatever it is
        return -1;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

// What a build that failed has added is cut off.
static int open_old(const char *path, uint64_t size)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= size;
    if (good && ((uint64_t)st.st_size == size || ftruncate(fd, (off_t)size) == 0))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

bool texts_begin(struct texts *t, str dir, const struct cache *old)
{
    const struct cache_texts *known = old && old->texts.name ? &old->texts : NULL;
    uint64_t size = known ? known->stat.size : 0;
    buf path = BUF_INIT;
    *t = (struct texts){.name = known ? known->name : new_name()};
    path_of(dir, t->name, &path);
    t->fd = known ? open_old(path.ptr, size) : open_new(path.ptr);
    buf_free(&path);
    void *shared = t->fd < 0 ? MAP_FAILED
                             : mmap(NULL, sizeof *t->end, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        int error = errno;
        if (t->fd >= 0)
            close(t->fd);
        *t = (struct texts){0};
        errno = error;
        return false;
    }
    t->end = shared;
    atomic_init(t->end, size);
    return true;
}

bool texts_add(struct texts *t, str bytes, uint64_t *at)
{
    *at = atomic_fetch_add(t->end, bytes.len);
    for (size_t done = 0; done < bytes.len;) {
        ssize_t n = pwrite(t->fd, bytes.ptr + done, bytes.len - done, (off_t)(*at + done));
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool texts_map(struct texts *t)
{
    size_t size = (size_t)atomic_load(t->end);
    if (t->bytes.len)
        munmap((void *)(uintptr_t)t->bytes.ptr, t->bytes.len);
    t->bytes = STR_NONE;
    if (!size)
        return true;
    struct stat st;
    if (fstat(t->fd, &st) < 0 || (uint64_t)st.st_size < size) {
        errno = ENOSPC;  // a worker could not write: behind the file's end is a SIGBUS
        return false;
    }
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, t->fd, 0);
    if (bytes == MAP_FAILED)
        return false;
    t->bytes = (str){bytes, size};
    return true;
}

str texts_at(const struct texts *t, uint64_t at, uint64_t len)
{
    if (at > t->bytes.len || len > t->bytes.len - at)
        return STR_NONE;
    return str_slice(t->bytes, (size_t)at, (size_t)(at + len));
}

struct cache_texts texts_known(const struct texts *t)
{
    struct cache_texts known = {.name = t->name};
    struct stat st;
    if (t->name && fstat(t->fd, &st) == 0)
        known.stat = fs_stat_of(&st);
    return known;
}

void texts_end(struct texts *t)
{
    if (!t->name)
        return;
    if (t->bytes.len)
        munmap((void *)(uintptr_t)t->bytes.ptr, t->bytes.len);
    munmap((void *)t->end, sizeof *t->end);
    close(t->fd);
    *t = (struct texts){0};
}

void texts_sweep(str dir, const struct cache *c)
{
    DIR *d = opendir(dir.ptr);
    buf path = BUF_INIT, own = BUF_INIT;
    path_of(dir, c->texts.name, &own);
    for (const struct dirent *e; d && (e = readdir(d));) {
        bool ours = str_starts(str_c(e->d_name), STR(PREFIX));
        cache_path(dir, e->d_name, &path);
        if (ours && !(c->texts.name && str_eq(buf_view(&path), buf_view(&own))))
            fs_remove_tree(path.ptr);
    }
    if (d)
        closedir(d);
    buf_free(&path), buf_free(&own);
}
