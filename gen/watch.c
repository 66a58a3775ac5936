// inotify watches on whole trees, kept complete while folders come and go.
#include "gen/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/buf.h"
#include "gen/base/path.h"

enum {
    EVENTS = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
             IN_ATTRIB
};

// One watched folder. Its number is inotify's watch descriptor.
struct place {
    char *path;  // NULL: no longer watched
    char *only;  // the one name that counts; NULL: all
};

struct watch {
    int fd;
    char *except;
    struct place *places;  // by watch descriptor
    size_t count;
};

struct watch *watch_new(void)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        buf_no_memory();
    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd >= 0)
        return w;
    int error = errno;
    free(w);
    errno = error;
    return NULL;
}

static void forget(struct place *p)
{
    free(p->path);
    free(p->only);
    *p = (struct place){0};
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->count; i++)
        forget(&w->places[i]);
    free(w->places);
    free(w->except);
    close(w->fd);
    free(w);
}

int watch_fd(const struct watch *w)
{
    return w->fd;
}

static char *copy(const char *s)
{
    char *p = s ? strdup(s) : NULL;
    if (s && !p)
        buf_no_memory();
    return p;
}

static int add_folder(struct watch *w, const char *path, const char *only)
{
    int number = inotify_add_watch(w->fd, path, EVENTS | IN_ONLYDIR);
    if (number < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    size_t at = (size_t)number;
    if (at >= w->count) {
        struct place *more = realloc(w->places, (at + 1) * sizeof *more);
        if (!more)
            buf_no_memory();
        memset(more + w->count, 0, (at + 1 - w->count) * sizeof *more);
        w->places = more;
        w->count = at + 1;
    }
    // A folder that is watched whole stays so when one of its files is asked for too.
    bool was_whole = w->places[at].path && !w->places[at].only;
    forget(&w->places[at]);
    w->places[at] = (struct place){copy(path), was_whole ? NULL : copy(only)};
    return 0;
}

// path and all folders below it. depth ends what a loop of symbolic links would not.
static int add_tree(struct watch *w, const char *path, int depth)
{
    char real[4096];
    if (w->except && realpath(path, real) && !strcmp(real, w->except))
        return 0;
    // The watch comes first: what is made while the folder is read gives an event.
    int rc = add_folder(w, path, NULL);
    DIR *dir = rc == 0 && depth < 40 ? opendir(path) : NULL;
    if (!dir)
        return rc;
    for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.' || e->d_type == DT_REG)
            continue;
        struct stat st;
        if (fstatat(dirfd(dir), e->d_name, &st, 0) < 0 || !S_ISDIR(st.st_mode))
            continue;
        buf below = BUF_INIT;
        buf_printf(&below, "%s/%s", path, e->d_name);
        rc = add_tree(w, below.ptr, depth + 1);
        buf_free(&below);
    }
    int error = errno;
    closedir(dir);
    errno = error;
    return rc;
}

int watch_add(struct watch *w, const char *path, const char *except)
{
    struct stat st;
    if (except && !w->except)
        w->except = realpath(except, NULL);
    if (stat(path, &st) < 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return add_tree(w, path, 0);
    str whole = str_c(path);
    buf folder = BUF_INIT;
    buf_str(&folder, path_parent(whole));
    int rc = add_folder(w, folder.ptr, path_name(whole).ptr);
    buf_free(&folder);
    return rc;
}

// What editors write beside a file: hidden names, backups, and Vim's probe for a writable folder.
static bool is_noise(const char *name)
{
    size_t n = strlen(name);
    return name[0] == '.' || (n && name[n - 1] == '~') || !strcmp(name, "4913") ||
           (n > 2 && name[0] == '#' && name[n - 1] == '#');
}

// Whether a build could see what the event tells; a new folder is watched from now on.
static bool counts(struct watch *w, const struct inotify_event *e)
{
    if (e->mask & IN_Q_OVERFLOW) {
        // Events were lost: every watched folder may have new ones below it.
        for (size_t i = 0; i < w->count; i++)
            if (w->places[i].path && !w->places[i].only) {
                char *path = copy(w->places[i].path);
                add_tree(w, path, 0);
                free(path);
            }
        return true;
    }
    if (e->wd < 0 || (size_t)e->wd >= w->count || !w->places[e->wd].path)
        return false;
    struct place *p = &w->places[e->wd];
    if (e->mask & IN_IGNORED) {
        forget(p);
        return false;
    }
    if (e->mask & IN_DELETE_SELF)
        return true;
    if (e->len == 0 || is_noise(e->name) || (p->only && strcmp(p->only, e->name)))
        return false;
    if ((e->mask & IN_ISDIR) && (e->mask & (IN_CREATE | IN_MOVED_TO)) && !p->only) {
        buf below = BUF_INIT;
        buf_printf(&below, "%s/%s", p->path, e->name);
        add_tree(w, below.ptr, 0);
        buf_free(&below);
        return true;
    }
    // A file that was only created is not written yet: its closing counts. A link is never closed.
    if (e->mask & IN_CREATE) {
        buf below = BUF_INIT;
        buf_printf(&below, "%s/%s", p->path, e->name);
        struct stat st;
        bool linked = lstat(below.ptr, &st) == 0 && (S_ISLNK(st.st_mode) || st.st_nlink > 1);
        buf_free(&below);
        return linked;
    }
    return true;
}

bool watch_read(struct watch *w)
{
    bool changed = false;
    for (;;) {
        _Alignas(struct inotify_event) char bytes[16384];
        ssize_t n = read(w->fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return changed;
        for (ssize_t at = 0; at < n;) {
            struct inotify_event head;
            memcpy(&head, bytes + at, sizeof head);
            const struct inotify_event *e = (const struct inotify_event *)(void *)(bytes + at);
            changed = counts(w, e) || changed;
            at += (ssize_t)(sizeof head + head.len);
        }
    }
}
