// A walk below a folder, sorted in byte order, that follows symbolic links and notices when one leads back up.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/base/fs.h"

// The folders above the one that is read, to notice a loop.
struct above {
    const struct above *parent;
    dev_t device;
    ino_t inode;
};

struct walk {
    buf path;              // of the entry that is looked at
    int root;
    bool (*skip)(void *ctx, str path, bool is_dir);
    void *ctx;
    arena *arena;
    struct fs_list *out;
    size_t cap;
    str *bad;
    bool shared;           // subfolders are shared among threads already
};

// A name in a folder; a folder's own name ends with '/', which makes the order of names the order of whole paths.
struct name {
    str text;
    struct fs_stat st;
    dev_t device;
};

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int fail(struct walk *w, str path)
{
    int error = errno;
    if (w->bad) *w->bad = arena_str(w->arena, path);
    errno = error;
    return -1;
}

// A file that went away between two calls is no error; a link that leads nowhere is.
static int not_there(struct walk *w, int folder, const char *own)
{
    struct stat link;
    if (fstatat(folder, own, &link, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT) return 0;
    errno = errno ? errno : ENOENT;
    return fail(w, buf_view(&w->path));
}

// Reads one entry of the folder. 1 when it is kept, 0 when it is left out, -1 with errno.
static int read_name(struct walk *w, int folder, str path, const char *own, struct name *out)
{
    struct stat st;
    if (own[0] == '.') return 0;
    buf_clear(&w->path);
    buf_str(&w->path, path);
    buf_str(&w->path, str_c(own));
    if (fstatat(folder, own, &st, 0) < 0) return not_there(w, folder, own);
    bool is_dir = S_ISDIR(st.st_mode);
    if (!is_dir && !S_ISREG(st.st_mode)) return 0;
    if (w->skip && w->skip(w->ctx, buf_view(&w->path), is_dir)) return 0;
    if (is_dir) buf_char(&w->path, '/');
    out->text = arena_str(w->arena, buf_view(&w->path));
    out->device = st.st_dev;
    out->st = (struct fs_stat){(uint64_t)st.st_size, (uint64_t)st.st_ino,
                               (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec, is_dir};
    return 1;
}

struct names {
    struct name *items;
    size_t count, cap;
};

static int read_folder(struct walk *w, int fd, str path, struct names *names)
{
    DIR *dir = fdopendir(fd);
    if (!dir) return close(fd), fail(w, path);
    int rc = 0;
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(dir);
        if (!e) {
            if (errno) rc = fail(w, path);
            break;
        }
        struct name n;
        int kept = read_name(w, dirfd(dir), path, e->d_name, &n);
        if (kept < 0) {
            rc = -1;
            break;
        }
        if (!kept) continue;
        if (names->count == names->cap) {
            names->cap = names->cap ? names->cap * 2 : 16;
            struct name *more = realloc(names->items, names->cap * sizeof *more);
            if (!more) buf_no_memory();
            names->items = more;
        }
        names->items[names->count++] = n;
    }
    int error = errno;
    closedir(dir);
    errno = error;
    return rc;
}

static void keep_file(struct walk *w, const struct name *n)
{
    struct fs_list *l = w->out;
    l->items = arena_grow(w->arena, l->items, l->count, &w->cap, l->count + 1, sizeof *l->items);
    l->items[l->count++] = (struct fs_entry){n->text, n->st};
}

static int walk_folder(struct walk *w, int fd, str path, const struct above *above);

// One folder below: opened, looked for a loop, walked.
static int walk_below(struct walk *w, const struct name *n, const struct above *above)
{
    str shown = str_slice(n->text, 0, n->text.len - 1);
    struct above here = {above, n->device, (ino_t)n->st.inode};
    for (const struct above *u = above; u; u = u->parent)
        if (u->device == here.device && u->inode == here.inode) return errno = ELOOP, fail(w, shown);
    int below = openat(w->root, n->text.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return below < 0 ? fail(w, shown) : walk_folder(w, below, n->text, &here);
}

// Folders side by side: asking the kernel for each file's state is all the time of a walk, and it can answer two at once.
enum { SHARE_FROM = 4 };   // so many folders are worth a thread

struct share {
    struct walk *walk;
    const struct name **folders;
    struct walk *walks;        // [count]
    struct fs_list *lists;     // [count]
    arena *arenas;             // [count]
    str *bad;                  // [count]
    int *rc, *error;           // [count]
    size_t count;
    const struct above *above;
    atomic_size_t next;
};

static void *share_run(void *given)
{
    struct share *s = given;
    for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->count;) {
        struct walk *w = &s->walks[i];
        *w = (struct walk){.path = BUF_INIT, .root = s->walk->root, .skip = s->walk->skip, .ctx = s->walk->ctx,
                           .arena = &s->arenas[i], .out = &s->lists[i], .bad = &s->bad[i], .shared = true};
        s->rc[i] = walk_below(w, s->folders[i], s->above);
        s->error[i] = errno;
        buf_free(&w->path);
    }
    return NULL;
}

static int share_take(struct share *s, size_t i)
{
    struct walk *w = s->walk;
    for (size_t k = 0; k < s->lists[i].count; k++) {
        const struct fs_entry *e = &s->lists[i].items[k];
        keep_file(w, &(struct name){.text = arena_str(w->arena, e->path), .st = e->stat});
    }
    if (s->rc[i] < 0 && w->bad) *w->bad = arena_str(w->arena, s->bad[i]);
    errno = s->error[i];
    return s->rc[i];
}

static int walk_shared(struct walk *w, const struct names *names, size_t folders, const struct above *above)
{
    arena a = ARENA_INIT;
    pthread_t thread;
    int rc = 0;
    struct share s = {.walk = w, .above = above,
                      .folders = arena_new(&a, const struct name *, folders), .walks = arena_new(&a, struct walk, folders),
                      .lists = arena_new(&a, struct fs_list, folders), .arenas = arena_new(&a, arena, folders),
                      .bad = arena_new(&a, str, folders), .rc = arena_new(&a, int, folders), .error = arena_new(&a, int, folders)};
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].st.is_dir) s.folders[s.count++] = &names->items[i];
    bool helped = pthread_create(&thread, NULL, share_run, &s) == 0;
    share_run(&s);
    if (helped) pthread_join(thread, NULL);
    for (size_t i = 0, k = 0; rc == 0 && i < names->count; i++) {
        if (names->items[i].st.is_dir) rc = share_take(&s, k++);
        else keep_file(w, &names->items[i]);
    }
    int error = errno;
    for (size_t i = 0; i < s.count; i++) arena_free(&s.arenas[i]);
    arena_free(&a);
    errno = error;
    return rc;
}

static int walk_folder(struct walk *w, int fd, str path, const struct above *above)
{
    struct names names = {0};
    size_t folders = 0;
    int rc = read_folder(w, fd, path, &names);
    if (rc == 0 && names.count) qsort(names.items, names.count, sizeof *names.items, by_name);
    for (size_t i = 0; i < names.count; i++) folders += names.items[i].st.is_dir;
    if (rc == 0 && folders >= SHARE_FROM && !w->shared) {
        w->shared = true;
        rc = walk_shared(w, &names, folders, above);
    } else {
        for (size_t i = 0; rc == 0 && i < names.count; i++) {
            const struct name *n = &names.items[i];
            if (n->st.is_dir) rc = walk_below(w, n, above);
            else keep_file(w, n);
        }
    }
    int error = errno;
    free(names.items);
    errno = error;
    return rc;
}

int fs_walk(const char *root, bool (*skip)(void *ctx, str path, bool is_dir), void *ctx, arena *a,
            struct fs_list *out, str *bad)
{
    struct walk w = {.skip = skip, .ctx = ctx, .arena = a, .out = out, .bad = bad, .path = BUF_INIT};
    *out = (struct fs_list){0};
    struct stat st;
    w.root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w.root < 0 || fstat(w.root, &st) < 0) {
        fail(&w, STR(""));
        if (w.root >= 0) close(w.root);
        return -1;
    }
    struct above top = {NULL, st.st_dev, st.st_ino};
    int fd = openat(w.root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? fail(&w, STR("")) : walk_folder(&w, fd, STR(""), &top), error = errno;
    close(w.root);
    buf_free(&w.path);
    errno = error;
    return rc;
}

// Takes away what an interrupted fs_write left in one folder and those below.
static void remove_temps(int fd)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (str_starts(str_c(e->d_name), STR(FS_TEMP_PREFIX))) {
            unlinkat(fd, e->d_name, 0);
            continue;
        }
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)) continue;
        int below = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0) remove_temps(below);
    }
    closedir(dir);
}

void fs_remove_temps(const char *root)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) remove_temps(fd);
}
